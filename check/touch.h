/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds the program's own reads with the processor's breakpoint registers: of
 * the end of a READ's target before its completion, and of the bytes behind a
 * message that was shorter than its receive. One of each at a time in a thread,
 * for its own reads; none where the kernel has no perf_event_open(2) for us.
 * The program gets no signal.
 *
 * All functions are called with the table's lock held (object.h), but
 * ur_touch_polls().
 */
#ifndef UR_CHECK_TOUCH_H
#define UR_CHECK_TOUCH_H

#include "check/object.h"

/* A signaled READ or atomic is about to be posted: by this thread. */
void ur_touch_target(const struct ur_watched_qp *qp,
		     const struct ur_request *request);

/* It was polled: says whether its target was read before. */
void ur_touch_target_done(const struct ur_watched_qp *qp,
			  const struct ur_request *request);

/* A receive took @length bytes of the request's, and this thread got its
 * completion. */
void ur_touch_rest(const struct ur_watched_qp *qp,
		   const struct ur_request *request, uint32_t length);

/* This thread polls once more: says whether what ur_touch_rest() was given was
 * read. No lock. */
void ur_touch_polls(void);

/* The queue pair has no requests any more, or (NULL) the program ends. */
void ur_touch_forget(const struct ur_watched_qp *qp);

/* After fork(), in the child. */
void ur_touch_inherited(void);

#endif
