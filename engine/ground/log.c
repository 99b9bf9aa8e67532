// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One line on stderr for each call; service managers add time and name. */
#include <stdarg.h>
#include <stdio.h>
#include "engine/ground/log.h"
#include "util/text.h"

int ur_log_verbose;

__attribute__((format(printf, 1, 0))) static void say(const char *fmt,
						      va_list ap)
{
	char line[512];

	vsnprintf(line, sizeof(line), fmt, ap);
	/* The line may contain text of clients, and goes to terminals. */
	ur_text_clean(line, false);
	fprintf(stderr, "uroced: %s\n", line);
}

void ur_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void ur_debug(const char *fmt, ...)
{
	va_list ap;

	if (!ur_log_verbose)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}
