/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programs that have had their engines lent by an earlier uroced, which was killed. Nothing of
 * their objects is known here, and they have no connection: their slots are theirs until they
 * end, addresses and settings reach them, and what they count counts.
 */
#ifndef UR_DEVICE_KEPT_PROGRAMS_H
#define UR_DEVICE_KEPT_PROGRAMS_H

struct ur_daemon;

/* Looks for them when a device is made, until ur_kept_programs_settle(). Before the first is. */
void ur_kept_programs_watch(struct ur_daemon *daemon);
/* The daemon has its devices: programs of others hang up. Control lock held. */
void ur_kept_programs_settle(void);

#endif
