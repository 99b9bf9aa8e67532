/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Descriptors 0, 1 and 2 of a program of ours may be closed when it is started. The first that it opens would get
 * these numbers, and its messages would be written there.
 */
#ifndef UR_UTIL_OS_STANDARD_FDS_H
#define UR_UTIL_OS_STANDARD_FDS_H

#include <fcntl.h>
#include <unistd.h>

/* Opens those of 0, 1 and 2 that are closed: /dev/null, or where there is none the root directory as a path, which
 * cannot be written to. They are close-on-exec, so that a program that this one becomes finds them closed. First in
 * main(). */
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
