// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flows: programs that never run out of work, and their queue pairs. */
#include "tests/check.h"
#include "tests/qp_walk.h"
#include "tests/sim/net/net.h"
#include "tests/transport_host.h"
#include "transport/sport.h"

/* ---- what the transport asks ---- */

static int sq_next(void *ctx, struct ur_send_wr *wr)
{
	struct net_flow *f = ctx;

	if (!f) /* the responder's */
		return 0;
	f->starved = f->broken || f->taken - f->done >= f->depth ||
		     f->from->node.net->now >= f->end;
	if (f->starved)
		return 0;
	memset(wr, 0, offsetof(struct ur_send_wr, sge));
	wr->wqe_counter = f->taken++;
	wr->ring_end = f->taken;
	wr->opcode = f->opcode;
	wr->flags = UR_WR_F_SIGNALED;
	wr->num_sge = 1;
	wr->raddr = NET_IOVA;
	wr->rkey = ur_mr_key(f->to->mr);
	wr->sge[0].addr = NET_IOVA;
	wr->sge[0].length = f->bytes;
	wr->sge[0].lkey = ur_mr_key(f->from->mr);
	return 1;
}

static int cq_push(void *ctx, const struct ur_wc *wc)
{
	struct net_flow *f = ctx;

	if (wc->status)
		f->broken = true;
	f->done++;
	return 0;
}

const struct ur_host_ops net_flow_ops = IDLE_HOST(sq_next, cq_push);

void net_flow_kick(struct net_host *h)
{
	struct net *n = h->node.net;

	for (u32 i = 0; i < n->n_flows; i++) {
		struct net_flow *f = &n->flow[i];

		if (f->from != h || !f->starved || n->now >= f->end ||
		    f->taken - f->done >= f->depth)
			continue;
		f->starved = false;
		ur_qp_kick(f->qp);
	}
}

/* ---- flows ---- */

static struct ur_qp *make_qp(struct net_host *h, struct net_flow *f)
{
	struct ur_qp_init init = qp_init_of(UR_QPT_RC, 1, f);
	struct ur_qp *qp;

	CHECK_EQ(ur_qp_create(h->port, &init, &qp), 0);
	return qp;
}

static void join(struct ur_qp *qp, struct ur_qp *to, struct ur_av *av,
		 ur_time now)
{
	struct ur_qp_attr a = qp_attr_to(ur_qp_number(to), av);

	a.path_mtu = NET_MTU;
	CHECK_EQ(qp_walk_to(qp, now, &a, UR_QP_RTS), 0);
}

static void begin(struct sim_world *w, void *arg, u64 n)
{
	struct net_flow *f = arg;

	(void)w, (void)n;
	ur_qp_kick(f->qp);
	net_host_wake(f->from, f->from->node.net->now);
}

static struct ur_av *choose_av(struct net_flow *f, struct ur_av *own,
			       struct net_host *from, struct net_host *to)
{
	bool back = from == f->to;
	u32 lqpn = ur_qp_number(back ? f->back : f->qp);
	u32 rqpn = ur_qp_number(back ? f->qp : f->back);

	if (!from->node.net->cfg.own_ports)
		return &from->av[to->index];
	*own = from->av[to->index];
	own->sl = f->sl;
	own->flow_label = f->label;
	own->udp_sport = ur_udp_sport(f->label, lqpn, rqpn);
	return own;
}

void net_flow_start(struct net_flow *f)
{
	struct net *n = f->from->node.net;

	f->qp = make_qp(f->from, f);
	f->back = make_qp(f->to, NULL);
	join(f->qp, f->back, choose_av(f, &f->av, f->from, f->to), 0);
	join(f->back, f->qp, choose_av(f, &f->back_av, f->to, f->from), 0);
	f->una = f->qp->req.una;
	sim_event_add(&n->events, f->start, begin, f, 0);
}
