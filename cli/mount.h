/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_CLI_MOUNT_H
#define UR_CLI_MOUNT_H

#include "cli/command.h"

/* With --mount, shows the device's classes in /sys/class to this process and its children.
 * Returns 0, or -errno after a message on stderr; then the process has to end. */
int ur_mount(const struct ur_options *options);

/* Show the host's device to every process of this mount namespace, and undo that.
 * ur_unmount_host() may be called when nothing is shown. Both return 0, or -errno after a
 * message on stderr; then nothing is shown. */
int ur_mount_host(void);
int ur_unmount_host(void);

#endif
