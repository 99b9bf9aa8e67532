/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every option of uroced's command line and every setting of its file, once. A
 * new one is a row here and a field of struct ur_daemon_options. Private to
 * options.c; one thread.
 */
#ifndef UR_DEVICE_OPTIONS_TABLE_H
#define UR_DEVICE_OPTIONS_TABLE_H

#include <stddef.h>
#include "device/options.h"

/* The kinds of values, and the types of the fields that take them. */
enum ur_daemon_option_kind {
	UR_DAEMON_OPTION_SWITCH, /* int: 1; in a file "yes" or "no" */
	UR_DAEMON_OPTION_TEXT,	 /* char[] of size bytes */
	UR_DAEMON_OPTION_NUMBER, /* int, from min to max */
	UR_DAEMON_OPTION_WORD,	 /* int or enum: the place in words, from 1 */
	UR_DAEMON_OPTION_OTHER,	 /* take() */
};

/* The places where an option can stand. */
#define UR_DAEMON_OPTION_ON_LINE 1u
#define UR_DAEMON_OPTION_IN_FILE 2u
#define UR_DAEMON_OPTION_BOTH	 3u

struct ur_daemon_option {
	const char *name;
	const char *value; /* as the help calls it; NULL: a switch's */
	const char *help;  /* '\n' between lines; NULL: not in the help */
	unsigned int where;
	enum ur_daemon_option_kind kind;
	size_t field, size; /* in struct ur_daemon_options */
	int min, max;
	const char *words; /* "yes|no" */
	/* Returns 0 or -EINVAL. */
	int (*take)(struct ur_daemon_options *o, const char *value);
	bool bare;   /* the value may lack */
	bool absent; /* the build leaves out what this switch turns on */
	char letter; /* after "-"; 0: none */
};

extern const struct ur_daemon_option ur_daemon_option_table[];
extern const size_t ur_daemon_option_rows;

/* Gives the value to the option's field. value NULL: none was given, which a
 * switch and a bare option take. Returns 0, -EINVAL or -EOPNOTSUPP (the build
 * has no such part). */
int ur_daemon_option_set(struct ur_daemon_options *o,
			 const struct ur_daemon_option *k, const char *value);
/* Returns whether the command line has given it already: then the file's does
 * not count. */
bool ur_daemon_option_is_set(const struct ur_daemon_options *o,
			     const struct ur_daemon_option *k);
/* Writes on stderr, to the end of the line, why the value was refused. */
void ur_daemon_option_explain(const struct ur_daemon_option *k,
			      const char *value);
/* Prints the help on stdout. */
void ur_daemon_option_usage(void);

#endif
