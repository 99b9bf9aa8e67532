// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/sim/transport/endpoint.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/qp_walk.h"
#include "tests/sim/transport/faults.h"
#include "tests/sim/transport/oracle.h"
#include "tests/sim/transport/workload.h"

#define REMOTE_FLAGS                                       \
	(UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |  \
	 UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC | \
	 UR_ACCESS_FLUSH_GLOBAL | UR_ACCESS_FLUSH_PERSISTENT)

const char *endpoint_name(const struct sim_qp *qp)
{
	static char name[4][48];
	static u32 turn;
	char *s = name[turn++ % 4];

	snprintf(s, sizeof(name[0]), "host %u qp %u type %d", qp->host->index,
		 qp->qpn, qp->type);
	return s;
}

/* ------------------------------------------------------------------ */
/* Queue pairs                                                         */

/* The transport's object of a queue pair; again after a restart. */
static void qp_open(struct sim_qp *qp)
{
	struct sim_host *h = qp->host;
	struct sim_rq *rq = qp->rq;
	bool srq = rq && rq->srq;
	struct ur_qp_init init = {
		.type = qp->type,
		.pd = SIM_PD,
		.max_send_wr = h->w->depth,
		.max_recv_wr = h->w->depth,
		.max_send_sge = SIM_MAX_SGE,
		.max_recv_sge = SIM_MAX_SGE,
		.max_inline = 256,
		.sq_sig_all = qp->sig_all,
		.srq = srq ? rq->srq : NULL,
		.xrcd = SIM_XRCD,
		.send_cq_ctx = qp->scq,
		.recv_cq_ctx = qp->rcq,
		.ctx = qp,
		.rq_ctx = srq ? NULL : rq,
	};
	int err = ur_qp_create(h->port, &init, &qp->qp);

	SIM_CHECK(h->w, !err, "ur_qp_create type %d: %d", qp->type, err);
	qp->qpn = ur_qp_number(qp->qp);
	SIM_CHECK(h->w, ur_qp_lookup(h->port, qp->qpn) == qp->qp,
		  "ur_qp_lookup(%u) finds another", qp->qpn);
}

static struct sim_qp *qp_create(struct sim_host *h, enum ur_qp_type type,
				struct sim_pair *pair, struct sim_rq *rq)
{
	struct ur_rng *rng = &h->w->rng_work;
	struct sim_qp *qp = sim_zalloc(sizeof(*qp));

	qp->host = h;
	qp->pair = pair;
	qp->type = type;
	qp->sig_all = ur_rng_below(rng, 3) == 0;
	qp->scq = &h->cq[ur_rng_below(rng, 3)];
	qp->rcq = &h->cq[ur_rng_below(rng, 3)];
	qp->rq = rq;
	qp->life = SIM_QP_GONE;
	if (type != UR_QPT_XRC_INI && type != UR_QPT_XRC_TGT && !rq) {
		qp->rq = endpoint_rq_new(h);
		qp->rq->qp = qp;
		endpoint_rq_open(qp->rq, false, false);
	}
	qp_open(qp);
	return qp;
}

static void modify(struct sim_qp *qp, const struct ur_qp_attr *attr, u32 mask)
{
	int err;

	sim_host_send_aside(qp->host);
	err = ur_qp_modify(qp->qp, qp->host->w->now, attr,
			   mask | UR_QP_ATTR_STATE);
	SIM_CHECK(qp->host->w, !err, "%s: modify to %d, mask 0x%x: %d",
		  endpoint_name(qp), attr->state, mask, err);
}

static void draw_attr(struct sim_pair *p)
{
	struct sim_world *w = p->w;
	struct ur_rng *rng = &w->rng_work;
	u32 psn[2], depth[2];

	p->mtu = 256;
	while (p->mtu < w->mtu && ur_rng_below(rng, 3))
		p->mtu *= 2;
	for (int i = 0; i < 2; i++) {
		psn[i] = ur_rng_below(rng, 2)
				 ? UR_PSN_MASK - ur_rng_below(rng, 200)
				 : (u32)ur_rng_u64(rng) & UR_PSN_MASK;
		depth[i] = 1 + ur_rng_below(rng, 8);
	}
	for (int i = 0; i < 2; i++)
		p->qp[i]->attr = (struct ur_qp_attr){
			.path_mtu = p->mtu,
			.sq_psn = psn[i],
			.rq_psn = psn[!i],
			.dest_qpn = p->qp[!i]->qpn,
			.access = REMOTE_FLAGS & ~UR_ACCESS_LOCAL_WRITE,
			.pkey_index = 0,
			.port_num = 1,
			.max_rd_atomic = depth[i],
			.max_dest_rd_atomic = depth[!i],
			.min_rnr_timer = 1 + ur_rng_below(rng, 14),
			.timeout = 8 + ur_rng_below(rng, 7),
			.retry_cnt =
				ur_rng_below(rng, 4) ? 7 : ur_rng_below(rng, 8),
			.rnr_retry =
				ur_rng_below(rng, 4) ? 7 : ur_rng_below(rng, 8),
		};
}

/* Sets the attributes that applications commonly ask for. */
static void drill_attr(struct sim_pair *p)
{
	p->mtu = p->w->mtu;
	for (int i = 0; i < 2; i++) {
		struct ur_qp_attr *a = &p->qp[i]->attr;

		a->path_mtu = p->mtu;
		a->max_rd_atomic = a->max_dest_rd_atomic = 8;
		a->min_rnr_timer = 1;
		a->timeout = 14;
		a->retry_cnt = a->rnr_retry = 7;
	}
}

static void connect_qp(struct sim_qp *qp, struct sim_host *peer)
{
	struct ur_qp_attr attr = qp->attr;
	int err;

	attr.av = sim_host_av(qp->host, peer);
	err = qp_walk_to(qp->qp, qp->host->w->now, &attr, UR_QP_RTS);
	SIM_CHECK(qp->host->w, !err, "%s: cannot be connected: %d",
		  endpoint_name(qp), err);
	ur_av_put(attr.av);
	qp->life = SIM_QP_LIVE;
	qp->draining = false;
	qp->saw_error = qp->saw_flush = qp->moved_error = false;
	qp->saw_fatal_event = qp->last_wqe = qp->broken = qp->lost = false;
}

void endpoint_pair_create(struct sim_world *w, u32 index)
{
	struct ur_rng *rng = &w->rng_work;
	struct sim_pair *p = w->pair[index] = sim_zalloc(sizeof(*p));
	u32 pick = ur_rng_below(rng, 10);
	struct sim_host *a = &w->host[ur_rng_below(rng, w->n_hosts)];
	struct sim_host *b = &w->host[ur_rng_below(rng, w->n_hosts)];

	p->w = w;
	p->index = index;
	if (w->drill) {
		a = &w->host[0];
		b = &w->host[1];
		pick = 0;
	}
	p->type = pick < 7 ? UR_QPT_RC : pick < 8 ? UR_QPT_XRC_INI : UR_QPT_UC;
	if (p->type == UR_QPT_XRC_INI) {
		p->xrc_rq = b->xrc_srq;
		p->qp[0] = qp_create(a, UR_QPT_XRC_INI, p, NULL);
		p->qp[1] = qp_create(b, UR_QPT_XRC_TGT, p, NULL);
	} else {
		bool shared = ur_rng_below(rng, 4) == 0 && !w->drill;

		p->qp[0] = qp_create(a, p->type, p, shared ? a->srq : NULL);
		p->qp[1] = qp_create(b, p->type, p, shared ? b->srq : NULL);
		for (int i = 0; i < 2; i++)
			p->own_rq[i] = shared ? NULL : p->qp[i]->rq;
	}
	endpoint_pair_connect(p);
}

/* Zeroed up to its lists, which are long. */
static struct sim_flow *flow_new(void)
{
	struct sim_flow *f = malloc(sizeof(*f));

	if (!f)
		abort();
	memset(f, 0, offsetof(struct sim_flow, recv_ops));
	return f;
}

static struct sim_flow *flow_create(struct sim_pair *p, u32 from)
{
	struct sim_world *w = p->w;
	struct ur_rng *rng = &w->rng_work;
	struct sim_flow *f = flow_new();
	u64 bytes = ur_align_up(2 * w->max_bytes + 64, 64);

	f->pair = p;
	f->from = p->qp[from];
	f->to = p->qp[!from];
	f->psn_base = f->from->attr.sq_psn;
	f->target = !w->drill ? workload_flow_target(w)
		    : from    ? 0
			      : w->drill->count;
	sim_region_init(&f->src, f->from->host, bytes, 0, rng);
	sim_region_fill(&f->src, rng);
	sim_region_init(&f->dst, f->to->host, bytes,
			REMOTE_FLAGS | UR_ACCESS_MW_BIND, rng);
	sim_region_fill(&f->dst, rng);
	sim_region_init(&f->result, f->from->host,
			(u64)w->depth * (w->max_bytes + 64),
			UR_ACCESS_LOCAL_WRITE, rng);
	sim_region_leave(&f->result, rng);
	f->dst.owner = f;
	f->dst.on_write = oracle_dst_write;
	f->model = sim_zalloc(bytes);
	memcpy(f->model, f->dst.base, bytes);
	sim_region_register(&f->src);
	sim_region_register(&f->dst);
	sim_region_register(&f->result);
	if (p->type == UR_QPT_RC && !w->drill && ur_rng_below(rng, 3) == 0) {
		int type = 1 + (int)ur_rng_below(rng, 2);
		int err = ur_mw_create(f->to->host->port, SIM_PD, type, &f->mw);

		SIM_CHECK(w, !err, "ur_mw_create: %d", err);
		/* Only type 2 windows can be invalidated; a type 1 window is
		 * unbound by a bind of no length. */
		if (type == 1) {
			ur_mw_destroy(f->mw);
			f->mw = NULL;
		}
	}
	return f;
}

static void flow_destroy(struct sim_flow *f)
{
	if (!f)
		return;
	if (f->mw && f->to->host->port)
		ur_mw_destroy(f->mw);
	for (u32 i = 0; i < f->posted; i++) {
		free(f->ops[i].payload);
		ur_av_put(f->ops[i].wr.av);
	}
	sim_region_fini(&f->src);
	sim_region_fini(&f->dst);
	sim_region_fini(&f->result);
	free(f->model);
	free(f);
}

void endpoint_pair_recreate(struct sim_pair *p)
{
	for (int k = 0; k < 2; k++) {
		if (p->own_rq[k])
			endpoint_rq_open(p->own_rq[k], false, false);
		if (!p->qp[k]->qp)
			qp_open(p->qp[k]);
	}
}

void endpoint_pair_connect(struct sim_pair *p)
{
	struct sim_world *w = p->w;

	p->epoch++;
	p->reasons = faults_reasons(w);
	p->closing = false;
	w->n_epochs++;
	sim_trace(&w->trace, w->now, "connect", p->index, p->qp[0]->qpn,
		  p->qp[1]->qpn, p->type);
	draw_attr(p);
	if (w->drill)
		drill_attr(p);
	for (u32 i = 0; i < (p->type == UR_QPT_XRC_INI ? 1 : 2); i++) {
		struct sim_flow *f = p->flow[i] = flow_create(p, i);
		struct sim_qp *qp = p->qp[i];

		qp->out = f;
		p->qp[!i]->in = f;
		qp->ring_index = ur_rng_below(&w->rng_work, 2)
					 ? 0u - ur_rng_below(&w->rng_work, 64)
					 : 0;
		qp->retired = qp->ring_index;
	}
	connect_qp(p->qp[0], p->qp[1]->host);
	connect_qp(p->qp[1], p->qp[0]->host);
	p->connected = true;
	for (int i = 0; i < 2; i++) {
		if (p->own_rq[i])
			endpoint_rq_fill(p->own_rq[i], w->depth);
		workload_qp_start(p->qp[i]);
	}
}

void endpoint_pair_disconnect(struct sim_pair *p)
{
	sim_trace(&p->w->trace, p->w->now, "disconnect", p->index, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		struct ur_qp_attr attr = {.state = UR_QP_RESET};

		p->qp[i]->life = SIM_QP_GONE;
		if (p->qp[i]->qp && p->qp[i]->host->port)
			modify(p->qp[i], &attr, 0);
		p->qp[i]->out = p->qp[i]->in = NULL;
		if (p->own_rq[i])
			endpoint_rq_reset(p->own_rq[i]);
	}
	for (int i = 0; i < 2; i++) {
		flow_destroy(p->flow[i]);
		p->flow[i] = NULL;
	}
	p->connected = false;
}

void endpoint_pair_destroy(struct sim_pair *p)
{
	if (p->connected)
		endpoint_pair_disconnect(p);
	for (int i = 0; i < 2; i++) {
		if (p->qp[i]->host->port && p->qp[i]->qp) {
			sim_host_send_aside(p->qp[i]->host);
			ur_qp_destroy(p->qp[i]->qp);
		}
		p->qp[i]->qp = NULL;
	}
	for (int i = 0; i < 2; i++)
		if (p->own_rq[i])
			endpoint_rq_close(p->own_rq[i]);
}

void endpoint_pair_free(struct sim_pair *p)
{
	for (int i = 0; i < 2; i++) {
		endpoint_rq_free(p->own_rq[i]);
		free(p->qp[i]);
	}
	free(p);
}

void endpoint_qp_reset(struct sim_qp *qp)
{
	struct ur_qp_attr attr = {.state = UR_QP_RESET};

	if (qp->life == SIM_QP_GONE || !qp->host->port)
		return;
	sim_trace(&qp->host->w->trace, qp->host->w->now, "to_reset",
		  qp->host->index, qp->qpn, 0, 0);
	qp->life = SIM_QP_GONE;
	modify(qp, &attr, 0);
}

void endpoint_qp_drain(struct sim_qp *qp)
{
	struct ur_qp_attr attr = {.state = UR_QP_SQD, .en_sqd_async_notify = 1};

	sim_trace(&qp->host->w->trace, qp->host->w->now, "to_sqd",
		  qp->host->index, qp->qpn, 0, 0);
	qp->draining = true;
	qp->drain_taken = qp->out->taken;
	modify(qp, &attr, UR_QP_ATTR_EN_SQD_ASYNC_NOTIFY);
	sim_host_wake(qp->host, qp->host->w->now);
}

void endpoint_qp_resume(struct sim_qp *qp)
{
	struct ur_qp_attr attr = {.state = UR_QP_RTS};

	if (!qp->draining || qp->life != SIM_QP_LIVE || !qp->host->port)
		return;
	qp->draining = false;
	ur_qp_query(qp->qp, &attr);
	/* It may have broken meanwhile. */
	if (attr.state != UR_QP_SQD)
		return;
	attr.state = UR_QP_RTS;
	modify(qp, &attr, 0);
	sim_host_wake(qp->host, qp->host->w->now);
}

void endpoint_qp_error(struct sim_qp *qp)
{
	struct ur_qp_attr attr = {.state = UR_QP_ERR};

	if (qp->life == SIM_QP_GONE || !qp->host->port)
		return;
	sim_trace(&qp->host->w->trace, qp->host->w->now, "to_error",
		  qp->host->index, qp->qpn, 0, 0);
	qp->moved_error = qp->broken = true;
	modify(qp, &attr, 0);
	sim_host_wake(qp->host, qp->host->w->now);
}

/* ------------------------------------------------------------------ */
/* Datagrams                                                           */

void endpoint_ud_create(struct sim_world *w, u32 index)
{
	struct ur_rng *rng = &w->rng_work;
	struct sim_host *h = &w->host[ur_rng_below(rng, w->n_hosts)];
	struct sim_qp *qp = qp_create(h, UR_QPT_UD, NULL, NULL);
	struct sim_flow *f = flow_new();
	struct ur_qp_attr attr = {
		.state = UR_QP_INIT, .port_num = 1, .qkey = SIM_UD_QKEY};

	w->ud[index] = qp;
	w->ud_rq[index] = qp->rq;
	w->ud_flow[index] = f;
	qp->ud_index = index;
	qp->out = f;
	f->from = qp;
	f->target = workload_flow_target(w);
	sim_region_init(&f->src, h, ur_align_up(2 * w->max_bytes + 64, 64), 0,
			rng);
	sim_region_fill(&f->src, rng);
	sim_region_register(&f->src);
	modify(qp, &attr,
	       UR_QP_ATTR_PKEY_INDEX | UR_QP_ATTR_PORT | UR_QP_ATTR_QKEY);
	attr.state = UR_QP_RTR;
	modify(qp, &attr, 0);
	attr.state = UR_QP_RTS;
	attr.sq_psn = (u32)ur_rng_u64(rng) & UR_PSN_MASK;
	modify(qp, &attr, UR_QP_ATTR_SQ_PSN);
	qp->life = SIM_QP_LIVE;
	endpoint_rq_fill(qp->rq, w->depth);
	workload_qp_start(qp);
}

void endpoint_ud_destroy(struct sim_world *w, u32 index)
{
	struct sim_qp *qp = w->ud[index];

	qp->life = SIM_QP_GONE;
	if (qp->qp && qp->host->port) {
		sim_host_send_aside(qp->host);
		ur_qp_destroy(qp->qp);
	}
	qp->qp = NULL;
	flow_destroy(w->ud_flow[index]);
	w->ud_flow[index] = NULL;
	qp->out = NULL;
	if (qp->host->port)
		endpoint_rq_close(qp->rq);
}

void endpoint_ud_free(struct sim_world *w, u32 index)
{
	endpoint_rq_free(w->ud_rq[index]);
	free(w->ud[index]);
}
