// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Processes that uroced forks, and which outlive it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "device/fork_apart.h"

pid_t ur_fork_apart(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (!pid)
		return 0; /* closes both */
	close(ends[1]);
	/* Nobody writes: it ends with the process's copy of the other end. */
	while (pid > 0 && read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return pid;
}

/* ps reads the command line from the memory of the arguments. If that does not end in a
 * zero byte, ps reads on in the environment behind it (proc_pid_cmdline(5)), which is not
 * needed here. */
static void set_name(char **argv, const char *name)
{
	char *begin, *end;

	prctl(PR_SET_NAME, name);
	if (!argv || !argv[0])
		return;
	begin = end = argv[0];
	for (char **word = argv; *word; word++)
		if (*word == end)
			end += strlen(*word) + 1;
	for (char **word = environ; word && *word; word++)
		if (*word == end)
			end += strlen(*word) + 1;
	if ((size_t)(end - begin) <= strlen(name))
		return;
	memset(begin, 0, (size_t)(end - begin));
	memcpy(begin, name, strlen(name) + 1);
}

void ur_leave_uroced(char **argv, const char *name, int low, int high)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid(); /* first: uroced waits until its descriptors are closed */
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, 3, (unsigned int)low - 1, 0);
	syscall(SYS_close_range, low + 1, (unsigned int)high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	set_name(argv, name);
}
