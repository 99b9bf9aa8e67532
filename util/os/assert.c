// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ends the process that has found one of its invariants broken. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/assert.h"

_Thread_local const char *ur_assert_about;

/* Returns the last folder and the file: the place of the source tree is
 * nobody's business. */
static const char *tail_of(const char *file)
{
	const char *p = file + strlen(file);

	for (int slashes = 0; p > file; p--)
		if (p[-1] == '/' && ++slashes == 2)
			break;
	return p;
}

void ur_assert_failed(const char *file, int line, const char *rule)
{
	const char *about = ur_assert_about;
	char text[512];
	int n;

	n = snprintf(text, sizeof(text), "%s: %s%s%s:%d: broken rule: %s\n",
		     program_invocation_short_name, about ? about : "",
		     about ? ": " : "", tail_of(file), line, rule);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	/* Without stdio: its lock may be held for ever. */
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		abort();
	abort();
}
