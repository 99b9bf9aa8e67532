/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Datagrams that a program posts one by one, and that its engine sends together. A system call to
 * send takes microseconds, and adjacent datagrams to one peer can share it. A reliable connection
 * makes such bursts of long messages; middleware that makes datagrams reliable by itself posts packet
 * after packet. So a datagram may stay in its ring until the program polls in vain, or until there are
 * enough for a burst.
 *
 * A packet must not wait for a program that does not come back to poll. So datagrams stay only in a
 * stream: many were posted of late without a poll in vain between them. During a stream the engine's
 * thread wakes twice as often, and sends the datagrams that stay. If it sends half of the batches,
 * batching stops for a time, which doubles with each stop.
 */
#ifndef UR_ENGINE_CORE_POST_BATCH_H
#define UR_ENGINE_CORE_POST_BATCH_H

#include <stdatomic.h>
#include "util/bytes.h"

struct ur_post_batch {
	_Atomic u32 since_poll; /* datagrams since the last poll in vain */
	_Atomic u32
		followers; /* datagrams posted, except the first one after each such poll */
	_Atomic u32 left;    /* datagrams that stay now */
	_Atomic u32 batches; /* batches begun */
	_Atomic bool stream;
	/* The thread's: */
	u32 seen_followers, seen_batches;
	u32 sent; /* batches that the thread sent since the last tick */
	u32 lately_sent, lately_made; /* averages, in eighths of a batch */
	u32 stream_ticks;	      /* ticks until the stream is over */
	u32 off;		      /* ticks until datagrams may stay again */
	u32 penalty;		      /* "off" at the last stop */
	u32 good; /* ticks in a row at which the program had sent nearly all itself */
};

/* Counts a posted datagram. thread_ticks: the engine's thread calls ur_post_batch_tick() regularly. Returns
 * whether the datagram stays in its ring. Any thread. */
bool ur_post_batch_stays(struct ur_post_batch *batch, bool thread_ticks);
/* Records that all posted datagrams are about to be sent. Under the owner lock. */
static inline void ur_post_batch_sent(struct ur_post_batch *batch)
{
	atomic_store_explicit(&batch->left, 0, memory_order_relaxed);
}
/* Records that a thread of the program polled in vain. */
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
/* Decides whether datagrams may stay. The engine's thread, once a millisecond while it naps. */
void ur_post_batch_tick(struct ur_post_batch *batch);

#endif
