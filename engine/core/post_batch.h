/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Datagrams that a program posts one by one, and that its engine sends together. Each send has
 * a way through the kernel to pay for, microseconds, and neighbours that go to the same peer
 * share one. A reliable connection makes such bursts of long messages; middleware that makes
 * datagrams reliable by itself posts packet after packet. So a datagram may stay in its ring until
 * the program polls in vain, or as many stay as make a burst.
 *
 * No packet is to wait for a program that does not come back to poll. So datagrams stay only
 * in a stream: where many have been posted of late with no poll in vain before them. Meanwhile the engine's
 * thread looks twice as often, and sends what has stayed. Where it finds that it
 * does so for half of what stays, nothing stays for a time, the next time for twice as long.
 */
#ifndef UR_ENGINE_CORE_POST_BATCH_H
#define UR_ENGINE_CORE_POST_BATCH_H

#include <stdatomic.h>
#include "util/bytes.h"

struct ur_post_batch {
	_Atomic u32 since_poll; /* datagrams */
	_Atomic u32 followers;	/* not the first since a poll in vain */
	_Atomic u32 left;	/* that stay now */
	_Atomic u32 batches;	/* that stayed */
	_Atomic bool stream;
	/* The thread's: */
	u32 seen_followers, seen_batches;
	u32 sent;		      /* batches, since the last look */
	u32 lately_sent, lately_made; /* eighths of batches */
	u32 looks;		      /* until the stream is over */
	u32 off;     /* looks, until something may stay again */
	u32 penalty; /* so many the last time */
	u32 good; /* looks in a row at which the program had sent nearly all itself */
};

/* The program has posted a datagram. looked_after: the thread looks regularly. Returns
 * whether the datagram stays. Any thread. */
bool ur_post_batch_stays(struct ur_post_batch *batch, bool looked_after);
/* All that was posted is about to be sent. Under the owner lock. */
static inline void ur_post_batch_sent(struct ur_post_batch *batch)
{
	atomic_store_explicit(&batch->left, 0, memory_order_relaxed);
}
/* A thread of the program polls in vain. */
static inline void ur_post_batch_polled(struct ur_post_batch *batch)
{
	atomic_store_explicit(&batch->since_poll, 0, memory_order_relaxed);
}
static inline bool ur_post_batch_is_left(const struct ur_post_batch *batch)
{
	return atomic_load_explicit(&batch->left, memory_order_relaxed);
}
static inline bool ur_post_batch_is_stream(const struct ur_post_batch *batch)
{
	return atomic_load_explicit(&batch->stream, memory_order_relaxed);
}
/* The engine's thread, once a millisecond while it naps: decides whether datagrams may stay. */
void ur_post_batch_look(struct ur_post_batch *batch);

#endif
