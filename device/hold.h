/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Processes that count as clients though they have no connection: a program
 * that `uroce run` has become, and that may open the device much later. An
 * on-demand daemon stays until they have ended.
 */
#ifndef UR_DEVICE_HOLD_H
#define UR_DEVICE_HOLD_H

#include <sys/types.h>
#include "device/device.h"

/* All with the control lock held. */

/* Counts process pid of user uid as a client until it has ended. Returns 0,
 * -ESRCH (the process cannot be seen from here), -EMFILE or -ENOMEM (too
 * many). */
int ur_hold_add(struct ur_daemon *daemon, pid_t pid, uid_t uid);
/* Forgets all of them. */
void ur_hold_end_all(struct ur_daemon *daemon);
/* Returns whether the daemon has no clients at all. An on-demand daemon then
 * ends after a while. */
bool ur_hold_unused(const struct ur_daemon *daemon);

#endif
