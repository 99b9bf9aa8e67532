// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
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
