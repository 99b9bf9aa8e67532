// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Half of the process's numbers stay below; the kernel's table for 4096 takes
 * 32 KiB. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/os/high_fd.h"

#define MOST 4096

static atomic_bool wanted;

void ur_high_fds(void)
{
	atomic_store(&wanted, true);
}

int ur_high_fd_copy(int fd)
{
	struct rlimit limit = {.rlim_cur = 1024};
	int base, copy;

	getrlimit(RLIMIT_NOFILE, &limit);
	base = limit.rlim_cur > 2 * MOST ? MOST : (int)limit.rlim_cur / 2;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, base);
	if (copy < 0)
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? -errno : copy;
}

int ur_high_fd(int fd)
{
	int copy;

	if (fd < 0 || !atomic_load(&wanted))
		return fd;
	copy = ur_high_fd_copy(fd);
	if (copy < 0)
		return fd;
	close(fd);
	return copy;
}
