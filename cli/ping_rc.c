// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs uroce-rcping with the device present, and reads the lines that it
 * prints.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/ping_rc.h"
#include "cli/rcping/rcping.h"

#define PROGRAM "uroce-rcping"

static int find_program(char path[PATH_MAX])
{
	static const char *const beside[] = {"", "/../libexec/uroce", NULL};
	int err = ur_environment_find(PROGRAM, beside, UROCE_LIBEXECDIR, path,
				      PATH_MAX);

	if (err)
		ur_complain("%s is neither beside this program nor in %s",
			    PROGRAM, UROCE_LIBEXECDIR);
	return err;
}

/* Return: its process, or -errno after saying what is wrong. */
static pid_t start(const struct ur_options *options, const char *const argv[],
		   FILE **ret_said)
{
	char path[PATH_MAX];
	int fds[2], err;
	pid_t pid;

	err = find_program(path);
	if (err)
		return err;
	if (pipe(fds)) {
		err = -errno;
		ur_complain("pipe: %s", strerror(-err));
		return err;
	}
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		if (!ur_environment_set(options->run_dir))
			execv(path, (char *const *)argv);
		_exit(UR_EXIT_CANNOT_RUN);
	}
	err = -errno;
	close(fds[1]);
	*ret_said = pid > 0 ? fdopen(fds[0], "r") : NULL;
	if (!*ret_said)
		close(fds[0]);
	return pid > 0 ? pid : err;
}

static void set(struct ur_ping_rc *ret, enum ur_ping_rc_end end,
		const char *why)
{
	ret->end = end;
	snprintf(ret->why, sizeof(ret->why), "%s", why);
}

static void take_answer(const char *peer, const char *us,
			struct json_object *times)
{
	if (times)
		json_object_array_add(times, json_object_new_double(atof(us)));
	else
		printf("%s: RC answer in %.0f us\n", peer, atof(us));
}

static void take_line(const char *peer, char *line, struct json_object *times,
		      struct ur_ping_rc *ret)
{
	char *rest = line + strcspn(line, " \n");

	line[strcspn(line, "\n")] = '\0';
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(line, UR_RCPING_ANSWER)) {
		take_answer(peer, rest, times);
		return;
	}
	if (!strcmp(line, UR_RCPING_LOCAL)) {
		set(ret, UR_PING_RC_LOCAL, rest);
	} else if (!strcmp(line, UR_RCPING_REFUSED)) {
		bool none = atoi(rest) == UR_RCPING_NO_SERVICE;

		set(ret, none ? UR_PING_RC_NO_SERVICE : UR_PING_RC_REFUSED,
		    rest);
	} else if (!strcmp(line, UR_RCPING_LOST)) {
		set(ret, UR_PING_RC_LOST, rest);
	} else if (!strcmp(line, UR_RCPING_MTU)) {
		set(ret, UR_PING_RC_OK, "");
		ret->mtu = atoi(rest);
	} else if (!strcmp(line, UR_RCPING_MTU_LOST)) {
		set(ret, UR_PING_RC_MTU, "");
		ret->mtu = atoi(rest);
	}
}

int ur_ping_rc(const struct ur_options *options, const char *peer, int port,
	       int count, struct json_object *times, struct ur_ping_rc *ret)
{
	char line[256], port_text[16], count_text[16];
	const char *argv[] = {PROGRAM,	 "connect",  peer,
			      port_text, count_text, NULL};
	int status;
	FILE *said;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	set(ret, UR_PING_RC_SILENT, "");
	snprintf(port_text, sizeof(port_text), "%d", port);
	snprintf(count_text, sizeof(count_text), "%d", count);
	pid = start(options, argv, &said);
	if (pid < 0)
		return pid;
	while (said && fgets(line, sizeof(line), said))
		take_line(peer, line, times, ret);
	if (said)
		fclose(said);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == UR_EXIT_CANNOT_RUN)
		return -ENOEXEC;
	return 0;
}

int ur_ping_rc_listen(const struct ur_options *options, int port)
{
	char path[PATH_MAX], text[16];

	if (find_program(path) || ur_environment_set(options->run_dir))
		return UR_EXIT_FAILED;
	snprintf(text, sizeof(text), "%d", port);
	execl(path, PROGRAM, "listen", text, (char *)NULL);
	ur_complain("cannot run %s: %s", path, strerror(errno));
	return UR_EXIT_FAILED;
}
