/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Keeps descriptors 0, 1 and 2 open. If they were closed when a program of ours starts, its first
 * files would get these numbers and receive its messages.
 */
#ifndef UR_UTIL_OS_STANDARD_FDS_H
#define UR_UTIL_OS_STANDARD_FDS_H

#include <fcntl.h>
#include <unistd.h>

/* Opens those of 0, 1 and 2 that are closed: as /dev/null, or without one as the root directory
 * with O_PATH, which cannot be written. They are close-on-exec, so that a program that replaces
 * this one finds them closed. First call in main(). */
static inline void ur_open_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

#endif
