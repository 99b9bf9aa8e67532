/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fault rules from a program's own tests: adds, deletes and counts them by the
 * command `uroce fault`, for the device whose run directory the environment
 * names, as under `uroce run`. All in this header: there is nothing to link.
 * uroce-fault(7) has the rules. C and C++; Linux.
 *
 * The command is "uroce" in PATH, or what UROCE_COMMAND names. Only root, and
 * the user that runs the device, may change its rules; a rule strikes all
 * programs of the device.
 *
 * Each function waits for the command, so it takes some milliseconds; any
 * thread may call it. The command's objections to a rule go to the standard
 * error.
 */
#ifndef UR_CLI_UROCE_FAULT_H
#define UR_CLI_UROCE_FAULT_H

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

extern char **environ;

/* Runs `uroce fault WORD [TEXT]`. out: gets its standard output, truncated to size bytes
 * with the NUL. Returns 0, or -1 with errno: EINVAL if the command refuses, or that of
 * pipe() and posix_spawnp(). */
static inline int uroce_fault_run(const char *word, const char *text, char *out,
				  size_t size)
{
	const char *command = getenv("UROCE_COMMAND");
	char *argv[5] = {(char *)"uroce", (char *)"fault", (char *)word,
			 (char *)text, NULL};
	posix_spawn_file_actions_t actions;
	int fd[2], err, status = -1;
	size_t used = 0;
	char rest[256];
	ssize_t n;
	pid_t pid;

	if (pipe(fd))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 1);
	posix_spawn_file_actions_addclose(&actions, fd[0]);
	err = posix_spawnp(&pid, command ? command : "uroce", &actions, NULL,
			   argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	while (!err) {
		/* Reads to the end, so that the command is not blocked. */
		n = used + 1 < size ? read(fd[0], out + used, size - used - 1)
				    : read(fd[0], rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (used + 1 < size)
			used += (size_t)n;
	}
	if (size)
		out[used] = '\0';
	close(fd[0]);
	if (!err)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	if (!err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		err = EINVAL;
	if (!err)
		return 0;
	errno = err;
	return -1;
}

/* Adds a rule, e.g. "drop op=write nth=100". Returns its number, 0 if it has acted at once,
 * or -1 with errno (EINVAL: refused). */
static inline long uroce_fault_add(const char *rule)
{
	char out[32];

	if (uroce_fault_run("add", rule, out, sizeof(out)))
		return -1;
	return strtol(out, NULL, 10);
}

/* Deletes the rule with that number. Returns 0, or -1 with errno (EINVAL: no such rule). */
static inline int uroce_fault_del(long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	return uroce_fault_run("del", text, NULL, 0);
}

/* Deletes all rules of all devices of the run directory. Returns as above. */
static inline int uroce_fault_clear(void)
{
	return uroce_fault_run("del", "all", NULL, 0);
}

/* Gets how often the rule has matched (*met) and acted (*struck). Returns 0, or -1 with
 * errno (ENOENT: no such rule). */
static inline int uroce_fault_counts(long number, unsigned long long *met,
				     unsigned long long *struck)
{
	size_t size = 1 << 16;
	char *out = (char *)malloc(size), *line, *next;
	int err = ENOENT;

	if (!out)
		return -1;
	if (uroce_fault_run("show", NULL, out, size)) {
		free(out);
		return -1;
	}
	for (line = out; err && line; line = next) {
		char *counts = NULL, *at;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strtol(line, &at, 10) != number || at == line || *at != ':')
			continue;
		/* The last pair: no rule has parentheses. */
		counts = strrchr(line, '(');
		if (counts &&
		    sscanf(counts, "(met %llu, struck %llu)", met, struck) == 2)
			err = 0;
	}
	free(out);
	if (!err)
		return 0;
	errno = err;
	return -1;
}

#ifdef __cplusplus
}
#endif
#endif
