// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The device without a wrapper for each program: uroce env, for an existing shell, and the
 * shell that uroce run starts if no program is named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/shell.h"

#define MARK "(uroce) "
/* bash: its own files replace PS1, and it runs this after them. */
#define BASH_MARK \
	"case $PS1 in *\"" MARK "\"*) ;; *) PS1=\"" MARK "$PS1\" ;; esac"

enum language { SH, FISH, CSH };

/* Returns the escaped form of a character that ends a quotation or is special in it. */
static const char *escaped(enum language language, char c)
{
	if (c == '\'')
		return language == FISH ? "\\'" : "'\\''";
	if (c == '\\' && language == FISH)
		return "\\\\";
	if (c == '!' && language == CSH)
		return "\\!";
	return NULL;
}

static void print_variable(enum language language, const char *name)
{
	static const char *const begin[] = {"export %s='", "set -gx %s '",
					    "setenv %s '"};
	const char *value = getenv(name);

	printf(begin[language], name);
	for (; value && *value; value++) {
		const char *text = escaped(language, *value);

		if (text)
			fputs(text, stdout);
		else
			putchar(*value);
	}
	puts("';");
}

static int language_of(const struct ur_options *options, enum language *ret)
{
	static const char *const names[] = {"sh", "fish", "csh"};

	*ret = SH;
	if (!options->rest_count)
		return 0;
	for (int i = 0; i < 3 && options->rest_count == 1; i++) {
		if (strcmp(options->rest[0], names[i]))
			continue;
		*ret = (enum language)i;
		return 0;
	}
	ur_complain("env: sh, fish or csh, not %s",
		    options->rest[options->rest_count - 1]);
	return UR_EXIT_USAGE;
}

static void look_for_device(const struct ur_options *options)
{
	int sock;

	if (options->quiet)
		return;
	sock = ur_client_connect(options->run_dir);
	if (sock >= 0)
		close(sock);
	else
		ur_complain("note: no device at %s yet; programs see one as "
			    "soon as uroced serves there",
			    options->run_dir);
}

int ur_cmd_env(struct ur_options *options)
{
	char *path = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
	enum language language;
	int err = language_of(options, &language);

	if (!err && ur_environment_set(options->run_dir))
		err = UR_EXIT_FAILED;
	if (!err) {
		print_variable(language, "LD_PRELOAD");
		print_variable(language, "UROCE_RUN_DIR");
		if (path && strcmp(path, getenv("PATH")) != 0)
			print_variable(language, "PATH");
		look_for_device(options);
	}
	free(path);
	return err;
}

char **ur_shell(const struct ur_options *options)
{
	static char *argv[2];
	const char *before = getenv("PROMPT_COMMAND");
	char *command;

	argv[0] = getenv("SHELL");
	if (!argv[0] || access(argv[0], X_OK))
		argv[0] = (char *)"/bin/sh";
	setenv("PS1", geteuid() ? MARK "$ " : MARK "# ", 1);
	if (!before || !strstr(before, MARK)) {
		if (asprintf(&command, "%s%s%s", before ? before : "",
			     before && *before ? "; " : "", BASH_MARK) >= 0) {
			setenv("PROMPT_COMMAND", command, 1);
			free(command);
		}
	}
	if (!options->quiet && isatty(STDIN_FILENO))
		fprintf(stderr,
			"uroce: %s with the device present; 'exit' leaves it\n",
			argv[0]);
	return argv;
}
