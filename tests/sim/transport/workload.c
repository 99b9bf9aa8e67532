// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/sim/transport/workload.h"

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/operation.h"
#include "tests/sim/transport/oracle.h"

/* Mean pause of an application between two bursts of posts. */
#define THINK_NS 4000
/* The time until the other end of a broken pair notices, and then until no
 * packet of the epoch can be on its way any more (the time-wait of the CM). */
#define HEAR_NS	     50000
#define TIME_WAIT_NS 3000000

u32 workload_flow_target(struct sim_world *w)
{
	u32 n = ur_rng_below(&w->rng_work, 8);

	return n ? 4 + ur_rng_below(&w->rng_work, 4 * w->depth) : 0;
}

static void qp_step(struct sim_world *w, void *arg, u64 n)
{
	struct sim_qp *qp = arg;
	struct sim_flow *f = qp->out;
	u32 burst = 1 + ur_rng_below(&w->rng_work, 6);
	bool any = false;

	qp->step_pending = false;
	if (ur_rng_below(&w->rng_work, 4) == 0)
		burst = w->depth;
	if (w->over || !f || qp->life != SIM_QP_LIVE || !qp->host->port ||
	    qp->host->paused || qp->broken)
		return;
	/* Done means that the ring may be used again. */
	if (f->done)
		SIM_CHECK(
			w,
			qp->retired - f->ops[f->done - 1].wr.ring_end <=
				qp->ring_index -
					f->ops[f->done - 1].wr.ring_end,
			"%s: operation %u is done, its ring space is not free",
			endpoint_name(qp), f->done - 1);
	while (burst-- && f->posted < f->target &&
	       f->posted - f->done < w->depth) {
		operation_make(f);
		any = true;
	}
	if (any) {
		ur_qp_kick(qp->qp);
		sim_host_wake(qp->host, w->now);
	}
	if (f->posted < f->target && f->posted - f->done < w->depth)
		workload_qp_room(qp);
}

void workload_qp_room(struct sim_qp *qp)
{
	struct sim_world *w = qp->host->w;

	if (qp->step_pending || !qp->out || qp->out->posted >= qp->out->target)
		return;
	qp->step_pending = true;
	sim_event_add(&w->events, w->now + sim_exp(&qp->host->rng, THINK_NS),
		      qp_step, qp, 0);
}

void workload_qp_start(struct sim_qp *qp)
{
	workload_qp_room(qp);
}

static void rq_step(struct sim_world *w, void *arg, u64 n)
{
	struct sim_rq *rq = arg;

	rq->step_pending = false;
	if (w->over || rq->dead || !rq->host->port)
		return;
	if (rq->qp && (rq->qp->life != SIM_QP_LIVE || rq->qp->broken))
		return;
	endpoint_rq_fill(rq, 1 + ur_rng_below(&w->rng_work, w->depth));
	if (rq->posted - rq->taken < rq->want)
		workload_rq_taken(rq);
}

void workload_rq_taken(struct sim_rq *rq)
{
	struct sim_world *w = rq->host->w;
	ur_time delay = 1000;

	if (rq->step_pending)
		return;
	if (w->faults_on && w->faults.recv_delay)
		delay += sim_exp(&w->rng_fault, w->faults.recv_delay);
	rq->step_pending = true;
	sim_event_add(&w->events, w->now + delay, rq_step, rq, 0);
}

void workload_op_done(struct sim_flow *f, struct sim_op *op)
{
	struct sim_flow *in = f->from->in;

	if (op->wr.opcode == UR_WR_BIND_MW && in)
		in->mw_state = SIM_MW_BOUND;
	if (op->wr.opcode == UR_WR_LOCAL_INV && in) {
		in->mw_state = SIM_MW_NONE;
		in->mw_old = in->mw_rkey;
	}
}

static void pair_close(struct sim_world *w, void *arg, u64 epoch)
{
	struct sim_pair *p = arg;

	if (w->over || p->epoch != epoch || !p->connected)
		return;
	sim_trace(&w->trace, w->now, "close", p->index, p->reasons, 0, 0);
	p->reasons |= SIM_WHY_FORCED;
	for (int k = 0; k < 2; k++)
		if (ur_rng_below(&w->rng_fault, 5))
			endpoint_qp_error(p->qp[k]);
		else
			endpoint_qp_reset(p->qp[k]);
}

static void pair_end(struct sim_world *w, void *arg, u64 epoch)
{
	struct sim_pair *p = arg;

	if (w->over || p->epoch != epoch || !p->connected)
		return;
	for (int k = 0; k < 2; k++)
		if (p->qp[k]->host->paused) {
			sim_event_add(&w->events, w->now + TIME_WAIT_NS,
				      pair_end, p, epoch);
			return;
		}
	oracle_pair_end(p);
	endpoint_pair_disconnect(p);
	if (w->faults_on)
		workload_pair_reopen(p);
}

void workload_pair_broken(struct sim_pair *p)
{
	struct sim_world *w = p->w;

	p->reasons |= SIM_WHY_BROKEN;
	if (p->closing)
		return;
	p->closing = true;
	sim_event_add(&w->events, w->now + 1 + sim_exp(&w->rng_fault, HEAR_NS),
		      pair_close, p, p->epoch);
	sim_event_add(&w->events, w->now + 9 * HEAR_NS + TIME_WAIT_NS, pair_end,
		      p, p->epoch);
}

void workload_pair_reopen(struct sim_pair *p)
{
	for (int k = 0; k < 2; k++)
		if (!p->qp[k]->host->port || p->qp[k]->host->paused)
			return;
	endpoint_pair_recreate(p);
	endpoint_pair_connect(p);
}

bool workload_idle(struct sim_world *w)
{
	for (u32 i = 0; i < w->n_pairs; i++) {
		struct sim_pair *p = w->pair[i];

		if (!p->connected)
			continue;
		if (p->closing)
			return false;
		for (int k = 0; k < 2; k++)
			if (!oracle_flow_idle(p->flow[k]))
				return false;
	}
	for (u32 i = 0; i < w->n_ud; i++)
		if (w->ud[i]->life == SIM_QP_LIVE && !w->ud[i]->broken &&
		    !oracle_flow_idle(w->ud_flow[i]))
			return false;
	return true;
}
