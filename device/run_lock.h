/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lock of the run directory, a file there: one process has it for as long as it lives. */
#ifndef UR_DEVICE_RUN_LOCK_H
#define UR_DEVICE_RUN_LOCK_H

#include "device/device.h"

/* Locks the run directory for this daemon. Waits for one that is ending, 10 s at most, and says so. Returns 0, -EBUSY
 * (another uroced serves it) or another -errno. */
int ur_run_lock(struct ur_daemon *daemon);
/* Says to the next one that this one is ending. */
void ur_run_lock_ending(const struct ur_daemon *daemon);

#endif
