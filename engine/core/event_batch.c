// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A batch of completion events. A thread claims an event by incrementing the word. The word contains
 * the number of the batch, so that a thread which was preempted cannot claim an event of a later
 * batch by mistake.
 */
#include "engine/core/event_batch.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/assert.h"

#define COUNT_BITS 8u
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

_Static_assert(UR_EVENT_BATCH <= COUNT_MASK, "a count of events fits");

/* Claims an event for the caller to send. Returns NULL if none is left. */
static struct ur_batched_event *claim(struct ur_event_batch *b)
{
	u64 word = atomic_load(&b->word);
	u32 taken;

	do {
		taken = word & COUNT_MASK;
		if (taken == (word >> COUNT_BITS & COUNT_MASK))
			return NULL;
	} while (!atomic_compare_exchange_weak(&b->word, &word, word + 1));
	return &b->event[taken];
}

void ur_event_batch_help(struct ur_event_batch *b)
{
	struct ur_batched_event *e;

	while ((e = claim(b))) {
		/* Not send(): it is a cancellation point, and a cancelled thread would leave the owner
		 * waiting. */
		e->sent = syscall(SYS_sendto, e->fd, &e->element,
				  sizeof(e->element),
				  MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) >= 0;
		atomic_fetch_add(&b->done, 1);
	}
}

void ur_event_batch_put(struct ur_event_batch *b, int fd, u64 element,
			void *about)
{
	ur_assert(b->n < UR_EVENT_BATCH);
	b->event[b->n++] = (struct ur_batched_event){
		.about = about, .element = element, .fd = fd};
}

static void publish(struct ur_event_batch *b)
{
	u64 number = (atomic_load(&b->word) >> 2 * COUNT_BITS) + 1;

	atomic_store(&b->done, 0);
	atomic_store(&b->word,
		     number << 2 * COUNT_BITS | (u64)b->n << COUNT_BITS);
}

u32 ur_event_batch_send(struct ur_event_batch *b)
{
	u32 n = b->n;

	publish(b);
	ur_event_batch_help(b);
	/* Other threads are sending the events that they claimed. */
	while (atomic_load(&b->done) != n)
		sched_yield();
	b->n = 0;
	return n;
}
