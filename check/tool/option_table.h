/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every option of rdma-check(1), once: the parser, the help, the completion and the
 * test of the manual page read this table. A new option is a row here and a
 * field of struct check_options.
 */
#ifndef UR_CHECK_TOOL_OPTION_TABLE_H
#define UR_CHECK_TOOL_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct check_options {
	bool stop, list, words, help, version;
	const char *json, *mute; /* files, or NULL */
	char **program;		 /* NULL ended: what follows the options */
};

struct check_option {
	const char *name;  /* after "--" */
	char letter;	   /* after "-"; 0: none */
	const char *value; /* what the help calls it: the field is a const char
			    * *; NULL: it takes none, and the field is a bool */
	size_t field;	   /* offsetof(struct check_options, ...) */
	const char *help;  /* one line; NULL: not in the help */
};

extern const struct check_option check_option_table[];
extern const int check_options_count;

/* Fills *options from argv, up to the first word that is no option. Returns 0, or
 * -EINVAL after a line on stderr. */
int check_options_parse(struct check_options *options, int argc, char **argv);

/* Prints the usage on stdout. */
void check_help(void);

/* Prints the options on stdout, a line for each, for completion. */
void check_words(void);

#endif
