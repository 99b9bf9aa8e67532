// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Senders like DCTCP and CUBIC: each packet is answered, and one that is overtaken is
 * lost, for the network reorders nothing. */
#include "tests/sim/net/alien.h"
#include "tests/check.h"
#include <stdlib.h>

#define FIRST	  10.0
#define LEAST	  2.0
#define ACK_BYTES 64u
#define TIMEOUT	  10000000u /* ns: nothing was answered */
#define GAIN	  (1.0 / 16)
#define BETA	  0.7				/* RFC 9438, 4.6 */
#define FRIENDLY  (3 * (1 - BETA) / (1 + BETA)) /* 4.3 */

static void put(struct net_alien *a, bool answer, u64 seq, bool marked)
{
	struct net_frame *f = calloc(1, sizeof(*f));

	CHECK(f);
	f->alien = a;
	f->alien_answer = answer;
	f->alien_marked = marked;
	f->alien_seq = seq;
	f->src = answer ? a->to : a->from;
	f->dst = answer ? a->from : a->to;
	f->bytes = answer ? ACK_BYTES : NET_FRAME_BYTES;
	f->tos = answer ? 0 : 2; /* ECT(0) */
	net_send(&a->net->host[f->src].node.port[0], f);
}

static void transmit(struct net_alien *a)
{
	while (a->next - a->una < (u64)a->cwnd)
		put(a, false, a->next++, false);
}

static void look(struct sim_world *w, void *arg, u64 n)
{
	struct net_alien *a = arg;
	ur_time at = a->net->now + TIMEOUT;

	(void)w, (void)n;
	if (a->una == a->looked && a->next != a->una) {
		a->una = a->next;
		a->cwnd = LEAST;
		transmit(a);
	}
	a->looked = a->una;
	sim_event_add(&a->net->events, at, look, a, 0);
}

void net_alien_start(struct net_alien *a)
{
	a->cwnd = FIRST;
	a->alpha = 1;
	a->slow_start = true;
	transmit(a);
	sim_event_add(&a->net->events, a->net->now + TIMEOUT, look, a, 0);
}

static void cut(struct net_alien *a, double factor)
{
	a->cwnd *= factor;
	if (a->cwnd < LEAST)
		a->cwnd = LEAST;
	a->slow_start = false;
	a->cut_end = a->next;
}

static void end_round(struct net_alien *a, u64 seq)
{
	if (seq < a->round_end)
		return;
	a->alpha += GAIN * ((double)a->marked / (double)a->heard - a->alpha);
	a->heard = a->marked = 0;
	a->round_end = a->next;
}

static void answered(struct net_alien *a, u64 seq, bool marked)
{
	bool lost = seq > a->una, dctcp = a->kind == ALIEN_DCTCP;

	if (seq < a->una)
		return;
	a->una = seq + 1;
	a->packets++;
	a->heard++;
	a->marked += marked;
	end_round(a, seq);
	if ((lost || marked) && seq >= a->cut_end)
		cut(a, !dctcp ? BETA : lost ? 0.5 : 1 - a->alpha / 2);
	else if (!marked)
		a->cwnd += a->slow_start ? 1 : (dctcp ? 1 : FRIENDLY) / a->cwnd;
	transmit(a);
}

void net_alien_rx(struct net_frame *f)
{
	struct net_alien *a = f->alien;
	bool marked = f->alien_answer ? f->alien_marked : (f->tos & 3) == 3;

	if (f->alien_answer)
		answered(a, f->alien_seq, marked);
	else
		put(a, true, f->alien_seq, marked);
	free(f);
}
