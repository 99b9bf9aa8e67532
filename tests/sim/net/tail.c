// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue that ends and marks nothing, as most do: a short message beside bulk, ours or
 * that of senders like CUBIC; and ours beside one of these, which begins with it, or
 * later, when the queue is short since nobody else was there. Goals: the message takes
 * half the time at most, and each of two has a quarter of the line.
 */
#include "tests/sim/net/alien.h"
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define DELAY	    10000u
#define SETTLED	    (1500 * MS)
#define RUN	    (2000 * MS)
#define BULK	    8
#define SHORT	    64u
#define SHORT_FRAME (NET_HEAD_BYTES + 12 + 16 + SHORT) /* BTH, RETH */

struct tail {
	u64 bps;
	u32 kib;
};

/* Hosts 0 and 1 send to host 2. */
static struct net *build(const struct tail *t, u32 flows)
{
	struct net_config cfg = {
		.control = CONTROL_LOSS,
		.cost = 500,
		.turn = 5000,
		.nic_bytes = 64u << 10,
	};
	struct net *n = net_new(&cfg, 3, 1, flows);

	for (u32 i = 0; i < 3; i++) {
		net_join(&n->sw[0], i, &n->host[i].node, 0, i == 2 ? t->bps : 0,
			 DELAY);
		n->host[i].node.port[0].bps = 10 * t->bps;
		n->sw[0].to[i] = (u8)i;
	}
	n->sw[0].sw.buffer = 64u << 20;
	n->sw[0].sw.port_limit = t->kib << 10;
	return n;
}

static void bulk(struct net *n, u32 i)
{
	n->flow[i] = (struct net_flow){
		.from = &n->host[0],
		.to = &n->host[2],
		.opcode = UR_WR_WRITE,
		.bytes = 65536,
		.depth = 8,
		.end = UR_NEVER,
	};
	net_flow_start(&n->flow[i]);
}

static void short_messages(struct net *n, u32 i)
{
	n->flow[i] = (struct net_flow){
		.from = &n->host[0],
		.to = &n->host[2],
		.opcode = UR_WR_WRITE,
		.bytes = SHORT,
		.depth = 1,
		.end = UR_NEVER,
	};
	net_flow_start(&n->flow[i]);
}

/* Returns the mean time of a short message in us; *goodput is that of both. */
static double latency(const struct tail *t, bool ours, double *goodput)
{
	u32 flows = ours ? 1 + BULK : 1;
	struct net *n = build(t, flows);
	struct net_alien alien[BULK] = {0};
	u64 packets = 0, done;

	short_messages(n, 0);
	for (u32 i = 0; i < BULK; i++) {
		if (ours) {
			bulk(n, 1 + i);
			continue;
		}
		alien[i] = (struct net_alien){
			.net = n, .kind = ALIEN_CUBIC, .from = 0, .to = 2};
		net_alien_start(&alien[i]);
	}
	net_run(n, SETTLED);
	for (u32 i = 0; i < BULK; i++)
		packets -= ours ? n->flow[1 + i].packets : alien[i].packets;
	done = n->flow[0].done;
	net_run(n, SETTLED + RUN);
	for (u32 i = 0; i < BULK; i++)
		packets += ours ? n->flow[1 + i].packets : alien[i].packets;
	done = n->flow[0].done - done;
	*goodput = rows_part(packets, t->bps, RUN) +
		   (double)done * SHORT_FRAME * 8e9 /
			   ((double)t->bps * (double)RUN);
	net_free(n);
	return (double)RUN / 1e3 / (double)(done ? done : 1);
}

static bool short_beside(const struct tail *t)
{
	double good, alien_good;
	double us = latency(t, true, &good);
	double alien_us = latency(t, false, &alien_good);
	bool worse = 2 * us > alien_us || good < 0.97;

	printf("tail short mbps=%llu kib=%u us=%.0f cubic_us=%.0f "
	       "goodput=%.3f cubic_goodput=%.3f%s\n",
	       (unsigned long long)t->bps / 1000000, t->kib, us, alien_us, good,
	       alien_good, worse ? "  beyond its bound" : "");
	return worse;
}

/* first: they begin together. */
static bool beside(const struct tail *t, bool first)
{
	struct net *n = build(t, 1);
	struct net_alien alien = {
		.net = n, .kind = ALIEN_CUBIC, .from = 1, .to = 2};
	double ours, theirs;
	u64 packets, alien_packets;
	bool worse;

	bulk(n, 0);
	if (!first)
		net_run(n, 500 * MS);
	net_alien_start(&alien);
	net_run(n, SETTLED);
	packets = n->flow[0].packets;
	alien_packets = alien.packets;
	net_run(n, SETTLED + 2 * RUN);
	ours = rows_part(n->flow[0].packets - packets, t->bps, 2 * RUN);
	theirs = rows_part(alien.packets - alien_packets, t->bps, 2 * RUN);
	worse = ours < 0.25 || theirs < 0.25 || n->flow[0].broken;
	printf("tail beside mbps=%llu kib=%u later=%d ours=%.3f cubic=%.3f%s\n",
	       (unsigned long long)t->bps / 1000000, t->kib, !first, ours,
	       theirs, worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

int rows_tail(void)
{
	static const u32 queues[] = {32, 64, 256};
	bool bad = false;

	for (u32 i = 0; i < 6; i++) {
		struct tail t = {
			.bps = i < 3 ? G / 10 : G,
			.kib = queues[i % 3],
		};

		bad |= short_beside(&t);
		bad |= beside(&t, true);
		bad |= beside(&t, false);
	}
	return bad;
}
