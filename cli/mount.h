/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_CLI_MOUNT_H
#define UR_CLI_MOUNT_H

#include "cli/command.h"

/* With --mount, shows this process and those that it becomes and starts the
 * device's classes in /sys/class. Returns 0, or -errno after saying what is
 * wrong; then the process has to end. */
int ur_mount(const struct ur_options *options);

/* Shows every process of this mount namespace the host's device, until ur_unmount_host(), which
 * may also be called where nothing is shown. Both return 0, or -errno after saying what
 * is wrong; then nothing is shown. */
int ur_mount_host(void);
int ur_unmount_host(void);

#endif
