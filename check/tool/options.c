// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The options of rdma-check: their table and its readers. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "check/tool/option_table.h"

/* A row: its name, its letter (0: none), its field, its value's name (NULL: it has none), its help. */
#define OPTION(name, letter, field, value, help)                            \
	{                                                                   \
		name, letter, value, offsetof(struct check_options, field), \
			help                                                \
	}

/* clang-format off */
const struct check_option check_option_table[] = {
	OPTION("stop", 's', stop, NULL, "stop in the call that is wrong, by SIGTRAP: for a debugger"),
	OPTION("json", 'j', json, "FILE", "into FILE, a line of JSON for each mistake"),
	OPTION("mute", 'm', mute, "FILE", "leave out the mistakes that FILE names"),
	OPTION("list", 'l', list, NULL, "print the mistakes that it knows"),
	OPTION("help", 'h', help, NULL, "print this"),
	OPTION("version", 'V', version, NULL, "print the version"),
	OPTION("words", 0, words, NULL, NULL),
};
/* clang-format on */

const int check_options_count =
	sizeof(check_option_table) / sizeof(*check_option_table);

#define ROWS	  (sizeof(check_option_table) / sizeof(*check_option_table))
#define FIRST_ROW 256

/* c: getopt_long()'s result for word, or for a letter in it. Prints only the
 * name, since a value may be confidential. */
static int complain(int c, const char *word)
{
	bool is_long = !strncmp(word, "--", 2) && word[2] &&
		       (!optopt || optopt >= FIRST_ROW || c == ':');
	char letter[] = {'-', (char)optopt, '\0'};
	const char *name = is_long ? word : letter;

	fprintf(stderr, "rdma-check: option %.*s %s; see 'rdma-check --help'\n",
		(int)strcspn(name, "="), name,
		c == ':'	    ? "needs a value"
		: is_long && optopt ? "takes no value"
				    : "is unknown");
	return -EINVAL;
}

static const struct check_option *option_of(int c)
{
	for (size_t i = 0; i < ROWS; i++)
		if (c == FIRST_ROW + (int)i ||
		    (c && c == check_option_table[i].letter))
			return &check_option_table[i];
	return NULL;
}

int check_options_parse(struct check_options *options, int argc, char **argv)
{
	/* Options behind the program's name are the program's. */
	char forms[2 * ROWS + 3] = "+:", *at = forms + 2;
	struct option longs[ROWS + 1] = {0};
	int c;

	memset(options, 0, sizeof(*options));
	for (size_t i = 0; i < ROWS; i++) {
		const struct check_option *o = &check_option_table[i];

		longs[i] = (struct option){
			.name = o->name,
			.has_arg = o->value ? required_argument : no_argument,
			.val = FIRST_ROW + (int)i};
		if (o->letter)
			*at++ = o->letter;
		if (o->letter && o->value)
			*at++ = ':';
	}
	*at = '\0';
	opterr = 0;
	while ((c = getopt_long(argc, argv, forms, longs, NULL)) != -1) {
		const struct check_option *o = option_of(c);
		char *field = (char *)options;

		if (!o)
			return complain(c, argv[optind - 1]);
		if (o->value)
			*(const char **)(field + o->field) = optarg;
		else
			*(bool *)(field + o->field) = true;
	}
	options->program = argv + optind;
	return 0;
}

void check_help(void)
{
	puts("usage: rdma-check [OPTION]... [--] PROGRAM [ARGUMENT]...\n\n"
	     "Runs an RDMA program, on any device, and names the mistakes that "
	     "it makes with\nlibibverbs and librdmacm.\n");
	for (size_t i = 0; i < ROWS; i++) {
		const struct check_option *o = &check_option_table[i];
		char text[64];

		if (!o->help)
			continue;
		snprintf(text, sizeof(text), "-%c, --%s%s%s", o->letter,
			 o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		printf("  %-22s %s\n", text, o->help);
	}
	puts("\nManual: rdma-check(1).");
}

void check_words(void)
{
	for (size_t i = 0; i < ROWS; i++)
		if (check_option_table[i].help)
			printf("--%s\n", check_option_table[i].name);
}
