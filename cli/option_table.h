/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every option of uroce(1), once: the parser, the help, the completion and the
 * test of the manual page read this table. A new option is a row here and a
 * field of struct ur_options.
 */
#ifndef UR_CLI_OPTION_TABLE_H
#define UR_CLI_OPTION_TABLE_H

#include "cli/command.h"

/* The kinds of values, and the types of the fields that take them. */
enum ur_option_kind {
	UR_OPTION_SWITCH,  /* bool; takes no value */
	UR_OPTION_TEXT,	   /* const char * */
	UR_OPTION_NUMBER,  /* int, decimal, from min to max */
	UR_OPTION_SECONDS, /* double, from min to max */
	UR_OPTION_QPN,	   /* int64_t, 24 bits, decimal or 0x */
	UR_OPTION_WORD,	   /* const char *, one of words; with a fallback the
			    * value may lack */
	UR_OPTION_NETDEV,  /* one more of netdev[] */
	UR_OPTION_NAME,	   /* the name[] of the netdev before */
	UR_OPTION_NODE,	   /* the node[] of the same */
	UR_OPTION_FAULT,   /* one more of fault[] */
};

struct ur_option {
	const char *name;  /* after "--" */
	char letter;	   /* after "-"; 0: none */
	const char *value; /* what the help calls it; NULL: takes none */
	enum ur_option_kind kind;
	size_t field; /* offsetof(struct ur_options, ...) */
	double min, max;
	const char *words;    /* WORD: "warn|stop" */
	const char *fallback; /* WORD: without a value */
	const char *needs;    /* the option that must be there too, or NULL */
	const char *commands; /* that take it, with spaces; NULL: all */
	const char *help;     /* one line */
};

extern const struct ur_option ur_option_table[];
extern const int ur_options_count;

/* Returns whether the command takes the option. */
bool ur_option_is_of(const struct ur_option *option, const char *command);

#endif
