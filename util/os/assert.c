// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The end of a process that has found a rule of its own broken. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/assert.h"

_Thread_local const char *ur_assert_about;

/* The last folder and the file: where the tree stood is nobody's business. */
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
	/* No lock of stdio: another thread may have died with it. */
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		abort();
	abort();
}
