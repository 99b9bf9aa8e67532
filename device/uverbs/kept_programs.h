/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programs that got the slot of their engine from an earlier uroced, which was killed.
 * Their objects are unknown here and they have no connection, but their slots stay reserved
 * until they end. They still receive changes of addresses and settings, and their counters
 * count.
 */
#ifndef UR_DEVICE_UVERBS_KEPT_PROGRAMS_H
#define UR_DEVICE_UVERBS_KEPT_PROGRAMS_H

#include "device/device.h"

/* Wakes an engine in a program, so that it looks for changes. liveness: the device's end of its
 * socket. */
void ur_program_wake(int liveness);
/* Registers a watcher that finds these programs for each new device, until
 * ur_kept_programs_recovery_done(). Called before the first device is made. */
void ur_kept_programs_watch(struct ur_daemon *daemon);
/* Removes the program in that slot, which has reconnected, if user and process match; the
 * caller is responsible for the slot from then on. Returns the device's end of its socket,
 * the caller's, or -ENOENT. Control lock held. */
int ur_kept_program_take(struct ur_device *dev, u32 slot, uid_t uid, pid_t pid);
/* Hangs up the programs of devices that do not exist any more. Called once the daemon has
 * its devices. Control lock held. */
void ur_kept_programs_recovery_done(void);

#endif
