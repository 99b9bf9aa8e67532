// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Programs in hosts: run, ssh, trace, report. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/fabric/fabric.h"
#include "cli/fabric/host_files.h"
#include "cli/shell.h"

#define ALL "all"

/* Runs the program in the host of that name, or in all. */
static int run_in(struct ur_options *options, const char *name, char **argv)
{
	struct ur_fabric fabric;
	int host, ret = ur_fabric_open(&fabric, options);

	if (ret)
		return UR_EXIT_NO_DEVICE;
	if (!strcmp(name, ALL)) {
		ret = ur_fabric_run_all(&fabric, argv);
		ur_fabric_close(&fabric);
		return ret;
	}
	host = ur_fabric_find_host(&fabric, name);
	if (host >= 0)
		return ur_fabric_become(&fabric, (unsigned int)host, argv);
	ur_fabric_close(&fabric);
	return UR_EXIT_NO_DEVICE;
}

int ur_fabric_run(struct ur_options *options)
{
	char **words = options->rest;

	if (!options->rest_count) {
		ur_complain("fabric run: HOST|all [--] PROGRAM [ARGUMENT]...");
		return UR_EXIT_USAGE;
	}
	words++;
	if (*words && !strcmp(*words, "--"))
		words++;
	if (!*words && !strcmp(options->rest[0], ALL)) {
		ur_complain("fabric run all: which program?");
		return UR_EXIT_USAGE;
	}
	return run_in(options, options->rest[0],
		      *words ? words : ur_shell(options));
}

/* Returns the words joined to a shell command, to be freed. */
static char *join_words(char **words)
{
	size_t size = 1;
	char *text;

	for (char **w = words; *w; w++)
		size += strlen(*w) + 1;
	text = calloc(1, size);
	for (char **w = words; text && *w; w++) {
		strcat(text, *w);
		if (w[1])
			strcat(text, " ");
	}
	return text;
}

/* Accepts ssh options that are always in effect (no X11, no terminal, quiet), and -n, which
 * it carries out. Returns whether the word is one of them. */
static bool take_ssh_option(const char *word)
{
	int null;

	if (!strcmp(word, "-n")) {
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (null >= 0) {
			dup2(null, STDIN_FILENO);
			close(null);
		}
		return null >= 0;
	}
	return !strcmp(word, "-x") || !strcmp(word, "-T") ||
	       !strcmp(word, "-q");
}

int ur_fabric_ssh(struct ur_options *options)
{
	char **words = options->rest, *command;
	char *argv[] = {getenv("SHELL"), (char *)"-c", NULL, NULL};
	int ret;

	while (*words && **words == '-' && take_ssh_option(*words))
		words++;
	if (!*words || **words == '-') {
		ur_complain(
			"fabric ssh: [-n] [-q] [-T] [-x] HOST [COMMAND]...%s%s",
			*words ? ", not " : "", *words ? *words : "");
		return UR_EXIT_USAGE;
	}
	if (!words[1])
		return run_in(options, words[0], ur_shell(options));
	command = join_words(words + 1);
	if (!command)
		return UR_EXIT_FAILED;
	if (!argv[0] || access(argv[0], X_OK))
		argv[0] = (char *)"/bin/sh";
	argv[2] = command;
	ret = run_in(options, words[0], argv);
	free(command);
	return ret;
}

/* Gets the name of this program, which is valid in the hosts, too. */
static int own_name(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	path[n > 0 ? n : 0] = '\0';
	if (n > 0)
		return 0;
	ur_complain("/proc/self/exe: %s", strerror(errno));
	return -errno;
}

int ur_fabric_trace(struct ur_options *options)
{
	char path[PATH_MAX];
	char **argv;
	int ret;

	if (!options->rest_count) {
		ur_complain("fabric trace: HOST|switch|all [OPTION of 'uroce "
			    "trace']...");
		return UR_EXIT_USAGE;
	}
	if (own_name(path, sizeof(path)))
		return UR_EXIT_FAILED;
	argv = calloc((size_t)options->rest_count + 2, sizeof(*argv));
	if (!argv)
		return UR_EXIT_FAILED;
	argv[0] = path;
	argv[1] = (char *)"trace";
	for (int i = 1; i < options->rest_count; i++)
		argv[i + 1] = options->rest[i];
	ret = run_in(options, options->rest[0], argv);
	free(argv);
	return ret;
}

/* Each host saves its record beside its run directory, where all hosts can read it. */
static int save_records(struct ur_options *options, char *path)
{
	char command[] = "exec \"$0\" record save "
			 "\"${UROCE_RUN_DIR%/*}/$(uname -n).record\" >&2";
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", command, path, NULL};
	char all[] = ALL;

	return run_in(options, all, argv);
}

int ur_fabric_report(struct ur_options *options)
{
	struct ur_fabric fabric;
	char path[PATH_MAX], *argv[UR_FABRIC_HOSTS_MAX + 4];
	unsigned int n = 0;
	int ret;

	if (options->rest_count != 1) {
		ur_complain("fabric report: FILE.html");
		return UR_EXIT_USAGE;
	}
	if (own_name(path, sizeof(path)))
		return UR_EXIT_FAILED;
	ret = save_records(options, path);
	if (ret)
		return UR_EXIT_FAILED;
	if (ur_fabric_open(&fabric, options))
		return UR_EXIT_FAILED;
	argv[n++] = path;
	argv[n++] = (char *)"report";
	argv[n++] = options->rest[0];
	for (unsigned int host = 1; host <= fabric.plan.hosts; host++) {
		char run[PATH_MAX];

		ur_fabric_host_run(&fabric.paths, host, run, sizeof(run));
		if (asprintf(&argv[n], "%s.record", run) < 0)
			return UR_EXIT_FAILED;
		n++;
	}
	argv[n] = NULL;
	ret = ur_fabric_become(&fabric, 1, argv);
	while (n > 3)
		free(argv[--n]);
	return ret;
}
