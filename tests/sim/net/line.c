// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lines: the queues at their ends, the time that a frame takes, pauses. */
#include "tests/sim/net/net.h"
#include <stdlib.h>

#define PAUSE_BYTES 64u

void net_join(struct net_node *a, u32 pa, struct net_node *b, u32 pb, u64 bps,
	      ur_time delay)
{
	struct net_port *p = &a->port[pa], *q = &b->port[pb];

	*p = (struct net_port){
		.node = a, .peer = q, .bps = bps, .delay = delay};
	*q = (struct net_port){
		.node = b, .peer = p, .bps = bps, .delay = delay};
	if (a->n_ports <= pa)
		a->n_ports = pa + 1;
	if (b->n_ports <= pb)
		b->n_ports = pb + 1;
}

static ur_time line_time(const struct net_port *port, u32 bytes)
{
	return port->bps ? bytes * 8ull * 1000000000ull / port->bps : 0;
}

static void arrive(struct sim_world *w, void *arg, u64 n)
{
	struct net_port *to = arg;
	struct net_frame *f = (struct net_frame *)(uintptr_t)n;

	(void)w;
	if (to->node->host)
		net_host_rx(to->node->host, f);
	else
		net_switch_rx(to, f);
}

void net_line_drop(const struct sim_event *e)
{
	if (e->run == arrive)
		free((void *)(uintptr_t)e->n);
}

static void start_line(struct net_port *port);

static void line_idle(struct sim_world *w, void *arg, u64 n)
{
	struct net_port *port = arg;

	(void)w, (void)n;
	port->busy = false;
	start_line(port);
}

/* Takes the frame of the highest priority that may send. */
static struct net_frame *take(struct net_port *port)
{
	for (u32 prio = NET_PRIOS; prio-- > 0;) {
		struct net_queue *q = &port->queue[prio];
		struct net_frame *f = q->head;

		if (!f || q->paused)
			continue;
		q->head = f->next;
		if (!q->head)
			q->tail = NULL;
		q->bytes -= f->bytes;
		return f;
	}
	return NULL;
}

static void start_line(struct net_port *port)
{
	struct net *n = port->node->net;
	struct net_frame *f;
	ur_time ns;

	if (port->busy || !port->queued)
		return;
	f = take(port);
	if (!f)
		return;
	port->queued -= f->bytes;
	port->passed += f->bytes;
	if (port->fair)
		net_fair_left(port, f);
	if (!port->node->host)
		net_switch_left(port->node, f);
	else if (port->queued <= n->cfg.nic_bytes / 2)
		net_host_wake(port->node->host, n->now);
	ns = line_time(port, f->bytes);
	port->busy = true;
	sim_event_add(&n->events, n->now + ns, line_idle, port, 0);
	sim_event_add(&n->events, n->now + ns + port->delay, arrive, port->peer,
		      (uintptr_t)f);
}

static void put_last(struct net_queue *q, struct net_frame *f)
{
	f->next = NULL;
	if (q->tail)
		q->tail->next = f;
	else
		q->head = f;
	q->tail = f;
}

void net_send(struct net_port *port, struct net_frame *f)
{
	struct net_queue *q = &port->queue[f->prio];

	if (port->node->sw.fair)
		net_fair_put(port, q, f);
	else
		put_last(q, f);
	q->bytes += f->bytes;
	port->queued += f->bytes;
	if (port->queued > port->queued_most)
		port->queued_most = port->queued;
	start_line(port);
}

static void paused(struct sim_world *w, void *arg, u64 n)
{
	struct net_port *port = arg;
	bool on = n >= NET_PRIOS;

	(void)w;
	port->queue[n % NET_PRIOS].paused = on;
	port->pauses += on;
	start_line(port);
}

/* It goes before all that waits, is never lost, and holds until taken back. */
void net_pause(struct net_port *port, u32 prio, bool on)
{
	struct net *n = port->node->net;

	sim_event_add(&n->events,
		      n->now + line_time(port, PAUSE_BYTES) + port->delay,
		      paused, port->peer, prio + (on ? NET_PRIOS : 0));
}
