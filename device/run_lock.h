/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lock file of the run directory: one process holds it for as long as it lives. */
#ifndef UR_DEVICE_RUN_LOCK_H
#define UR_DEVICE_RUN_LOCK_H

#include "device/device.h"

/* Locks the run directory for this daemon. Waits at most 10 s for a uroced that is ending,
 * and logs that. Returns 0, -EBUSY (another uroced serves it) or another -errno. */
int ur_run_lock(struct ur_daemon *daemon);
/* Marks the lock: this uroced is ending, so the next one may wait for it. */
void ur_run_lock_ending(const struct ur_daemon *daemon);

#endif
