// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /proc/mounts: scripts that write to configfs look for it there, and mount it
 * if it is missing. The device provides rdma_cm's configfs without a mount, so
 * a line is added.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/mounts.h"
#include "preload/rewrite.h"

#define CONFIG "/sys/kernel/config"
#define LINE   "configfs " CONFIG " configfs rw,relatime 0 0\n"

bool ur_mounts_is(const struct ur_rewritten *path, int flags)
{
	const char *name = path->target;
	struct ur_rewritten config;

	if (path->what != UR_PATH_FOREIGN || !name ||
	    (flags & O_ACCMODE) != O_RDONLY ||
	    (strcmp(name, "/proc/mounts") != 0 &&
	     strcmp(name, "/proc/self/mounts") != 0 &&
	     strcmp(name, "/etc/mtab") != 0))
		return false;
	ur_rewrite(&config, AT_FDCWD, CONFIG "/rdma_cm");
	return config.what == UR_PATH_TREE;
}

/* Copies the list, and looks for the mount. If its line crosses two reads we
 * add another, which does no harm. */
static int copy(int from, int to)
{
	char buf[4096];
	bool found = false;
	long n;

	while ((n = syscall(SYS_read, from, buf, sizeof(buf) - 1)) > 0) {
		buf[n] = '\0';
		found |= strstr(buf, " " CONFIG " ") != NULL;
		if (syscall(SYS_write, to, buf, n) != n)
			return -EIO;
	}
	if (n < 0)
		return -errno;
	n = (long)strlen(LINE);
	if (!found && syscall(SYS_write, to, LINE, n) != n)
		return -EIO;
	return syscall(SYS_lseek, to, 0, SEEK_SET) < 0 ? -errno : 0;
}

int ur_mounts_open(const struct ur_rewritten *path, int flags)
{
	int from, to, err;

	from = (int)syscall(SYS_openat, AT_FDCWD, path->target,
			    O_RDONLY | O_CLOEXEC, 0);
	if (from < 0)
		return -errno;
	to = (int)syscall(SYS_memfd_create, "mounts",
			  flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	err = to < 0 ? -errno : copy(from, to);
	syscall(SYS_close, from);
	if (err && to >= 0)
		syscall(SYS_close, to);
	return err ? err : to;
}
