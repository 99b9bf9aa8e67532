// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A queue pair: its state, failure, deadlines and invariants. */
#include "transport/cc.h"
#include "transport/internal.h"

u32 ur_qp_number(const struct ur_qp *qp)
{
	return qp->qpn;
}

struct ur_qp *ur_qp_lookup(struct ur_port *port, u32 qpn)
{
	return ur_table_lookup(&port->qps, qpn);
}

bool ur_qp_next_psn(const struct ur_qp *qp, u32 *psn)
{
	*psn = qp->req.tx_psn;
	return qp->req.tx == qp->req.tail;
}

u32 ur_qp_psns(const struct ur_qp *qp, u8 opcode, u64 length)
{
	if (opcode == UR_WR_NOP || opcode >= UR_WR_OPCODES ||
	    opcode == UR_WR_BIND_MW || opcode == UR_WR_LOCAL_INV ||
	    qp->svc == UR_SVC_RAW)
		return 0;
	if (opcode == UR_WR_FLUSH || ur_qp_is_datagram(qp) || !qp->mtu)
		return 1;
	length = ur_min_u64(length, UR_MAX_MSG_BYTES);
	return length ? (u32)((length + qp->mtu - 1) >> qp->mtu_shift) : 1;
}

u32 ur_qp_dest(const struct ur_qp *qp)
{
	return qp->attr.dest_qpn;
}

void ur_qp_event(struct ur_qp *qp, enum ur_event ev)
{
	ur_trace(qp->port, UR_TRACE_EVENT, qp->qpn, ev, 0);
	qp->port->ops->qp_event(qp->init.ctx, ev);
}

void ur_qp_take_back(struct ur_qp *qp)
{
	if (!qp->placed)
		return;
	qp->placed = false;
	qp->port->cfg.ops->payload_taken_back(qp->port->cfg.ctx);
}

void ur_qp_set_receives(struct ur_qp *qp)
{
	switch (qp->state) {
	case UR_QP_RTR:
	case UR_QP_RTS:
	case UR_QP_SQD:
	case UR_QP_SQE:
		qp->receives = !qp->unready.count;
		break;
	default:
		qp->receives = false;
	}
}

void ur_qp_set_state(struct ur_qp *qp, enum ur_qp_state state)
{
	if (qp->state == state)
		return;
	if (state == UR_QP_ERR || state == UR_QP_RESET)
		ur_qp_take_back(qp);
	ur_trace(qp->port, UR_TRACE_QP_STATE, qp->qpn, qp->state, state);
	qp->state = state;
	qp->attr.state = state;
	ur_qp_set_receives(qp);
	ur_qp_hold_no_more(qp); /* its next work may need no packet */
	__atomic_store_n(&qp->shown[UR_QP_SHOWN_STATE], (u64)state,
			 __ATOMIC_RELAXED);
}

void ur_qp_fail(struct ur_qp *qp)
{
	if (qp->state == UR_QP_ERR)
		return;
	ur_qp_set_state(qp, UR_QP_ERR);
	qp->attr.sq_draining = 0;
	ur_retry_reset(qp);
	ur_path_drop(qp);
	qp->req.dry = false;
	qp->resp.msg = UR_RX_NONE;
	ur_ooo_drop_all(qp);
	ur_unready_drop(qp);
	ur_port_activate(qp->port, qp);
}

void ur_qp_rearm(struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	ur_time at = ur_cc_deadline(qp);

	/* In other states these are not served when they are due. */
	if (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD) {
		at = ur_min_u64(at, req->timeout_at);
		at = ur_min_u64(at, req->probe_at);
		if (req->rnr_until)
			at = ur_min_u64(at, req->rnr_until);
	}
	ur_port_arm(qp->port, qp, at);
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

void ur_retry_reset(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	req->retries = 0;
	req->rnr_retries = 0;
	req->probes = 0;
	req->rnr_until = 0;
	req->timeout_at = UR_NEVER;
	req->probe_at = UR_NEVER;
	req->sample_at = req->again_at = 0;
	req->again_ns = 0;
	req->rd_out = 0;
	req->since_ackreq = 0;
	req->asked_again = req->asked_in_vain = req->peer_failed = false;
	req->hole_due = false;
	req->hole_open = false;
}

ur_time ur_cc_deadline(const struct ur_qp *qp)
{
	const struct ur_cc *cc = qp->cc;

	ur_time at = ur_cc_next(cc);

	if (at <= qp->port->now)
		at = UR_NEVER;
	if (!cc || !cc->limited)
		return at;
	return ur_min_u64(ur_min_u64(cc->alpha_at, cc->rate_at), at);
}
