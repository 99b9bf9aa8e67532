/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reports mistakes: on standard error, in the file of --json (--check-json of uroce run), and by
 * SIGTRAP with --stop. A mistake that is muted, or was reported before at the same place, is only
 * counted.
 *
 * All functions are called with the table's lock held (object.h).
 */
#ifndef UR_CHECK_REPORT_H
#define UR_CHECK_REPORT_H

#include <stdio.h>

#include "check/object.h"

enum ur_check_id {
#define UR_CHECK_ID(symbol, id, title, spec, advice) UR_CHECK_##symbol,
#include "check/ids.def"
#undef UR_CHECK_ID
	UR_CHECK_IDS
};

/* Reports mistake @id of @object (NULL: none), made by the library function
 * that the program is in. The format is a sentence without a full stop. */
void ur_report(enum ur_check_id id, const struct ur_watched *object,
	       const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Does the same for a mistake found later, or at the end. @place: where it was
 * made. */
void ur_report_at(enum ur_check_id id, const struct ur_watched *object,
		  const struct ur_stack *place, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns how many mistakes were reported in this process. */
unsigned int ur_report_count(void);

/* Prints a line of the summary, in the form of reports. */
void ur_report_line(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Prints such a line about what is not checked. With the table's lock or
 * without. */
void ur_report_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Reads the environment, before all other functions. */
void ur_report_init(void);

#endif
