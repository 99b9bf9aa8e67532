// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The network as a whole: its making, its clock, what its flows have got. */
#include "tests/sim/net/net.h"
#include "tests/check.h"
#include <stdlib.h>

#define LOOK_NS 200000u

struct net *net_new(const struct net_config *cfg, u32 hosts, u32 switches,
		    u32 flows)
{
	struct net *n = calloc(1, sizeof(*n));

	CHECK(n && hosts <= NET_MAX_HOSTS && switches <= NET_MAX_SWITCHES);
	n->cfg = *cfg;
	n->n_hosts = hosts;
	n->n_flows = flows;
	n->flow = calloc(flows, sizeof(*n->flow));
	n->n_switches = switches;
	n->random = cfg->seed ? cfg->seed : 1;
	for (u32 i = 0; i < switches; i++)
		n->sw[i].net = n;
	CHECK(n->flow);
	for (u32 i = 0; i < hosts; i++)
		net_host_start(n, i);
	return n;
}

static void drop_queue(struct net_queue *q)
{
	for (struct net_frame *f = q->head, *next; f; f = next) {
		next = f->next;
		free(f);
	}
}

static void drop_queues(struct net_node *node)
{
	for (u32 i = 0; i < node->n_ports; i++) {
		for (u32 prio = 0; prio < NET_PRIOS; prio++)
			drop_queue(&node->port[i].queue[prio]);
		free(node->port[i].fair);
	}
}

void net_free(struct net *n)
{
	struct sim_event e;

	for (u32 i = 0; i < n->n_flows; i++) {
		ur_qp_destroy(n->flow[i].qp);
		ur_qp_destroy(n->flow[i].back);
	}
	/* Frames on a line are known to their event alone. */
	while (sim_event_pop(&n->events, &e))
		net_line_drop(&e);
	for (u32 i = 0; i < n->n_hosts; i++) {
		drop_queues(&n->host[i].node);
		net_host_stop(&n->host[i]);
	}
	for (u32 i = 0; i < n->n_switches; i++)
		drop_queues(&n->sw[i]);
	sim_event_fini(&n->events);
	free(n->flow);
	free(n);
}

static void look(struct net *n)
{
	for (u32 i = 0; i < n->n_flows; i++) {
		struct net_flow *f = &n->flow[i];

		f->packets += ur_psn_sub(f->qp->req.una, f->una);
		f->una = f->qp->req.una;
	}
}

void net_run(struct net *n, ur_time end)
{
	ur_time looked = n->now;
	struct sim_event e;

	while (n->events.count && n->events.heap[0].at <= end) {
		sim_event_pop(&n->events, &e);
		n->now = e.at;
		e.run(NULL, e.arg, e.n);
		if (n->now - looked >= LOOK_NS) {
			look(n);
			looked = n->now;
		}
	}
	n->now = end;
	look(n);
}

double net_jain_of(const u64 *got, u32 count)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < count; i++) {
		double x = (double)got[i];

		sum += x;
		squares += x * x;
	}
	return squares ? sum * sum / (count * squares) : 0;
}

double net_jain(const struct net *n)
{
	u64 *got = malloc(n->n_flows * sizeof(*got));
	double jain;

	CHECK(got);
	for (u32 i = 0; i < n->n_flows; i++)
		got[i] = n->flow[i].packets;
	jain = net_jain_of(got, n->n_flows);
	free(got);
	return jain;
}

u64 net_packets(const struct net *n)
{
	u64 sum = 0;

	for (u32 i = 0; i < n->n_flows; i++)
		sum += n->flow[i].packets;
	return sum;
}

u32 net_broken(const struct net *n)
{
	u32 sum = 0;

	for (u32 i = 0; i < n->n_flows; i++)
		sum += n->flow[i].broken;
	return sum;
}

/* Over all ports of all switches, of the counter at off in each. */
static u64 sum_of(const struct net *n, size_t off)
{
	u64 sum = 0;

	for (u32 i = 0; i < n->n_switches; i++)
		for (u32 p = 0; p < n->sw[i].n_ports; p++)
			sum += *(const u64 *)((const u8 *)&n->sw[i].port[p] +
					      off);
	return sum;
}

u64 net_dropped(const struct net *n)
{
	return sum_of(n, offsetof(struct net_port, dropped));
}

u64 net_held(const struct net *n)
{
	return sum_of(n, offsetof(struct net_port, queued));
}

u64 net_passed(const struct net *n)
{
	return sum_of(n, offsetof(struct net_port, passed));
}
