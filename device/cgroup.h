/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The memory that this process's control group may have, of version 1 or 2. */
#ifndef UR_DEVICE_CGROUP_H
#define UR_DEVICE_CGROUP_H

#include <limits.h>
#include "util/bytes.h"

/* The place where a hierarchy is mounted, and the folder of it that is
 * there. */
struct ur_cgroup_mount {
	char root[PATH_MAX];
	char point[PATH_MAX]; /* empty: nowhere */
};

struct ur_cgroup {
	struct ur_cgroup_mount v1, v2;
};

/* Finds the hierarchies that have memory, in a file that reads as
 * /proc/self/mountinfo (proc_pid_mountinfo(5)); in one that cannot be read none
 * is found. */
void ur_cgroup_find(struct ur_cgroup *cg, const char *mountinfo);
/* If none was found, mounts them for this process alone, where that is allowed:
 * below `ip netns exec`, for instance, which has a /sys of its own. */
void ur_cgroup_mount(struct ur_cgroup *cg);
/* Returns in bytes the least of the limits of a group and of those that it is
 * in, as far as they can be seen here; UINT64_MAX: there is none. The group is
 * that of a file that reads as /proc/self/cgroup (cgroups(7)). */
u64 ur_cgroup_memory(const struct ur_cgroup *cg, const char *cgroup);

#endif
