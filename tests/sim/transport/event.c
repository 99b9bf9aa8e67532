// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/sim/transport/event.h"

#include <stdlib.h>

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

void sim_event_add(struct sim_events *q, ur_time at, sim_event_fn *run,
		   void *arg, u64 n)
{
	struct sim_event e = {at, q->seq++, run, arg, n};
	u32 i;

	if (q->count == q->room) {
		q->room = q->room ? 2 * q->room : 256;
		q->heap = realloc(q->heap, q->room * sizeof(*q->heap));
		if (!q->heap)
			abort();
	}
	for (i = q->count++; i && before(&e, &q->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = e;
}

bool sim_event_pop(struct sim_events *q, struct sim_event *ret)
{
	struct sim_event last;
	u32 i, child;

	if (!q->count)
		return false;
	*ret = q->heap[0];
	last = q->heap[--q->count];
	for (i = 0; (child = 2 * i + 1) < q->count; i = child) {
		if (child + 1 < q->count &&
		    before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!before(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
	}
	q->heap[i] = last;
	return true;
}

void sim_event_fini(struct sim_events *q)
{
	free(q->heap);
	*q = (struct sim_events){0};
}
