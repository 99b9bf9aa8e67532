// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue for each flow, as FQ-CoDel and cake have them: flows get equal bytes, and in
 * each of them CoDel (RFC 8289) marks a frame now and then where frames have waited for
 * 5 ms without a break of 100.
 *
 * Start-time fair queueing: a frame's tag is where its flow would be if each sent a byte
 * in turn, and what has the least tag goes first. Before all others goes the only frame of a
 * flow that has had no QUANTUM more than its part.
 */
#include "tests/check.h"
#include "tests/sim/net/net.h"
#include <stdlib.h>

#define FLOWS	    512
#define QUANTUM	    1514u
#define TARGET_NS   5000000u
#define INTERVAL_NS 100000000u

struct fair_flow {
	u32 src;
	u16 sport;
	u32 queued; /* frames */
	u64 tag;    /* of its next frame */
	ur_time above_at, next_at;
	u32 marks;
	bool marking;
};

struct net_fair {
	u64 now; /* the tag of the frame that left last */
	u32 count;
	struct fair_flow flow[FLOWS];
};

static struct fair_flow *flow_of(struct net_fair *fair,
				 const struct net_frame *f)
{
	struct fair_flow *flow = fair->flow;

	for (u32 i = 0; i < fair->count; i++, flow++)
		if (flow->src == f->src && flow->sport == f->sport)
			return flow;
	CHECK(fair->count < FLOWS);
	fair->count++;
	*flow = (struct fair_flow){.src = f->src, .sport = f->sport};
	return flow;
}

void net_fair_put(struct net_port *port, struct net_queue *q,
		  struct net_frame *f)
{
	struct net_frame **at = &q->head;
	struct fair_flow *flow;
	bool first;

	if (!port->fair)
		port->fair = calloc(1, sizeof(*port->fair));
	CHECK(port->fair);
	flow = flow_of(port->fair, f);
	first = !flow->queued++ && flow->tag < port->fair->now + QUANTUM;
	if (flow->tag < port->fair->now)
		flow->tag = port->fair->now;
	f->tag = first ? port->fair->now : flow->tag;
	flow->tag += f->bytes;
	f->put_at = port->node->net->now;
	while (*at && (*at)->tag < f->tag + !first)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	if (!f->next)
		q->tail = f;
}

static u32 root(u32 x)
{
	u32 r = 1;

	while ((r + 1) * (r + 1) <= x)
		r++;
	return r;
}

/* Is that frame to be marked, which has waited so long? */
static bool marks(struct fair_flow *flow, ur_time now, ur_time waited)
{
	if (waited < TARGET_NS) {
		flow->above_at = 0;
		flow->marking = false;
		return false;
	}
	if (!flow->above_at)
		flow->above_at = now + INTERVAL_NS;
	if (now < (flow->marking ? flow->next_at : flow->above_at))
		return false;
	flow->marks = flow->marking ? flow->marks + 1 : 1;
	flow->marking = true;
	flow->next_at = now + INTERVAL_NS / root(flow->marks);
	return true;
}

void net_fair_left(struct net_port *port, struct net_frame *f)
{
	ur_time now = port->node->net->now;

	struct fair_flow *flow = flow_of(port->fair, f);

	flow->queued--;
	port->fair->now = f->tag;
	if (marks(flow, now, now - f->put_at) && (f->tos & 3)) {
		f->tos |= 3;
		port->marked++;
	}
}
