/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The memory limit of this process's control group, version 1 or 2. */
#ifndef UR_DEVICE_CGROUP_H
#define UR_DEVICE_CGROUP_H

#include <limits.h>
#include "util/bytes.h"

/* A mounted hierarchy: the mount point, and the folder of the hierarchy that is mounted
 * there. */
struct ur_cgroup_mount {
	char root[PATH_MAX];
	char point[PATH_MAX]; /* empty: not mounted */
};

struct ur_cgroup {
	struct ur_cgroup_mount v1, v2;
};

/* Finds the hierarchies with the memory controller. mountinfo: path of a file in the format
 * of /proc/self/mountinfo (proc_pid_mountinfo(5)). If it cannot be read, none is found. */
void ur_cgroup_find(struct ur_cgroup *cg, const char *mountinfo);
/* Mounts the hierarchies for this process alone if none was found and mounting is allowed.
 * `ip netns exec`, for instance, hides them behind a /sys of its own. */
void ur_cgroup_mount(struct ur_cgroup *cg);
/* Returns the lowest memory limit, in bytes, of a group and its visible parents;
 * UINT64_MAX: no limit. cgroup: path of a file in the format of /proc/self/cgroup
 * (cgroups(7)), which names the group. */
u64 ur_cgroup_memory(const struct ur_cgroup *cg, const char *cgroup);

#endif
