/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Measures how much processor time is spent at a time with the control lock
 * held: the holder's own, and that of an engine that it waits for. Other work
 * of the processor meanwhile does not count, so the result is the same on a
 * busy machine. For tests: while nobody has asked for it, nothing is measured.
 * Called with the lock held unless a comment says otherwise.
 */
#ifndef UR_ENGINE_GROUND_HOLD_TIME_H
#define UR_ENGINE_GROUND_HOLD_TIME_H

#include "util/bytes.h"

/* Measures from now on. Before the second thread. */
void ur_hold_time_measure(void);
/* The lock has been taken; it is about to be released. */
void ur_hold_time_begin(void);
void ur_hold_time_end(void);
/* Returns the longest since it was last asked, in nanoseconds, or UINT64_MAX:
 * nothing is measured. */
u64 ur_hold_time_longest(void);

/* Called by a thread that works for a holder who waits: returns the thread's
 * processor time in nanoseconds, 0 where nothing is measured. Any thread. */
u64 ur_hold_time_now(void);
/* The holder has waited for so much of it. */
void ur_hold_time_add(u64 ns);

#endif
