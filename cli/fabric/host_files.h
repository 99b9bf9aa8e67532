/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The files of a single host, and those that all hosts share. */
#ifndef UR_CLI_FABRIC_HOST_FILES_H
#define UR_CLI_FABRIC_HOST_FILES_H

#include "cli/fabric/directory.h"

/* Get the names of the run directory of a host's device, and of its log file, as the hosts
 * see them. */
void ur_fabric_host_run(const struct ur_fabric_dir *paths, unsigned int host,
			char *path, size_t size);
/* Gets the name of a host's own run directory, which is the same in all hosts. */
void ur_fabric_own_run(const struct ur_fabric_dir *paths, char *path,
		       size_t size);
void ur_fabric_host_log(const struct ur_fabric_dir *paths, unsigned int host,
			char *path, size_t size);

/**
 * ur_fabric_files() - mount, in the keeper's namespace, /proc of the new PID namespace and
 * the memory file system, and write /etc/hosts for all hosts into that
 * Return: 0 or -errno; -EPERM if the namespaces give no rights.
 */
int ur_fabric_files(const struct ur_fabric_dir *paths,
		    const struct ur_fabric_plan *plan,
		    struct ur_fabric_error *error);

/**
 * ur_fabric_host_mounts() - mount, in a host's namespace, /sys of its network, its run
 * directory, /dev/shm, /etc/hosts, /etc/hostname
 */
int ur_fabric_host_mounts(const struct ur_fabric_dir *paths, const char *name,
			  struct ur_fabric_error *error);

#endif
