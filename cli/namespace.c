// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes a user namespace with the caller's own uid. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/namespace.h"

int ur_namespace_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int ur_namespace_map(unsigned int uid, unsigned int gid)
{
	char map[64];
	int err;

	err = ur_namespace_write("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!err)
		err = ur_namespace_write("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return err ? err : ur_namespace_write("/proc/self/gid_map", map);
}

int ur_namespace_own(int flags)
{
	unsigned int uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWUSER | flags))
		return -errno;
	return ur_namespace_map(uid, gid);
}
