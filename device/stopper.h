/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The thread that receives SIGTERM and SIGINT. It takes no lock and touches
 * nothing of a client's, so it makes the process end whatever others wait for:
 * if the stop takes longer than UR_STOP_MOST_NS, it gives back everything that
 * another uroced would need, and ends the process. A thread that waits in the
 * kernel where not even SIGKILL reaches it may keep an empty process for as
 * long as it does.
 */
#ifndef UR_DEVICE_STOPPER_H
#define UR_DEVICE_STOPPER_H

#include "device/device.h"

/* Starts the thread. The two signals are blocked in all threads. Signals that
 * came before count. Returns 0 or -errno. */
int ur_stopper_start(struct ur_daemon *daemon);
/* The daemon stops by itself: the time begins as with a signal. Any thread. */
void ur_stopper_begin(void);
/* The stop is over, the loop about to be freed and the process about to end. Any
 * thread. */
void ur_stopper_done(void);

#endif
