// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue pair's quantum: kick, run, expire deadlines, drop work.
 */
#include "transport/internal.h"
#include "transport/retry.h"

#define LOOP_WAITER_NS 5000u

void ur_qp_drop_work(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	ur_answer_orphan(qp);
	for (; qp->has_sq && req->head != req->tail; req->head++) {
		struct ur_swqe *e = ur_sq_entry(qp, req->head);

		if (qp->svc == UR_SVC_UD)
			ur_av_put(e->ud.av);
	}
	req->head = req->tail = req->tx = 0;
	req->dry = false;
	req->dead = false;
	req->una = req->tx_psn = req->max_psn = 0;
	req->ssn = 0;
	req->credit_limited = false;
	req->holdoff_left = 0;
	req->srtt = req->rttvar = 0;
	req->begin_at = 0;
	req->back_at = 0;
	req->source.gen = req->place.gen = 0;
	req->origin.known = false;
	ur_retry_reset(qp);
	ur_inflight_reset(qp);
	qp->resp.rqe.held = false;
	qp->resp.rq_dead = false;
	if (qp->resp.rq_wanted)
		qp->port->ops->rq_want_kick(qp->init.rq_ctx, false);
	qp->resp.rq_wanted = false;
	ur_responder_reset(qp);
	ur_unready_drop(qp);
	qp->loop_waiter = 0;
	qp->comm_est = false;
	qp->last_wqe_said = false;
	qp->fatal_said = false;
}

void ur_qp_kick(struct ur_qp *qp)
{
	qp->req.dry = false;
	if (qp->has_sq && qp->state >= UR_QP_RTS)
		ur_port_activate(qp->port, qp);
}

/* Wakes the queue pair that found no receive here, before its RNR timer. */
static bool wake_loop_waiter(struct ur_qp *qp)
{
	struct ur_qp *waiter;

	if (!qp->loop_waiter)
		return false;
	waiter = ur_qp_lookup(qp->port, qp->loop_waiter);
	qp->loop_waiter = 0;
	if (!waiter || !waiter->req.rnr_until || waiter->state != UR_QP_RTS)
		return false;
	/* Only after a moment, so that the next receive can be posted too. */
	waiter->req.rnr_until = ur_min_u64(waiter->req.rnr_until,
					   qp->port->now + LOOP_WAITER_NS);
	ur_qp_rearm(waiter);
	return true;
}

void ur_qp_rq_kick(struct ur_qp *qp)
{
	if (qp->state == UR_QP_ERR) {
		ur_port_activate(qp->port, qp);
		return;
	}
	if (!qp->resp.rq_wanted)
		return;
	/* The peer believes that there are no receives: sends it new credits
	 * (IBTA 9.7.7.2.5, unsolicited acknowledge). */
	qp->resp.rq_wanted = false;
	qp->port->ops->rq_want_kick(qp->init.rq_ctx, false);
	if (wake_loop_waiter(qp))
		return;
	if (ur_qp_is_reliable(qp) && qp->state >= UR_QP_RTR &&
	    qp->resp.msg == UR_RX_NONE)
		ur_answer_ack(qp, ur_answer_credits(qp),
			      ur_psn_add(qp->resp.epsn, -1));
}

void ur_qp_expire(struct ur_qp *qp)
{
	ur_cc_expire(qp);
	if (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD)
		ur_retry_expire(qp);
	ur_qp_rearm(qp);
	if (ur_path_holds(qp))
		ur_path_expire(qp);
}

bool ur_qp_run(struct ur_qp *qp, struct ur_tx *tx, bool *full)
{
	enum ur_quantum result = UR_QUANTUM_IDLE, more;

	if (ur_qp_is_reliable(qp) || qp->resp.cnp_due)
		result = ur_answer_run(qp, tx);
	if (result == UR_QUANTUM_FULL) {
		*full = true;
		return true;
	}
	if (qp->state == UR_QP_ERR || qp->state == UR_QP_SQE)
		return ur_wq_flush(qp) || result == UR_QUANTUM_MORE;
	if (!qp->has_sq || (qp->state != UR_QP_RTS && qp->state != UR_QP_SQD))
		return result == UR_QUANTUM_MORE;
	more = ur_requester_run(qp, tx);
	if (qp->share.turn && more == UR_QUANTUM_IDLE)
		ur_path_yield(qp);
	ur_qp_rearm(qp);
	if (more == UR_QUANTUM_FULL)
		*full = true;
	/* A state change meanwhile has activated it. */
	return more != UR_QUANTUM_IDLE || result == UR_QUANTUM_MORE;
}
