/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Processes that count as clients without a connection: programs that `uroce run` has
 * exec'ed and that may open the device much later. An on-demand daemon stays until they
 * have ended.
 */
#ifndef UR_DEVICE_HOLD_H
#define UR_DEVICE_HOLD_H

#include <sys/types.h>
#include "device/device.h"

/* Control lock held. */

/* Counts process pid of user uid as a client until it ends. Returns 0, -ESRCH (pid is not
 * visible here), -EMFILE or -ENOMEM (too many). */
int ur_hold_add(struct ur_daemon *daemon, pid_t pid, uid_t uid);
/* Removes all holds. */
void ur_hold_end_all(struct ur_daemon *daemon);
/* Returns whether the daemon has no clients at all. An on-demand daemon then
 * ends after a while. */
bool ur_hold_unused(const struct ur_daemon *daemon);

#endif
