// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The findings of `uroce doctor`: one line of text each, or one object of
 * JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/status.h"

void ur_doctor_print(struct doctor *doctor, const char *check,
		     const char *state, const char *todo, const char *format,
		     ...)
{
	struct json_object *o;
	char what[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	doctor->problems += strcmp(state, "problem") == 0;
	if (!doctor->options->json) {
		printf("%-8s %-10s %s\n", state, check, what);
		if (todo)
			printf("%-19s -> %s\n", "", todo);
		return;
	}
	o = json_object_new_object();
	ur_json_put_text(o, "check", check);
	ur_json_put_text(o, "state", state);
	ur_json_put_text(o, "what", what);
	if (todo)
		ur_json_put_text(o, "todo", todo);
	json_object_array_add(doctor->findings, o);
}
