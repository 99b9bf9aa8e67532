// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lines and switches. */
#include <stdlib.h>
#include "tests/sim/net/net.h"

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

static void start_line(struct net_port *port)
{
	struct net *n = port->node->net;
	struct net_frame *f = port->head;
	ur_time ns;

	if (port->busy || !f)
		return;
	port->head = f->next;
	if (!port->head)
		port->tail = NULL;
	port->queued -= f->bytes;
	port->passed += f->bytes;
	if (!port->node->host)
		net_switch_left(port->node, f);
	else if (port->queued <= n->cfg.nic_bytes / 2)
		net_host_wake(port->node->host, n->now);
	ns = port->bps ? f->bytes * 8ull * 1000000000ull / port->bps : 0;
	port->busy = true;
	sim_event_add(&n->events, n->now + ns, line_idle, port, 0);
	sim_event_add(&n->events, n->now + ns + port->delay, arrive, port->peer,
		      (uintptr_t)f);
}

void net_send(struct net_port *port, struct net_frame *f)
{
	f->next = NULL;
	if (port->tail)
		port->tail->next = f;
	else
		port->head = f;
	port->tail = f;
	port->queued += f->bytes;
	start_line(port);
}

/* ---- the switch ---- */

void net_switch_rx(struct net_port *port, struct net_frame *f)
{
	struct net_node *node = port->node;
	struct net_switch *sw = &node->sw;
	struct net_port *out = &node->port[node->to[f->dst]];

	if (sw->used + f->bytes > sw->buffer ||
	    (sw->port_limit && out->queued + f->bytes > sw->port_limit)) {
		out->dropped++;
		free(f);
		return;
	}
	sw->used += f->bytes;
	net_send(out, f);
}

void net_switch_left(struct net_node *node, struct net_frame *f)
{
	node->sw.used -= f->bytes;
}
