// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One host sends to another over a line with a queue for each flow (fair.c): nothing is
 * lost, so nothing is to be sent again, also where the host that answers stops now and
 * then, as one does whose processors have other work. Goals: 0.95 of the line, one packet
 * in 300 sent again, Jain's index 0.9, less than 400 KiB that wait, bursts of 16; and a short
 * message goes twice while eight others send a packet each, which keep 300 KiB waiting at the most.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define BPS	  (G / 10)
#define DELAY	  (50 * US)
#define RUN	  (3000 * MS)
#define EVERY	  (97 * MS)
#define SHARE	  300
#define SHORT_US  500 /* 221 where nothing else is sent */
#define BURST	  16
#define WAIT_KIB  400
#define SHORT_KIB 300

static void stop_host(struct sim_world *w, void *arg, u64 ns)
{
	struct net_host *h = arg;
	struct net *n = h->node.net;

	(void)w;
	h->free_at = n->now + ns;
	sim_event_add(&n->events, n->now + EVERY, stop_host, h, ns);
}

static u64 sent_again(const struct net *n)
{
	const u64 *c = ur_port_counters(n->host[0].port);

	return c[UR_CNT_completer_retry_err];
}

/* Hosts 0 and 1, whose line to host 1 has those queues. */
static struct net *build(u32 flows)
{
	struct net_config cfg = rows_software(CONTROL_PATH, BPS);
	struct net *n;

	cfg.own_ports = true;
	n = net_new(&cfg, 2, 1, flows);
	for (u32 i = 0; i < 2; i++) {
		net_join(&n->sw[0], i, &n->host[i].node, 0, i ? BPS : 0, DELAY);
		n->host[i].node.port[0].bps = 10 * G;
		n->sw[0].to[i] = (u8)i;
	}
	n->sw[0].sw.buffer = 64u << 20;
	n->sw[0].sw.fair = true;
	return n;
}

static bool run(u32 flows, ur_time stop)
{
	struct net *n = build(flows);
	u64 again, packets;
	double goodput, jain;
	u64 kib;
	u32 burst;
	bool worse;

	for (u32 i = 0; i < flows; i++)
		rows_flow(n, i, 0, 1, 0, UR_NEVER)->depth = 8;
	if (stop)
		sim_event_add(&n->events, EVERY, stop_host, &n->host[1], stop);
	net_run(n, RUN);
	packets = net_packets(n);
	again = sent_again(n);
	goodput = rows_part(packets, BPS, RUN);
	jain = net_jain(n);
	burst = net_host_burst(&n->host[0]);
	kib = n->sw[0].port[1].queued_most >> 10;
	worse = goodput < 0.95 || jain < 0.9 || again > packets / SHARE ||
		burst > BURST || kib > WAIT_KIB || net_dropped(n) ||
		net_broken(n);
	printf("cake flows=%u stop_ms=%llu goodput=%.3f again=%llu "
	       "queue_kib=%llu marked=%llu jain=%.3f burst=%u%s\n",
	       flows, (unsigned long long)(stop / MS), goodput,
	       (unsigned long long)again, (unsigned long long)kib,
	       (unsigned long long)n->sw[0].port[1].marked, jain, burst,
	       worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

/* A message of 64 B, one after the other, beside bulk of the same host. */
static bool short_beside(u32 flows)
{
	struct net *n = build(flows + 1);
	double us, goodput;
	u64 packets, kib;
	u32 done;
	bool worse;

	n->flow[flows] = (struct net_flow){
		.from = &n->host[0],
		.to = &n->host[1],
		.opcode = UR_WR_WRITE,
		.bytes = 64,
		.depth = 1,
		.end = UR_NEVER,
	};
	net_flow_start(&n->flow[flows]);
	for (u32 i = 0; i < flows; i++)
		rows_flow(n, i, 0, 1, 0, UR_NEVER)->depth = 8;
	net_run(n, RUN / 3);
	done = n->flow[flows].done;
	packets = net_packets(n) - n->flow[flows].packets;
	net_run(n, RUN);
	done = n->flow[flows].done - done;
	packets = net_packets(n) - n->flow[flows].packets - packets;
	us = (double)(RUN - RUN / 3) / 1e3 / (done ? done : 1);
	goodput = rows_part(packets, BPS, RUN - RUN / 3);
	kib = n->sw[0].port[1].queued_most >> 10;
	worse = us > SHORT_US || goodput < 0.9 || kib > SHORT_KIB ||
		net_broken(n);
	printf("cake short beside=%u us=%.0f goodput=%.3f queue_kib=%llu%s\n",
	       flows, us, goodput, (unsigned long long)kib,
	       worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

int rows_cake(void)
{
	static const u32 flows[] = {1, 8, 32};
	static const ur_time stops[] = {0, 2 * MS, 5 * MS, 10 * MS};
	bool bad = false;

	for (u32 i = 0; i < 12; i++)
		bad |= run(flows[i % 3], stops[i / 3]);
	bad |= short_beside(8);
	return bad;
}
