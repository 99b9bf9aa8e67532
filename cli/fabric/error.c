// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Builds the text of an error. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/fabric/error.h"

int ur_fabric_fail(struct ur_fabric_error *error, int err, const char *format,
		   ...)
{
	size_t len;
	va_list ap;

	if (*error->text)
		return err ? err : -EINVAL;
	va_start(ap, format);
	vsnprintf(error->text, sizeof(error->text), format, ap);
	va_end(ap);
	len = strlen(error->text);
	/* The text of a refusal is complete. */
	if (err && err != -EOPNOTSUPP)
		snprintf(error->text + len, sizeof(error->text) - len, ": %s",
			 strerror(-err));
	return err ? err : -EINVAL;
}
