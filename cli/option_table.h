/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of all options of uroce(1), read by the parser, the help, the completion and
 * the test of the manual page. A new option is a row here and a field of struct ur_options.
 */
#ifndef UR_CLI_OPTION_TABLE_H
#define UR_CLI_OPTION_TABLE_H

#include "cli/command.h"

/* The kinds of values, with the types of their fields. */
enum ur_option_kind {
	UR_OPTION_SWITCH,  /* bool; takes no value */
	UR_OPTION_TEXT,	   /* const char * */
	UR_OPTION_NUMBER,  /* int, decimal, from min to max */
	UR_OPTION_SECONDS, /* double, from min to max */
	UR_OPTION_QPN,	   /* int64_t, 24 bits, decimal or 0x */
	/* const char *, one of words; optional with a fallback */
	UR_OPTION_WORD,
	UR_OPTION_NETDEV, /* appended to netdev[] */
	UR_OPTION_NAME,	  /* name[] of the preceding netdev */
	UR_OPTION_NODE,	  /* node[] of the preceding netdev */
	UR_OPTION_FAULT,  /* appended to fault[] */
};

struct ur_option {
	const char *name;  /* after "--" */
	char letter;	   /* after "-"; 0: none */
	const char *value; /* its name in the help; NULL: no value */
	enum ur_option_kind kind;
	size_t field; /* offsetof(struct ur_options, ...) */
	double min, max;
	const char *words;    /* WORD: "warn|stop" */
	const char *fallback; /* WORD: used if no value is given */
	const char *needs;    /* option that must be given too, or NULL */
	/* commands that take it, separated by spaces; NULL: all */
	const char *commands;
	const char *help; /* one line */
};

extern const struct ur_option ur_option_table[];
extern const int ur_options_count;

/* Returns whether the command takes the option. */
bool ur_option_is_of(const struct ur_option *option, const char *command);

#endif
