/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of all options of uroced's command line and file. A new option is a row here
 * and a field of struct ur_daemon_options. Private to options.c; one thread.
 */
#ifndef UR_DEVICE_OPTIONS_TABLE_H
#define UR_DEVICE_OPTIONS_TABLE_H

#include <stddef.h>
#include "device/options.h"

/* The kinds of values, with the types of their fields. */
enum ur_daemon_option_kind {
	UR_DAEMON_OPTION_SWITCH, /* int: 1; in a file "yes" or "no" */
	UR_DAEMON_OPTION_TEXT,	 /* char[] of size bytes */
	UR_DAEMON_OPTION_NUMBER, /* int, from min to max */
	UR_DAEMON_OPTION_WORD,	 /* int or enum: index in words, from 1 */
	UR_DAEMON_OPTION_OTHER,	 /* take() */
};

/* The places where an option can stand. */
#define UR_DAEMON_OPTION_ON_LINE 1u
#define UR_DAEMON_OPTION_IN_FILE 2u
#define UR_DAEMON_OPTION_BOTH	 3u

struct ur_daemon_option {
	const char *name;
	const char *value; /* its name in the help; NULL: a switch */
	const char *help;  /* '\n' between lines; NULL: not in the help */
	unsigned int where;
	enum ur_daemon_option_kind kind;
	size_t field, size; /* in struct ur_daemon_options */
	int min, max;
	const char *words; /* "yes|no" */
	/* Returns 0 or -EINVAL. */
	int (*take)(struct ur_daemon_options *o, const char *value);
	bool bare;   /* the value is optional */
	bool absent; /* this build lacks the switch's feature */
	char letter; /* after "-"; 0: none */
};

extern const struct ur_daemon_option ur_daemon_option_table[];
extern const size_t ur_daemon_option_rows;

/* Stores the value in the option's field. value NULL (none given) is valid for a switch and
 * a bare option. Returns 0, -EINVAL or -EOPNOTSUPP (not in this build). */
int ur_daemon_option_set(struct ur_daemon_options *o,
			 const struct ur_daemon_option *k, const char *value);
/* Returns whether the command line has set the option, which overrides the file. */
bool ur_daemon_option_is_set(const struct ur_daemon_options *o,
			     const struct ur_daemon_option *k);
/* Ends a line on stderr with the reason why the value was refused. */
void ur_daemon_option_explain(const struct ur_daemon_option *k,
			      const char *value);
/* Prints the help on stdout. */
void ur_daemon_option_usage(void);

#endif
