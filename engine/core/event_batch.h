/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Completion events that are sent together. An event wakes a sleeping program, which then takes the
 * processor from the sending thread. It would find one event, sleep again, and be woken by the next:
 * two thread switches for each event. So a program that the first event has woken sends the other
 * events to itself when it arms its queue again (ur_engine_armed()), and finds all of them at once.
 *
 * The owner of the engine fills a batch, and waits until all events were sent, by any thread. Queues
 * and channels stay meanwhile. Helping threads take no lock.
 */
#ifndef UR_ENGINE_CORE_EVENT_BATCH_H
#define UR_ENGINE_CORE_EVENT_BATCH_H

#include <stdatomic.h>
#include "util/bytes.h"

#define UR_EVENT_BATCH 64u

struct ur_event_batch {
	/* From the highest bit: number of the batch, 8 bits: events in the batch, 8 bits: events
	 * that some thread has claimed to send. */
	_Atomic u64 word;
	_Atomic u32 done; /* events of this batch sent so far, by any thread */
	u32 n;		  /* events put so far; the owner's */
	struct ur_batched_event {
		void *about; /* the owner's */
		u64 element; /* the datagram */
		int fd;
		bool sent; /* false: the socket had no room */
	} event[UR_EVENT_BATCH];
};

/* Adds an event to the batch, which must have room. Owner. */
void ur_event_batch_put(struct ur_event_batch *batch, int fd, u64 element,
			void *about);
/* Tries to send each event of the batch once, and waits until all were tried. Returns their number:
 * they stay in batch->event until the next put. Owner. */
u32 ur_event_batch_send(struct ur_event_batch *batch);
/* Helps to send the batch that the owner is sending. Any thread of the program. Changes errno. Not a
 * cancellation point. */
void ur_event_batch_help(struct ur_event_batch *batch);

#endif
