/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programs that have had their engines lent by an earlier uroced, which was killed. Nothing of
 * their objects is known here, and they have no connection: their slots are theirs until they
 * end, addresses and settings reach them, and what they count counts.
 */
#ifndef UR_DEVICE_UVERBS_KEPT_PROGRAMS_H
#define UR_DEVICE_UVERBS_KEPT_PROGRAMS_H

#include "device/device.h"

/* Makes an engine in a program look at what has changed, by the device's end of its socket. */
void ur_program_wake(int life);
/* Looks for them when a device is made, until ur_kept_programs_settle(). Before the first is. */
void ur_kept_programs_watch(struct ur_daemon *daemon);
/* Takes the program in that slot out, of that user and process, whose connection it has now: the caller
 * ends the loan. Returns the device's end of its socket, the caller's, or -ENOENT. Control lock
 * held. */
int ur_kept_program_take(struct ur_device *dev, u32 slot, uid_t uid, pid_t pid);
/* The daemon has its devices: programs of others hang up. Control lock held. */
void ur_kept_programs_settle(void);

#endif
