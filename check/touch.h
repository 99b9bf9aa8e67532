/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Detects reads by the program with the processor's breakpoint registers: reads
 * of a READ's target before its completion, and of the bytes behind a message
 * that was shorter than its receive. Each thread watches one of each, for its
 * own reads; none without perf_event_open(2). The program gets no signal.
 *
 * All functions are called with the table's lock held (object.h), except
 * ur_touch_polls().
 */
#ifndef UR_CHECK_TOUCH_H
#define UR_CHECK_TOUCH_H

#include "check/object.h"

/* Watches the target of a signaled READ or atomic that this thread is about to
 * post. */
void ur_touch_target(const struct ur_watched_qp *qp,
		     const struct ur_request *request);

/* Ends that watch when the completion is polled: reports an earlier read of the
 * target. */
void ur_touch_target_done(const struct ur_watched_qp *qp,
			  const struct ur_request *request);

/* Watches the bytes behind the first @length of a receive whose completion this
 * thread got. */
void ur_touch_rest(const struct ur_watched_qp *qp,
		   const struct ur_request *request, uint32_t length);

/* Ends the watch of ur_touch_rest(), since this thread polls once more: reports a
 * read of these bytes. Without the lock. */
void ur_touch_polls(void);

/* Ends all watches of a queue pair whose requests are gone, or (NULL) of the
 * program. */
void ur_touch_forget(const struct ur_watched_qp *qp);

/* Drops the parent's watches. In the child after fork(). */
void ur_touch_inherited(void);

#endif
