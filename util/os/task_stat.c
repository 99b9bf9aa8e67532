// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "util/os/task_stat.h"

int ur_task_stat(pid_t tid, struct ur_task_stat *st)
{
	char path[64], text[512];
	const char *after;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return -ESRCH;
	text[len] = '\0';
	/* The thread's name may contain anything. */
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1,
			     " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			     " %*s %*s %*s %*s %*s %u",
			     &st->state, &st->threads) != 2)
		return -EPROTO;
	return 0;
}
