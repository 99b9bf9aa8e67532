// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Starts the two processes of a fabric, and is the guardian. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fabric/keeper.h"
#include "cli/fabric/rights.h"

#define NAMESPACES                                                  \
	(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | \
	 CLONE_NEWIPC)

/* Closes all descriptors except the standard ones and keep[]. */
static void close_others(int *keep, int count)
{
	for (int i = 1; i < count; i++)
		for (int k = i; k && keep[k] < keep[k - 1]; k--) {
			int other = keep[k];

			keep[k] = keep[k - 1];
			keep[k - 1] = other;
		}
	for (int i = 0, from = 3; i <= count; i++) {
		unsigned int to = i < count ? (unsigned int)keep[i] : ~0U;

		if (i == count || to > (unsigned int)from)
			close_range((unsigned int)from,
				    i == count ? to : to - 1, 0);
		if (i < count)
			from = keep[i] + 1;
	}
}

/* Detaches from the caller's terminal and pipes. */
static void leave_caller(struct ur_fabric_keeper *keeper)
{
	int keep[] = {keeper->dir, keeper->sock, keeper->report};
	int null;

	setsid();
	if (chdir("/"))
		_exit(1);
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close_others(keep, 3);
	signal(SIGPIPE, SIG_IGN);
	/* The devices must see the real system. */
	unsetenv("LD_PRELOAD");
	unsetenv("UROCE_RUN_DIR");
}

/* Root does without a user namespace if possible; any other user gets one, with the same
 * uid. Returns as fork() does. */
static pid_t clone_keeper(struct ur_fabric_keeper *keeper)
{
	pid_t pid;

	keeper->own_user = false;
	pid = (pid_t)syscall(SYS_clone, NAMESPACES | SIGCHLD, 0, 0, 0, 0);
	if (pid >= 0 || errno != EPERM)
		return pid;
	keeper->own_user = true;
	return (pid_t)syscall(SYS_clone, CLONE_NEWUSER | NAMESPACES | SIGCHLD,
			      0, 0, 0, 0);
}

static _Noreturn void guard(struct ur_fabric_keeper *keeper)
{
	struct ur_fabric_error error = {0};
	int life[2];
	pid_t pid;

	leave_caller(keeper);
	if (pipe2(life, O_CLOEXEC))
		_exit(1);
	keeper->life = life[0];
	pid = clone_keeper(keeper);
	if (pid == 0) {
		close(life[1]);
		ur_fabric_keep(keeper);
	}
	if (pid < 0) {
		ur_fabric_refused(-errno, &error);
		dprintf(keeper->report, "%s\n", error.text);
	}
	close(life[0]);
	close(keeper->report);
	close(keeper->sock);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	ur_fabric_dir_clear(&keeper->paths, keeper->dir);
	_exit(0);
}

/* Reads what the keeper reports. Returns 0 for "ready". */
static int await_report(int report)
{
	char text[sizeof(struct ur_fabric_error) + 8];
	size_t len = 0;
	ssize_t n;

	do {
		n = read(report, text + len, sizeof(text) - 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while ((n > 0 && len < sizeof(text) - 1) ||
		 (n < 0 && errno == EINTR));
	text[len] = '\0';
	if (!strcmp(text, "ready\n"))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	ur_complain("fabric: %s", len ? text : "it ended without a word");
	return -EIO;
}

int ur_fabric_start(const struct ur_fabric_dir *paths, int dir,
		    const struct ur_fabric_plan *plan)
{
	struct ur_fabric_keeper *keeper = calloc(1, sizeof(*keeper));
	int report[2], err;
	pid_t pid = -1;

	if (!keeper)
		return -ENOMEM;
	keeper->paths = *paths;
	keeper->plan = *plan;
	keeper->uid = geteuid();
	keeper->gid = getegid();
	keeper->dir = dir;
	keeper->sock = ur_fabric_dir_listen(dir);
	err = keeper->sock < 0 ? keeper->sock : 0;
	if (!err && pipe2(report, O_CLOEXEC)) {
		err = -errno;
		close(keeper->sock);
	}
	if (!err) {
		keeper->report = report[1];
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			guard(keeper);
		err = pid < 0 ? -errno : 0;
		close(report[1]);
		close(keeper->sock);
		if (!err) {
			err = await_report(report[0]);
		} else {
			ur_complain("fabric: %s", strerror(-err));
			ur_fabric_dir_clear(paths, dir);
		}
		close(report[0]);
	} else {
		ur_complain("fabric: %s: %s", paths->dir, strerror(-err));
		ur_fabric_dir_clear(paths, dir);
	}
	close(dir);
	/* The guardian cleans up a failed start. */
	if (err && pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(keeper);
	return err;
}
