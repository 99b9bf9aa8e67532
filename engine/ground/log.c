// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One line on stderr for each call; service managers add time and name. */
#include <stdarg.h>
#include <stdio.h>
#include "engine/ground/log.h"

int ur_log_verbose;

void ur_log(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "uroced: %s\n", line);
}

void ur_debug(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!ur_log_verbose)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "uroced: %s\n", line);
}
