/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The arguments of every subcommand, and the functions that print its messages.
 *
 * Exit codes of all but `run`: 0 success; 1 failure, with the reason and the remedy on
 * stderr; 2 invalid command line. `run` returns the program's status; 125 if it could not
 * be given the device, 126 or 127 if the program could not be started, 128+N if signal N
 * ended it.
 */
#ifndef UR_CLI_COMMAND_H
#define UR_CLI_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define UR_EXIT_FAILED	   1
#define UR_EXIT_USAGE	   2
#define UR_EXIT_NO_DEVICE  125
#define UR_EXIT_CANNOT_RUN 126
#define UR_EXIT_NOT_FOUND  127

#define UR_NETDEVS_MAX 16
#define UR_FAULTS_MAX  16

#define UR_INTERVAL_MIN 0.05
#define UR_INTERVAL_MAX 3600

struct ur_options {
	char run_dir[PATH_MAX];
	const char *netdev[UR_NETDEVS_MAX];
	/* --name: of the device on the preceding netdev, or [0] without a netdev; or NULL */
	const char *name[UR_NETDEVS_MAX];
	const char *node[UR_NETDEVS_MAX]; /* --node: likewise; or NULL */
	const char *fault[UR_FAULTS_MAX]; /* run: rules, then NULL */
	int netdevs;
	int devices;		 /* --devices; 0: not given */
	int racks, mtu;		 /* --racks, --mtu; 0: not given */
	const char *link, *loss; /* --link, --loss; NULL: not given */
	bool only;
	const char *like;	   /* --like: a card; NULL: not given */
	bool mount;		   /* --mount */
	bool quiet;		   /* --quiet */
	bool service;		   /* --service */
	bool host;		   /* --host */
	const char *root;	   /* --root; NULL: not given */
	bool help;		   /* --help: other options are ignored */
	const char *run_dir_asked; /* --run-dir; NULL: not given */
	bool json;
	bool fabric;	   /* --fabric */
	bool slow;	   /* --slow */
	int count;	   /* --count; 0: not given */
	double interval;   /* --interval, seconds; 0: not given */
	int rc_port;	   /* --rc; 0: not given */
	int listen_port;   /* --listen; 0: not given */
	const char *peer;  /* --peer; NULL: not given */
	const char *check; /* --check: "warn" or "stop"; NULL: not given */
	const char *check_json, *check_mute; /* files, or NULL */
	const char *adverse; /* --adverse: SEED[:LIST]; NULL: not given */
	const char *engine;  /* --engine: "process" or "apart"; or NULL */
	int64_t qpn;	     /* --qpn; -1: not given */
	char **rest;	     /* NULL terminated: what follows the options */
	int rest_count;
};

/* One row of the table in main.c. */
struct ur_command {
	const char *group; /* heading of the list that begins here, or NULL */
	const char *name;
	/* for the usage line, without options; "|" separates forms */
	const char *args;
	const char *help; /* one line */
	int (*run)(struct ur_options *options);
};

/* The action for the first word after a command's name; a NULL word ends a
 * table. */
struct ur_verb {
	const char *word;
	int (*run)(struct ur_options *options);
};

/* Returns the row for the first word of options->rest and removes that word, or NULL if
 * there is none. */
const struct ur_verb *ur_verb_take(struct ur_options *options,
				   const struct ur_verb *verbs);

/* The table of main.c, ended by a NULL name. */
extern const struct ur_command ur_commands[];

/* Prints the list of commands, in groups. */
void ur_help(FILE *to);
/* Prints the usage of a command, with its options, on stdout. */
void ur_help_command(const struct ur_command *command);
/* Prints on stdout, for completion, the names of all commands, or, with one,
 * the words that may follow it, options first. */
void ur_help_words(const struct ur_command *command);

int ur_cmd_env(struct ur_options *options);
int ur_cmd_enable(struct ur_options *options);
int ur_cmd_disable(struct ur_options *options);
int ur_cmd_run(struct ur_options *options);
int ur_cmd_fabric(struct ur_options *options);
int ur_cmd_link(struct ur_options *options);
int ur_cmd_fault(struct ur_options *options);
/* Adds a fault rule to the device of options, to which sock is connected. Returns 0, or
 * -errno after a message on stderr. */
int ur_fault_add(int sock, const struct ur_options *options, const char *rule);
int ur_cmd_stat(struct ur_options *options);
int ur_cmd_cm(struct ur_options *options);
int ur_cmd_res(struct ur_options *options);
int ur_cmd_top(struct ur_options *options);
int ur_cmd_metrics(struct ur_options *options);
int ur_cmd_doctor(struct ur_options *options);
int ur_cmd_trace(struct ur_options *options);
int ur_cmd_dump(struct ur_options *options);
int ur_cmd_cdi(struct ur_options *options);
int ur_cmd_record(struct ur_options *options);
int ur_cmd_report(struct ur_options *options);
int ur_cmd_ping(struct ur_options *options);
int ur_cmd_why(struct ur_options *options);

/* Returns the index in argv of the command, the first word that is neither an option nor an
 * option's value, or argc if there is none. */
int ur_options_before_command(int argc, char **argv);

/*
 * Fills *options from argv, which begins with the command. Options may stand anywhere
 * before "--"; those of run only before the program. Returns 0, or UR_EXIT_USAGE after a
 * line on stderr: an option is unknown, belongs to another command, or has an invalid
 * value.
 */
int ur_options_parse(struct ur_options *options, const char *command, int argc,
		     char **argv);

/* Sets the option of that name as if it had been typed with the value, for words that stand
 * for an option. Returns 0, or UR_EXIT_USAGE after a line on stderr. */
int ur_option_take(struct ur_options *options, const char *command,
		   const char *name, const char *value);
/* Reports on stderr that a program could not be started. err: the errno. Returns the exit
 * status for that. */
int ur_cannot_run(const char *program, int err);
/* Reports a superfluous word on stderr. Returns UR_EXIT_USAGE. */
int ur_too_many(const char *command, const char *word);

/* Prints "uroce: ", the text and a newline on stderr. */
__attribute__((format(printf, 1, 2))) void ur_complain(const char *format, ...);

#endif
