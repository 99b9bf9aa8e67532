/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_CLI_MOUNT_H
#define UR_CLI_MOUNT_H

#include "cli/command.h"

/* With --mount, shows this process and those that it becomes and starts the
 * device's classes in /sys/class. Returns 0, or -errno after saying what is
 * wrong; then the process has to end. */
int ur_mount(const struct ur_options *options);

#endif
