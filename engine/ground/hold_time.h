/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Measures the processor time spent while the control lock is held: the holder's
 * own, and that of an engine that it waits for. Other work of the processor does
 * not count, so the result is the same on a busy machine. For tests: nothing is
 * measured until ur_hold_time_measure(). Called with the lock held unless a comment
 * says otherwise.
 */
#ifndef UR_ENGINE_GROUND_HOLD_TIME_H
#define UR_ENGINE_GROUND_HOLD_TIME_H

#include "util/bytes.h"

/* Starts to measure. Call it before there are threads. */
void ur_hold_time_measure(void);
/* Begin a measurement after the lock was taken; end it before the release. */
void ur_hold_time_begin(void);
void ur_hold_time_end(void);
/* Returns the longest time since the last call, in nanoseconds, or UINT64_MAX if
 * nothing is measured. */
u64 ur_hold_time_longest(void);

/* Returns the calling thread's processor time in nanoseconds, or 0 if nothing is
 * measured. For a thread that works while the holder waits. Any thread. */
u64 ur_hold_time_now(void);
/* Adds processor time of another thread, for which the holder has waited. */
void ur_hold_time_add(u64 ns);

#endif
