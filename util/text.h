/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sanitizes untrusted text, such as names of processes, for a terminal, a log,
 * JSON or a page; and trims a line of a file.
 */
#ifndef UR_UTIL_TEXT_H
#define UR_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns the bytes of the UTF-8 character at s, a NUL-terminated string; 0 for
 * a control character (ECMA-48's C0, DEL, C1) or invalid UTF-8 (RFC 3629). */
static inline size_t ur_text_character(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (n == 1)
		return p[0] >= 0x20 && p[0] != 0x7f;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms; surrogates; beyond U+10FFFF; C1. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f) ||
	    (p[0] == 0xc2 && p[1] < 0xa0))
		return 0;
	return n;
}

/* Replaces each byte that may not be shown by "?". lines: newlines and tabs may
 * be shown. */
static inline void ur_text_clean(char *s, bool lines)
{
	while (*s) {
		size_t n = ur_text_character(s);

		if (!n && !(lines && (*s == '\n' || *s == '\t')))
			*s = '?';
		s += n ? n : 1;
	}
}

/* Cuts white space from both ends of s. Returns its new beginning. */
static inline char *ur_text_trim(char *s)
{
	static const char white[] = " \t\n\v\f\r";

	s += strspn(s, white);
	for (size_t n = strlen(s); n && strchr(white, s[n - 1]); n--)
		s[n - 1] = '\0';
	return s;
}

#endif
