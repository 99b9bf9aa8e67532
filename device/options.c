// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Command line and configuration file of uroced, read by one table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/options_table.h"
#include "engine/engine.h"
#include "util/text.h"

/* ---- the file ---- */

/* line: "KEY = VALUE"; modified. */
static int read_line(struct ur_daemon_options *o, char *line, int n)
{
	char *eq = strchr(line, '='), *key, *value;

	if (eq)
		*eq = '\0';
	key = ur_text_trim(line);
	value = eq ? ur_text_trim(eq + 1) : NULL;
	for (size_t i = 0; value && i < ur_daemon_option_rows; i++) {
		const struct ur_daemon_option *k = &ur_daemon_option_table[i];

		if (!(k->where & UR_DAEMON_OPTION_IN_FILE) ||
		    strcmp(k->name, key))
			continue;
		if (ur_daemon_option_is_set(o, k) ||
		    !ur_daemon_option_set(o, k, value))
			return 0;
		fprintf(stderr, "uroced: %s:%d: %s ", o->config, n, key);
		ur_daemon_option_explain(k, value);
		return -EINVAL;
	}
	fprintf(stderr, "uroced: %s:%d: %s '%s'\n", o->config, n,
		value ? "no such setting:" : "not NAME = VALUE:", key);
	return -EINVAL;
}

static int read_config(struct ur_daemon_options *o)
{
	FILE *f = fopen(o->config, "re");
	char *line = NULL, *text;
	size_t room = 0;
	int err = 0;

	if (!f) {
		err = -errno;
		fprintf(stderr, "uroced: %s: %s\n", o->config, strerror(errno));
		return err;
	}
	for (int n = 1; !err && getline(&line, &room, f) >= 0; n++) {
		text = ur_text_trim(line);
		if (*text && *text != '#')
			err = read_line(o, text, n);
	}
	free(line);
	fclose(f);
	return err;
}

int ur_daemon_options_reread(struct ur_daemon_options *o)
{
	return o->config ? read_config(o) : 0;
}

/* ---- the command line ---- */

/* The value that getopt_long() returns for the first row of the table. */
#define FIRST_ROW 256
#define ROWS_MAX  64

static void make_forms(struct option *longs)
{
	size_t n = 0;

	for (size_t i = 0; i < ur_daemon_option_rows; i++)
		if (ur_daemon_option_table[i].where & UR_DAEMON_OPTION_ON_LINE)
			longs[n++] = (struct option){
				.name = ur_daemon_option_table[i].name,
				.has_arg = ur_daemon_option_table[i].bare
						   ? optional_argument
					   : ur_daemon_option_table[i].value
						   ? required_argument
						   : no_argument,
				.val = FIRST_ROW + (int)i};
	longs[n] = (struct option){0};
}

/* Returns NULL for an unknown option. */
static const struct ur_daemon_option *row_of(int c)
{
	if (c >= FIRST_ROW)
		return &ur_daemon_option_table[c - FIRST_ROW];
	for (size_t i = 0; i < ur_daemon_option_rows; i++)
		if (c && c == ur_daemon_option_table[i].letter)
			return &ur_daemon_option_table[i];
	return NULL;
}

static int take_option(struct ur_daemon_options *o, int c, const char *word)
{
	const struct ur_daemon_option *k = row_of(c);

	if (!k) {
		fprintf(stderr, "uroced: option %.*s %s; see 'uroced --help'\n",
			(int)strcspn(word, "="), word,
			c == ':'		      ? "needs a value"
			: optopt && strchr(word, '=') ? "takes no value"
						      : "is unknown");
		return -EINVAL;
	}
	if (!ur_daemon_option_set(o, k, optarg))
		return 0;
	fprintf(stderr, "uroced: --%s ", k->name);
	ur_daemon_option_explain(k, optarg);
	return -EINVAL;
}

int ur_daemon_options_parse(int argc, char **argv, struct ur_daemon_options *o)
{
	struct option longs[ROWS_MAX];
	int c, err = 0;

	memset(o, 0, sizeof(*o));
	o->ready_fd = -1;
	o->node[0] = -1;
	make_forms(longs);
	opterr = 0;
	optind = 0; /* restarts getopt_long() */
	while (!err && !o->help &&
	       (c = getopt_long(argc, argv, ":vh", longs, NULL)) != -1)
		err = take_option(o, c, argv[optind - 1]);
	if (err)
		return err;
	if (o->help) {
		ur_daemon_option_usage();
		return 1;
	}
	if (optind != argc) {
		fprintf(stderr, "uroced: '%s' is no option\n", argv[optind]);
		return -EINVAL;
	}
	err = o->config ? read_config(o) : 0;
	if (!err && o->cm_mode == 1 && o->roce_v1 <= 0) {
		fputs("uroced: --cm-mode v1 takes --roce-v1\n", stderr);
		err = -EINVAL;
	}
	return err ? err : ur_engine_options_check(o->engine);
}
