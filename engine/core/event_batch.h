/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Completion events that leave together. Each event wakes a program that sleeps, and that takes
 * the processor from the thread which sends them: the program would find one event, sleep again,
 * and be woken by the next, two switches between threads for each. So the program that the first
 * one has woken sends the rest of them, to itself, when it arms its queue again
 * (ur_engine_armed()), and finds all of them at once.
 *
 * The owner of the engine fills a batch and waits until all of it has been sent, by whomever:
 * queues and channels stay meanwhile. Other threads only help, and take no lock.
 */
#ifndef UR_ENGINE_CORE_EVENT_BATCH_H
#define UR_ENGINE_CORE_EVENT_BATCH_H

#include <stdatomic.h>
#include "util/bytes.h"

#define UR_EVENT_BATCH 64u

struct ur_event_batch {
	/* From the highest bit: a count of batches, 8 bits of how many events there are, 8 of
	 * how many of them somebody has taken to send. */
	_Atomic u64 word;
	_Atomic u32 done; /* of this batch; whoever has sent one counts it */
	u32 n;		  /* put so far; the owner's */
	struct ur_batched_event {
		void *about; /* the owner's */
		u64 element; /* what is sent */
		int fd;
		bool sent; /* there was room */
	} event[UR_EVENT_BATCH];
};

/* Puts an event into the batch, which has room for it. Owner. */
void ur_event_batch_put(struct ur_event_batch *batch, int fd, u64 element,
			void *about);
/* Sends what was put, once, where there is room. Returns how many there were: they are in
 * batch->event until the next is put. Owner. */
u32 ur_event_batch_send(struct ur_event_batch *batch);
/* Sends what is left of a batch that the owner is sending. Any thread of the program; changes
 * errno; no cancellation point. */
void ur_event_batch_help(struct ur_event_batch *batch);

#endif
