/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The thread that receives SIGTERM and SIGINT. It takes no lock and touches no client
 * memory, so it can end the process even if all others are blocked: if the stop takes
 * longer than UR_STOP_MOST_NS, it releases everything that another uroced would need, and
 * ends the process. A thread in an unkillable wait in the kernel may keep an empty process
 * for as long as it waits.
 */
#ifndef UR_DEVICE_STOPPER_H
#define UR_DEVICE_STOPPER_H

#include "device/device.h"

/* Starts the thread. Both signals are blocked in all threads; signals that came before are
 * handled. Returns 0 or -errno. */
int ur_stopper_start(struct ur_daemon *daemon);
/* Starts the time limit as a signal does, for a daemon that stops by itself. Any thread. */
void ur_stopper_begin(void);
/* Ends the time limit: the stop is complete; the loop is freed and the process exits next.
 * Any thread. */
void ur_stopper_done(void);

#endif
