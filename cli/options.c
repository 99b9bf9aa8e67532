// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Parses the options of a command line by the table. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_table.h"
#include "util/os/rundir.h"

/* The value that getopt_long() returns for the first row of the table. */
#define FIRST_ROW 256
#define ROWS_MAX  64

void ur_complain(const char *format, ...)
{
	va_list ap;

	fputs("uroce: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int ur_cannot_run(const char *program, int err)
{
	ur_complain("cannot run %s: %s", program, strerror(err));
	return err == ENOENT ? UR_EXIT_NOT_FOUND : UR_EXIT_CANNOT_RUN;
}

/* c: what getopt_long() returned for word, or for one of the letters in it. */
static int complain(const char *command, int c, const char *word)
{
	/* For a letter behind other letters, word may be the preceding one. */
	bool is_long = !strncmp(word, "--", 2) && word[2] &&
		       (c == ':' || !optopt || strchr(word, '='));
	char letter[] = {'-', (char)optopt, '\0'};
	const char *name = is_long || !optopt ? word : letter;
	const char *what = c == ':'	       ? "needs a value"
			   : is_long && optopt ? "takes no value"
					       : "is unknown";

	/* Prints only the name: the value may be secret. */
	ur_complain("%s: option %.*s %s; see 'uroce help %s'", command,
		    (int)strcspn(name, "="), name, what, command);
	return UR_EXIT_USAGE;
}

static int refuse_option(const char *command, const struct ur_option *o,
			 const char *value, const char *why)
{
	ur_complain("%s: --%s %s: %s", command, o->name, value, why);
	return UR_EXIT_USAGE;
}

static int take_number(void *field, const struct ur_option *o,
		       const char *command, const char *value)
{
	char *end, why[80];
	double v;

	errno = 0;
	v = o->kind == UR_OPTION_SECONDS ? strtod(value, &end)
					 : (double)strtoll(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno ||
	    !(v >= o->min && v <= o->max)) {
		snprintf(why, sizeof(why), "not a number%s from %g to %.0f",
			 o->kind == UR_OPTION_SECONDS ? " of seconds" : "",
			 o->min, o->max);
		return refuse_option(command, o, value, why);
	}
	if (o->kind == UR_OPTION_SECONDS)
		*(double *)field = v;
	else
		*(int *)field = (int)v;
	return 0;
}

static int take_qpn(void *field, const struct ur_option *o, const char *command,
		    const char *value)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(value, &end, 0);
	if (!isdigit((unsigned char)*value) || *end || errno || v > 0xffffff)
		return refuse_option(command, o, value,
				     "not a queue pair number, 0 to 0xffffff");
	*(int64_t *)field = (int64_t)v;
	return 0;
}

static int take_word(struct ur_options *options, const struct ur_option *o,
		     const char *command, const char *value)
{
	const char **field = (const char **)((char *)options + o->field);
	const char *at = o->words;
	size_t len;

	if (!value) {
		*field = o->fallback;
		return 0;
	}
	for (; *at; at += len + (at[len] == '|')) {
		len = strcspn(at, "|");
		if (strlen(value) == len && !strncmp(at, value, len)) {
			*field = value;
			return 0;
		}
	}
	return refuse_option(command, o, value, o->words);
}

static int add_netdev(struct ur_options *options, const struct ur_option *o,
		      const char *command, const char *value)
{
	if (options->netdevs == UR_NETDEVS_MAX)
		return refuse_option(command, o, value, "too many of them");
	options->netdev[options->netdevs++] = value;
	return 0;
}

/* Sets an option of the device named last. of: the values by device. */
static int set_of_last(const struct ur_options *options,
		       const struct ur_option *o, const char *command,
		       const char *value, const char **of, const char *taken)
{
	int last = options->netdevs ? options->netdevs - 1 : 0;

	if (of[last])
		return refuse_option(command, o, value, taken);
	of[last] = value;
	return 0;
}

static int add_fault(struct ur_options *options, const struct ur_option *o,
		     const char *command, const char *value)
{
	for (int i = 0; i < UR_FAULTS_MAX; i++)
		if (!options->fault[i]) {
			options->fault[i] = value;
			return 0;
		}
	return refuse_option(command, o, value, "too many of them");
}

static int take_option(struct ur_options *options, const struct ur_option *o,
		       const char *command, const char *value)
{
	void *field = (char *)options + o->field;

	switch (o->kind) {
	case UR_OPTION_SWITCH:
		*(bool *)field = true;
		return 0;
	case UR_OPTION_TEXT:
		*(const char **)field = value;
		return 0;
	case UR_OPTION_NUMBER:
	case UR_OPTION_SECONDS:
		return take_number(field, o, command, value);
	case UR_OPTION_QPN:
		return take_qpn(field, o, command, value);
	case UR_OPTION_WORD:
		return take_word(options, o, command, value);
	case UR_OPTION_NETDEV:
		return add_netdev(options, o, command, value);
	case UR_OPTION_NAME:
		return set_of_last(options, o, command, value, options->name,
				   "the device has a name");
	case UR_OPTION_NODE:
		return set_of_last(options, o, command, value, options->node,
				   "the device has a node");
	case UR_OPTION_FAULT:
		return add_fault(options, o, command, value);
	}
	return UR_EXIT_USAGE;
}

int ur_option_take(struct ur_options *options, const char *command,
		   const char *name, const char *value)
{
	for (int i = 0; i < ur_options_count; i++)
		if (!strcmp(ur_option_table[i].name, name))
			return take_option(options, &ur_option_table[i],
					   command, value);
	return UR_EXIT_USAGE;
}

int ur_too_many(const char *command, const char *word)
{
	ur_complain("%s: '%s' is too many; see 'uroce help %s'", command, word,
		    command);
	return UR_EXIT_USAGE;
}

/* Makes the tables for getopt_long(). shorts: room for two bytes per row, two at its
 * beginning and the NUL. */
static void make_forms(struct option *longs, char *shorts)
{
	for (int i = 0; i < ur_options_count; i++) {
		const struct ur_option *o = &ur_option_table[i];

		longs[i] = (struct option){
			.name = o->name,
			.has_arg = !o->value	 ? no_argument
				   : o->fallback ? optional_argument
						 : required_argument,
			.val = FIRST_ROW + i};
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		if (o->value)
			*shorts++ = ':';
	}
	*shorts = '\0';
	longs[ur_options_count] = (struct option){0};
}

/* Returns NULL for an unknown option. */
static const struct ur_option *option_of(int c)
{
	if (c >= FIRST_ROW)
		return &ur_option_table[c - FIRST_ROW];
	for (int i = 0; i < ur_options_count; i++)
		if (c && c == ur_option_table[i].letter)
			return &ur_option_table[i];
	return NULL;
}

static int refuse_command(const struct ur_option *o, const char *command)
{
	ur_complain("%s: it takes no --%s, which is of '%s'", command, o->name,
		    o->commands);
	return UR_EXIT_USAGE;
}

static int check_needs(const char *command, const bool *seen)
{
	for (int i = 0; i < ur_options_count; i++) {
		const char *needs = ur_option_table[i].needs;

		for (int k = 0; seen[i] && needs && k < ur_options_count; k++)
			if (!strcmp(ur_option_table[k].name, needs) &&
			    !seen[k]) {
				ur_complain("%s: --%s needs --%s", command,
					    ur_option_table[i].name, needs);
				return UR_EXIT_USAGE;
			}
	}
	return 0;
}

/* Returns whether the command is about an existing device: it uses the device that programs
 * would find (preload/rundir_choice.h), the host's if the user has none. */
static bool looks_for_device(const struct ur_options *options,
			     const char *command)
{
	const char *asked = getenv("UROCE_RUN_DIR");

	return !options->run_dir_asked && !(asked && *asked) &&
	       strcmp(command, "run") != 0 && strcmp(command, "fabric") != 0 &&
	       !ur_rundir_serves(options->run_dir) &&
	       ur_rundir_serves(UR_RUNDIR_HOST);
}

/* Returns whether a program's words follow this verb of fabric. */
static bool has_program(const char *command, const char *verb)
{
	return !strcmp(command, "fabric") &&
	       (!strcmp(verb, "run") || !strcmp(verb, "trace"));
}

/* Returns whether the words behind the verb have ssh's syntax. */
static bool is_ssh(const char *command, const char *verb)
{
	return !strcmp(command, "fabric") && !strcmp(verb, "ssh");
}

/* Puts the verb, in place of the command, in front of the options before it. */
static char **put_verb_first(char **argv, int verb)
{
	char *word = argv[verb];

	memmove(argv + 2, argv + 1, (size_t)(verb - 1) * sizeof(*argv));
	argv[1] = word;
	return argv + 1;
}

int ur_options_parse(struct ur_options *options, const char *command, int argc,
		     char **argv)
{
	struct option longs[ROWS_MAX + 1];
	char forms[2 * ROWS_MAX + 3] = "+:";
	bool seen[ROWS_MAX] = {false}, program = !strcmp(command, "run");
	int c, err, first = ur_options_before_command(argc, argv);
	char *verb = NULL;

	memset(options, 0, sizeof(*options));
	options->qpn = -1;
	make_forms(longs, forms + 2);
	if (first < argc && is_ssh(command, argv[first])) {
		program = true;
	} else if (first < argc && has_program(command, argv[first])) {
		argv = put_verb_first(argv, first);
		argc--;
		verb = *argv;
		program = true;
	}
	opterr = 0;
	optind = 0; /* begin anew */
	/* The options after a program's name are the program's. */
	while ((c = getopt_long(argc, argv, program ? forms : forms + 1, longs,
				NULL)) != -1) {
		const struct ur_option *o = option_of(c);

		if (!o)
			return complain(command, c, argv[optind - 1]);
		if (!ur_option_is_of(o, command))
			return refuse_command(o, command);
		err = take_option(options, o, command, optarg);
		if (err || options->help)
			return err;
		seen[o - ur_option_table] = true;
	}
	err = check_needs(command, seen);
	if (err)
		return err;
	err = ur_rundir(options->run_dir_asked, options->run_dir,
			sizeof(options->run_dir));
	if (err) {
		ur_complain("the run directory's name: %s", strerror(-err));
		return UR_EXIT_USAGE;
	}
	if (looks_for_device(options, command))
		strcpy(options->run_dir, UR_RUNDIR_HOST);
	/* The verb is the first of the rest. */
	if (verb)
		argv[--optind] = verb;
	options->rest = argv + optind;
	options->rest_count = argc - optind;
	return 0;
}

int ur_options_before_command(int argc, char **argv)
{
	struct option longs[ROWS_MAX + 1];
	char forms[2 * ROWS_MAX + 3] = "+:";

	make_forms(longs, forms + 2);
	opterr = 0;
	optind = 0; /* begin anew */
	while (getopt_long(argc, argv, forms, longs, NULL) != -1)
		;
	return optind;
}

const struct ur_verb *ur_verb_take(struct ur_options *options,
				   const struct ur_verb *verbs)
{
	for (; options->rest_count && verbs->word; verbs++) {
		if (strcmp(options->rest[0], verbs->word))
			continue;
		options->rest++;
		options->rest_count--;
		return verbs;
	}
	return NULL;
}
