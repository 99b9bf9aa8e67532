// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Decides when posted datagrams stay in their ring, to be sent together. */
#include "engine/core/post_batch.h"

/* Most datagrams that stay: a burst for each of some peers. */
#define MOST 32u
/* Number of followers between two ticks that makes a stream. */
#define STREAM 32u
/* Number of ticks without that after which the stream is over. */
#define STREAM_TICKS 16u
/* How many ticks batching stops if the program does not come back: the first time, and at most. */
#define OFF_TICKS      128u
#define MOST_OFF_TICKS 8192u
/* Up to this average, in eighths of a batch, the thread's sending may be chance. */
#define CHANCE 32u

bool ur_post_batch_stays(struct ur_post_batch *b, bool thread_ticks)
{
	u32 left;

	if (atomic_fetch_add_explicit(&b->since_poll, 1, memory_order_relaxed))
		atomic_fetch_add_explicit(&b->followers, 1,
					  memory_order_relaxed);
	if (!thread_ticks || !ur_post_batch_is_stream(b))
		return false;
	left = atomic_fetch_add_explicit(&b->left, 1, memory_order_relaxed);
	if (!left)
		atomic_fetch_add_explicit(&b->batches, 1, memory_order_relaxed);
	return left + 1 < MOST;
}

/* Updates an average of about eight ticks, in eighths. */
static u32 lately(u32 before, u32 now)
{
	return before - (before + 7) / 8 + 8 * now;
}

static void stop(struct ur_post_batch *b)
{
	b->penalty = b->penalty ? ur_min_u32(2 * b->penalty, MOST_OFF_TICKS)
				: OFF_TICKS;
	b->off = b->penalty;
	b->stream_ticks = b->lately_sent = b->lately_made = 0;
}

void ur_post_batch_tick(struct ur_post_batch *b)
{
	u32 followers =
		atomic_load_explicit(&b->followers, memory_order_relaxed);
	u32 batches = atomic_load_explicit(&b->batches, memory_order_relaxed);

	b->lately_sent = lately(b->lately_sent, b->sent);
	b->lately_made = lately(b->lately_made, batches - b->seen_batches);
	if (b->off)
		b->off--;
	else if (b->lately_sent > CHANCE && 2 * b->lately_sent > b->lately_made)
		stop(b);
	else if (followers - b->seen_followers >= STREAM)
		b->stream_ticks = STREAM_TICKS;
	else if (b->stream_ticks)
		b->stream_ticks--;
	if (b->lately_made <= CHANCE || 16 * b->lately_sent > b->lately_made)
		b->good = 0;
	else if (++b->good >= OFF_TICKS)
		b->penalty = 0;
	b->seen_followers = followers;
	b->seen_batches = batches;
	b->sent = 0;
	atomic_store_explicit(&b->stream, b->stream_ticks != 0,
			      memory_order_relaxed);
}
