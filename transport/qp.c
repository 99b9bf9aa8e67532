// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A queue pair: made and destroyed, kicked and run, failed; its deadlines. */
#include "transport/engine.h"

#include <errno.h>
#include <stdlib.h>

static u8 service_of(enum ur_qp_type type)
{
	switch (type) {
	case UR_QPT_RC:
		return UR_SVC_RC;
	case UR_QPT_UC:
		return UR_SVC_UC;
	case UR_QPT_UD:
		return UR_SVC_UD;
	default:
		return UR_SVC_XRC;
	}
}

static int check_init(const struct ur_qp_init *init)
{
	switch (init->type) {
	case UR_QPT_RC:
	case UR_QPT_UC:
	case UR_QPT_UD:
	case UR_QPT_XRC_TGT:
		break;
	case UR_QPT_XRC_INI:
		if (init->srq)
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	if (init->max_send_sge > UR_MAX_SGE || init->max_recv_sge > UR_MAX_SGE)
		return -EINVAL;
	return 0;
}

static int alloc_queues(struct ur_qp *qp)
{
	const struct ur_qp_init *init = &qp->init;
	u32 depth;

	if (qp->has_sq) {
		depth = ur_roundup_pow2(
			ur_min_u32(init->max_send_wr ? init->max_send_wr : 1,
				   UR_SQ_WINDOW));
		qp->req.mask = depth - 1;
		qp->req.stride = (u32)ur_align_up(
			sizeof(struct ur_swqe) +
				init->max_send_sge * sizeof(struct ur_sge),
			16);
		qp->req.entries = calloc(depth, qp->req.stride);
		if (!qp->req.entries)
			return -ENOMEM;
	}
	if (qp->init.type != UR_QPT_XRC_INI) {
		/* An SRQ has its own limit of elements. */
		qp->resp.rqe_max_sge = qp->has_rq && !init->srq
					       ? init->max_recv_sge
					       : UR_MAX_SGE;
		qp->resp.rqe_sge =
			calloc(qp->resp.rqe_max_sge + 1, sizeof(struct ur_sge));
		if (!qp->resp.rqe_sge)
			return -ENOMEM;
	}
	if (qp->port->cfg.ooo && ur_qp_is_reliable(qp) &&
	    init->type != UR_QPT_XRC_INI)
		return ur_ooo_create(qp);
	return 0;
}

static void free_qp(struct ur_qp *qp)
{
	ur_cc_fini(qp);
	ur_ooo_destroy(qp);
	free(qp->req.entries);
	free(qp->resp.rqe_sge);
	free(qp->resp.res);
	free(qp->resp.items);
	free(qp);
}

int ur_qp_create(struct ur_port *port, const struct ur_qp_init *init,
		 struct ur_qp **ret)
{
	struct ur_qp *qp;
	int rc = check_init(init);

	if (rc)
		return rc;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->port = port;
	qp->init = *init;
	qp->svc = service_of(init->type);
	qp->has_sq = init->type != UR_QPT_XRC_TGT;
	qp->has_rq = qp->svc != UR_SVC_XRC;
	qp->heap_index = UR_NOT_IN_HEAP;
	qp->attr.path_mtu = port->cfg.mtu_bytes;
	ur_list_init(&qp->active);
	rc = alloc_queues(qp);
	if (rc)
		goto err_free;
	rc = ur_table_add(&port->qps, qp, &qp->qpn);
	if (rc)
		goto err_free;
	rc = ur_port_reserve_heap(port);
	if (rc)
		goto err_remove;
	if (init->srq)
		init->srq->users++;
	ur_qp_drop_work(qp);
	*ret = qp;
	return 0;

err_remove:
	ur_table_remove(&port->qps, qp->qpn);
err_free:
	free_qp(qp);
	return rc;
}

void ur_qp_destroy(struct ur_qp *qp)
{
	struct ur_port *port = qp->port;

	ur_qp_drop_work(qp);
	if (port->rx_qp == qp)
		port->rx_qp = NULL;
	ur_list_del(&qp->active);
	ur_port_disarm(port, qp);
	ur_table_remove(&port->qps, qp->qpn);
	if (qp->init.srq)
		qp->init.srq->users--;
	ur_av_put(qp->attr.av);
	free_qp(qp);
}

void ur_qp_drop_work(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	ur_answer_bequeath(qp);
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
	req->whole_left = 0;
	req->srtt = req->rttvar = 0;
	req->begin_at = 0;
	req->back_at = 0;
	req->source.gen = req->place.gen = 0;
	ur_retry_reset(qp);
	ur_inflight_reset(qp);
	qp->resp.rqe.held = false;
	qp->resp.rq_dead = false;
	if (qp->resp.rq_wanted)
		qp->port->ops->rq_want_kick(qp->init.rq_ctx, false);
	qp->resp.rq_wanted = false;
	ur_responder_reset(qp);
	qp->loop_waiter = 0;
	qp->comm_est = false;
	qp->last_wqe_said = false;
	qp->fatal_said = false;
}

u32 ur_qp_number(const struct ur_qp *qp)
{
	return qp->qpn;
}

struct ur_qp *ur_qp_lookup(struct ur_port *port, u32 qpn)
{
	return ur_table_lookup(&port->qps, qpn);
}

void ur_qp_kick(struct ur_qp *qp)
{
	qp->req.dry = false;
	if (qp->has_sq && qp->state >= UR_QP_RTS)
		ur_port_activate(qp->port, qp);
}

#define LOOP_WAITER_NS 5000u

/* The neighbour that found no receive here need not wait for its timer. */
static bool wake_loop_waiter(struct ur_qp *qp)
{
	struct ur_qp *waiter;

	if (!qp->loop_waiter)
		return false;
	waiter = ur_qp_lookup(qp->port, qp->loop_waiter);
	qp->loop_waiter = 0;
	if (!waiter || !waiter->req.rnr_until || waiter->state != UR_QP_RTS)
		return false;
	/* A moment later, though, so that one more is not the next wait. */
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
	/* The peer was told that there are no receives: tell it otherwise
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

void ur_qp_event(struct ur_qp *qp, enum ur_event ev)
{
	ur_trace(qp->port, UR_TRACE_EVENT, qp->qpn, ev, 0);
	qp->port->ops->qp_event(qp->init.ctx, ev);
}

void ur_qp_set_state(struct ur_qp *qp, enum ur_qp_state state)
{
	if (qp->state == state)
		return;
	ur_trace(qp->port, UR_TRACE_QP_STATE, qp->qpn, qp->state, state);
	qp->state = state;
	qp->attr.state = state;
}

void ur_qp_fail(struct ur_qp *qp)
{
	if (qp->state == UR_QP_ERR)
		return;
	ur_qp_set_state(qp, UR_QP_ERR);
	qp->attr.sq_draining = 0;
	ur_retry_reset(qp);
	qp->req.dry = false;
	qp->resp.msg = UR_RX_NONE;
	ur_ooo_drop_all(qp);
	ur_port_activate(qp->port, qp);
}

void ur_qp_rearm(struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	ur_time at = ur_cc_deadline(qp);

	/* In other states nobody would look at these when they are due. */
	if (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD) {
		at = ur_min_u64(at, req->timeout_at);
		at = ur_min_u64(at, req->probe_at);
		if (req->rnr_until)
			at = ur_min_u64(at, req->rnr_until);
	}
	ur_port_arm(qp->port, qp, at);
}

void ur_qp_expire(struct ur_qp *qp)
{
	ur_cc_expire(qp);
	if (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD)
		ur_retry_expire(qp);
	ur_qp_rearm(qp);
}

bool ur_qp_run(struct ur_qp *qp, struct ur_tx *tx, bool *full)
{
	enum ur_turn turn = UR_TURN_IDLE, more;

	if (ur_qp_is_reliable(qp) || qp->resp.cnp_due)
		turn = ur_answer_run(qp, tx);
	if (turn == UR_TURN_FULL) {
		*full = true;
		return true;
	}
	if (qp->state == UR_QP_ERR || qp->state == UR_QP_SQE)
		return ur_wq_flush(qp) || turn == UR_TURN_MORE;
	if (!qp->has_sq || (qp->state != UR_QP_RTS && qp->state != UR_QP_SQD))
		return turn == UR_TURN_MORE;
	more = ur_requester_run(qp, tx);
	ur_qp_rearm(qp);
	if (more == UR_TURN_FULL)
		*full = true;
	/* A state change on the way put it on the list itself. */
	return more != UR_TURN_IDLE || turn == UR_TURN_MORE;
}

const char *ur_qp_check(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	const struct ur_responder *resp = &qp->resp;
	const struct ur_swqe *head;

	if (!qp->has_sq)
		return NULL;
	if (req->tail - req->head > req->mask + 1)
		return "the window holds more entries than it has";
	if (req->tx - req->head > req->tail - req->head)
		return "the entry being sent is inside the window";
	if (ur_psn_sub(req->max_psn, req->una) >= 1u << 23)
		return "PSNs in flight span less than half the space";
	if (ur_inflight(req) > ur_psn_sub(req->max_psn, req->una))
		return "una <= tx_psn <= max_psn";
	if (qp->state == UR_QP_ERR || qp->state < UR_QP_RTS)
		return NULL;
	if (req->una != req->max_psn) {
		if (req->head == req->tail)
			return "every unacknowledged PSN has an entry";
		head = ur_sq_entry(qp, req->head);
		if (head->state == UR_SWQE_STARTED &&
		    !ur_psn_within(req->una, head->psn, head->npkts))
			return "the oldest PSN belongs to the oldest entry";
		if (ur_qp_is_reliable(qp) && qp->attr.timeout &&
		    !req->rnr_until && req->tx_psn != req->una &&
		    req->timeout_at == UR_NEVER)
			return "a timer runs while something is outstanding";
	}
	if (ur_qp_is_reliable(qp) && req->rd_out > qp->attr.max_rd_atomic &&
	    req->rd_out > 1)
		return "outstanding reads and atomics are within the limit";
	if (req->rnr_retries > 7 || req->retries > 7)
		return "retries are counted up to seven";
	if (resp->item_tail - resp->item_head > resp->item_mask + 1)
		return "answers fit their queue";
	return NULL;
}
