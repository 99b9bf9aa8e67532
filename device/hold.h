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

/* Until the process pid of user uid has ended; all with the control lock held.
 * 0, -ESRCH: it is not to be seen from here; -EMFILE, -ENOMEM: too many. */
int ur_hold_add(struct ur_daemon *daemon, pid_t pid, uid_t uid);
void ur_hold_end_all(struct ur_daemon *daemon);
/* Has the daemon no clients? Then an on-demand one ends after a while. */
bool ur_hold_unused(const struct ur_daemon *daemon);

#endif
