/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Runtimes of compilers' sanitizers in LD_PRELOAD. They must come first:
 * AddressSanitizer's aborts the program otherwise.
 */
#ifndef UR_UTIL_OS_SANITIZER_H
#define UR_UTIL_OS_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns whether the library name of len bytes is that of a runtime of gcc or
 * clang. */
static inline bool ur_is_sanitizer(const char *name, size_t len)
{
	static const char *const begins[] = {"libasan.so",   "libtsan.so",
					     "libubsan.so",  "liblsan.so",
					     "libhwasan.so", "libclang_rt."};

	for (size_t i = len; i; i--) {
		if (name[i - 1] != '/')
			continue;
		name += i;
		len -= i;
		break;
	}
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		size_t n = strlen(begins[i]);

		if (len >= n && !strncmp(name, begins[i], n))
			return true;
	}
	return false;
}

/* Returns how many bytes of a value of LD_PRELOAD, with separators, must stay
 * in front of our library: those up to the last runtime. */
static inline size_t ur_after_sanitizers(const char *list)
{
	size_t at = 0, after = 0;

	while (list[at]) {
		size_t len = strcspn(list + at, " :");
		bool found = ur_is_sanitizer(list + at, len);

		at += len;
		at += strspn(list + at, " :");
		if (found)
			after = at;
	}
	return after;
}

#endif
