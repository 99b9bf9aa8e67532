// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The requester: takes posted work in order, and turns it into packets
 * (request.c), local operations, or direct execution for a peer on this port.
 * IBTA volume 1, 9.7.2 (requester), 9.7.3 (packet sequence numbers).
 */
#include "transport/cc.h"
#include "transport/internal.h"
#include "util/assert.h"

/* The outcome of a step with the entry being sent. */
enum step {
	STEP_NEXT,  /* next step */
	STEP_BLOCK, /* wait for an answer, a timer or a kick */
	STEP_MORE,  /* let other queue pairs run first */
	STEP_FULL,  /* no room in the ur_tx */
};

/* ---- starting an entry ---- */

static u32 packets_of(const struct ur_qp *qp, u32 bytes)
{
	return bytes ? (bytes + qp->mtu - 1) >> qp->mtu_shift : 1;
}

static bool takes_receive(const struct ur_swqe *e)
{
	return e->opcode <= UR_WR_SEND_INV || e->opcode == UR_WR_WRITE_IMM;
}

/* IBTA 9.7.7.2.5: beyond the credits, one request may go as a probe. */
static bool credit_allows(const struct ur_qp *qp, const struct ur_swqe *e)
{
	const struct ur_requester *req = &qp->req;

	if (!req->credit_limited || !takes_receive(e))
		return true;
	return ur_psn_diff(ur_psn_add(req->ssn, 1), req->credit_ssn) <= 0 ||
	       req->una == req->max_psn;
}

static u32 local_access(const struct ur_swqe *e)
{
	switch (e->opcode) {
	case UR_WR_READ:
	case UR_WR_CMP_SWAP:
	case UR_WR_FETCH_ADD:
	case UR_WR_MASK_CMP_SWAP:
	case UR_WR_MASK_FETCH_ADD:
		return UR_ACCESS_LOCAL_WRITE;
	default:
		return 0;
	}
}

/* Masked atomics have no packets in the standard. Those with trivial masks are
 * ordinary atomics. */
static bool has_wire_form(const struct ur_swqe *e)
{
	if (e->opcode == UR_WR_MASK_CMP_SWAP)
		return e->atomic.compare_mask == UINT64_MAX &&
		       e->atomic.swap_add_mask == UINT64_MAX;
	if (e->opcode == UR_WR_MASK_FETCH_ADD)
		return e->atomic.swap_add_mask == 0;
	return true;
}

static u8 check_start(struct ur_qp *qp, const struct ur_swqe *e)
{
	if (e->status)
		return e->status;
	if (!(e->flags & UR_WR_F_INLINE) &&
	    !ur_mem_check_list(qp->port, qp->init.pd, e->sge, e->num_sge,
			       local_access(e)))
		return UR_WC_LOC_PROT_ERR;
	if (ur_swqe_is_read_type(e) && !qp->attr.max_rd_atomic)
		return UR_WC_LOC_QP_OP_ERR;
	return 0;
}

/* Executes NOP, LOCAL_INV and BIND_MW. Returns false for others. */
static bool run_local(struct ur_qp *qp, struct ur_swqe *e)
{
	ur_assert_hot((const u8 *)e >= (const u8 *)qp->req.entries);
	switch (e->opcode) {
	case UR_WR_NOP:
		return true;
	case UR_WR_BIND_MW:
		e->status = e->status ? e->status : ur_mw_bind(qp, e);
		return true;
	case UR_WR_LOCAL_INV:
		if (!e->status && !ur_mw_invalidate(qp, e->imm_inv, true))
			e->status = UR_WC_MW_BIND_ERR;
		return true;
	default:
		return false;
	}
}

/* Fails the entry after all before it are answered. */
static enum step fail_in_turn(struct ur_qp *qp, struct ur_swqe *e, u8 status)
{
	e->status = status;
	if (qp->req.tx != qp->req.head)
		return STEP_BLOCK;
	ur_completer_fail(qp, status);
	return STEP_BLOCK;
}

static void count_start(struct ur_qp *qp, const struct ur_swqe *e)
{
	if (e->opcode <= UR_WR_SEND_INV)
		ur_count(qp->port, UR_CNT_rdma_sends);
}

static enum step start_entry(struct ur_qp *qp, struct ur_swqe *e)
{
	struct ur_requester *req = &qp->req;
	u8 status;

	if (qp->state == UR_QP_SQD) {
		ur_completer_retire(qp);
		return STEP_BLOCK;
	}
	/* IBTA 10.8.3.3: a fence waits for the reads and atomics before. */
	if ((e->flags & UR_WR_F_FENCE) && req->rd_out)
		return STEP_BLOCK;
	if (run_local(qp, e)) {
		if (e->status)
			return fail_in_turn(qp, e, e->status);
		e->state = UR_SWQE_DONE;
		req->tx++;
		ur_completer_retire(qp);
		return STEP_NEXT;
	}
	status = check_start(qp, e);
	if (!status && !has_wire_form(e))
		status = UR_WC_LOC_QP_OP_ERR;
	if (status)
		return fail_in_turn(qp, e, status);
	if (!credit_allows(qp, e))
		return STEP_BLOCK;
	ur_mr_range_forget(&req->source, req->tx);
	ur_mr_range_forget(&req->place, req->tx);
	e->state = UR_SWQE_STARTED;
	e->psn = req->tx_psn;
	e->npkts = e->opcode == UR_WR_FLUSH ? 1 : packets_of(qp, e->length);
	req->ssn = ur_psn_add(req->ssn, e->opcode != UR_WR_READ
						? 1
						: (e->npkts + qp->read_pkts -
						   1) / qp->read_pkts);
	e->ssn = req->ssn;
	count_start(qp, e);
	return STEP_NEXT;
}

/* ---- packets ---- */

/* UC: a packet is done when it has been sent. */
static void unreliable_done(struct ur_qp *qp)
{
	qp->req.una = qp->req.max_psn = qp->req.tx_psn;
	ur_completer_retire(qp);
}

static enum step step_of(struct ur_qp *qp, struct ur_swqe *e,
			 enum ur_request_result sent)
{
	switch (sent) {
	case UR_REQUEST_SENT:
		return STEP_NEXT;
	case UR_REQUEST_FULL:
		return STEP_FULL;
	case UR_REQUEST_FAULT:
		return fail_in_turn(qp, e, UR_WC_LOC_PROT_ERR);
	default:
		return STEP_BLOCK;
	}
}

static enum step step_of_defer(enum ur_defer defer)
{
	return defer == UR_DEFER_ROOM	   ? STEP_FULL
	       : defer == UR_DEFER_QUANTUM ? STEP_MORE
					   : STEP_BLOCK;
}

/* Within a host there is no path and no window. */
static u32 read_about(const struct ur_qp *qp)
{
	return qp->share.path ? ur_path_read(qp) : UINT32_MAX;
}

/* Returns whether the next request of the READ may go, with the right
 * length. */
static bool fit_read(struct ur_qp *qp, struct ur_swqe *e)
{
	bool may = qp->share.path || ur_qp_is_near(qp);

	return !qp->port->cfg.short_reads || !may || e->opcode != UR_WR_READ ||
	       ur_burst_fit_read(qp, e, read_about(qp));
}

static __attribute__((noinline)) enum step
send_read(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx)
{
	if (!fit_read(qp, e))
		return STEP_BLOCK;
	return step_of(qp, e, ur_request_read_type(qp, e, tx));
}

/* Sends the next packets of an entry. */
static inline __attribute__((always_inline)) enum step
send_now(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx, u32 *budget)
{
	enum step step = STEP_NEXT;
	enum ur_defer defer = UR_DEFER_NOT;
	u32 n = 0;

	if (qp->cc && !ur_cc_may_send(qp))
		return STEP_BLOCK;
	if (ur_swqe_is_read_type(e))
		step = send_read(qp, e, tx);
	else if (e->npkts > 2)
		n = ur_fastpath_send(qp, e, tx, *budget, &defer);
	if (defer)
		return step_of_defer(defer);
	*budget -= n;
	if (!n && !ur_swqe_is_read_type(e))
		step = step_of(qp, e, ur_request_data(qp, e, tx));
	if (qp->svc == UR_SVC_UC && step == STEP_NEXT)
		unreliable_done(qp);
	return step;
}

/* Returns the packets that the next request brings into flight; 0: it cannot go
 * yet. */
static u32 next_request(struct ur_qp *qp, struct ur_swqe *e)
{
	u32 i = ur_psn_sub(qp->req.tx_psn, e->psn);

	if (!ur_swqe_is_read_type(e))
		return 1;
	if (qp->req.rd_out >= qp->attr.max_rd_atomic) {
		if (qp->read_pkts < qp->read_most)
			ur_path_at_once(qp);
		return 0;
	}
	if (!fit_read(qp, e))
		return 0;
	return e->opcode == UR_WR_READ ? ur_read_end(qp, e, i) - i : 1;
}

/* Does the same if the path's window allows it. */
static __attribute__((noinline)) enum step
send_held(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx, u32 *budget)
{
	u32 psn = qp->req.tx_psn, need = next_request(qp, e);
	struct ur_av *av = qp->attr.av;
	enum step step;

	if (!need || !ur_path_may_send(qp, need))
		return STEP_BLOCK;
	if (qp->share.test)
		qp->attr.av = ur_path_test_av(qp);
	step = send_now(qp, e, tx, budget);
	qp->attr.av = av;
	if (qp->share.test && step == STEP_NEXT)
		ur_path_tested(qp);
	if (qp->req.again_at && psn == qp->req.again_psn)
		/* it had to wait for its turn */
		qp->req.again_at = qp->port->now;
	ur_path_sent(qp, ur_psn_sub(qp->req.tx_psn, psn));
	return step;
}

static enum step send_packet(struct ur_qp *qp, struct ur_swqe *e,
			     struct ur_tx *tx, u32 *budget)
{
	struct ur_requester *req = &qp->req;

	if (req->tx_psn == ur_swqe_end(e)) {
		req->tx++;
		return STEP_NEXT;
	}
	if (e->status)
		return fail_in_turn(qp, e, e->status);
	if (ur_qp_is_reliable(qp) && ur_inflight(req) >= req->window)
		return STEP_BLOCK;
	if (ur_path_holds(qp))
		return send_held(qp, e, tx, budget);
	return send_now(qp, e, tx, budget);
}

static bool is_held(const struct ur_qp *qp, const struct ur_swqe *e)
{
	const struct ur_port_config *cfg = &qp->port->cfg;

	return qp->svc == UR_SVC_UD && !e->ud.av->mcast &&
	       cfg->ops->holds(cfg->ctx, e->ud.av, e->ud.dqpn & UR_QPN_MASK,
			       true);
}

static enum step send_datagram(struct ur_qp *qp, struct ur_swqe *e,
			       struct ur_tx *tx)
{
	enum ur_quantum sent;
	u32 bytes;
	u8 status;

	if (qp->state == UR_QP_SQD) {
		ur_completer_retire(qp);
		return STEP_BLOCK;
	}
	if (e->opcode == UR_WR_NOP) {
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
		return STEP_NEXT;
	}
	status = check_start(qp, e);
	if (status)
		return fail_in_turn(qp, e, status);
	if (qp->cc && !ur_cc_may_send(qp))
		return STEP_BLOCK;
	if (qp->port->holds && is_held(qp, e)) {
		ur_port_held(qp->port, qp);
		return STEP_BLOCK;
	}
	bytes = e->length;
	sent = qp->svc == UR_SVC_UD ? ur_ud_send(qp, e, tx)
				    : ur_raw_send(qp, e, tx);
	if (sent != UR_QUANTUM_FULL)
		ur_cc_sent(qp, bytes);
	return sent == UR_QUANTUM_FULL ? STEP_FULL : STEP_NEXT;
}

static enum step try_loop(struct ur_qp *qp, struct ur_swqe *e, u32 *bytes,
			  bool *packets)
{
	u8 status;

	*packets = false;
	if ((e->flags & UR_WR_F_FENCE) && qp->req.rd_out)
		return STEP_BLOCK;
	status = check_start(qp, e);
	if (status)
		return fail_in_turn(qp, e, status);
	switch (ur_loopback_run(qp, e, bytes)) {
	case UR_LOOP_DONE:
		return STEP_NEXT;
	case UR_LOOP_MORE:
		return STEP_MORE;
	case UR_LOOP_WAIT:
		return STEP_BLOCK;
	default:
		*packets = true;
		return STEP_NEXT;
	}
}

/* Returns whether the entry may be executed directly: no packet may be
 * outstanding before it. */
static bool loop_candidate(const struct ur_qp *qp, const struct ur_swqe *e)
{
	return ur_qp_is_near(qp) && !qp->init.packets &&
	       (qp->port->cfg.loop || e->loop_off) &&
	       e->state == UR_SWQE_PULLED && e->opcode != UR_WR_NOP &&
	       e->opcode != UR_WR_BIND_MW && e->opcode != UR_WR_LOCAL_INV &&
	       qp->state == UR_QP_RTS && qp->req.una == qp->req.max_psn &&
	       qp->req.tx == qp->req.head &&
	       !(qp->cc && qp->cc->cap_bps && !e->loop_off);
}

static enum step step_entry(struct ur_qp *qp, struct ur_tx *tx, u32 *budget,
			    u32 *bytes)
{
	struct ur_swqe *e = ur_sq_entry(qp, qp->req.tx);
	enum step step;
	bool packets;

	if (ur_qp_is_datagram(qp))
		return send_datagram(qp, e, tx);
	if (e->state == UR_SWQE_DONE) {
		qp->req.tx++;
		return STEP_NEXT;
	}
	if (loop_candidate(qp, e)) {
		step = try_loop(qp, e, bytes, &packets);
		if (!packets)
			return step;
	}
	if (e->state == UR_SWQE_PULLED)
		return start_entry(qp, e);
	return send_packet(qp, e, tx, budget);
}

/* Sends the missing packets of the oldest entry. */
static enum step send_missing(struct ur_qp *qp, struct ur_swqe *e,
			      struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 sent = req->hole_pkts - req->hole_left;
	enum step step = STEP_NEXT;

	ur_assert_hot(req->hole_left <= req->hole_pkts);
	req->tx = req->head;
	req->tx_psn = ur_psn_add(req->una, (int)sent);
	while (req->hole_left && step == STEP_NEXT) {
		/* The last packet requests an acknowledgement. */
		req->since_ackreq = req->hole_left > 1 ? 0 : UR_ACK_PKTS;
		step = step_of(qp, e, ur_request_data(qp, e, tx));
		if (step == STEP_NEXT)
			req->hole_left--;
	}
	return step;
}

/* Sends the missing packets, and restores the sending position. */
static enum step send_hole(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	struct ur_swqe *e = ur_sq_entry(qp, req->head);
	u32 tx_index = req->tx, tx_psn = req->tx_psn;
	u32 sent = req->hole_pkts - req->hole_left, left;
	enum step step = STEP_NEXT;

	if (req->una == req->hole_psn && req->head != req->tail &&
	    e->state == UR_SWQE_STARTED && !e->status) {
		left = ur_psn_sub(ur_swqe_end(e), req->una);
		if (req->hole_pkts > left) {
			req->hole_pkts = left;
			req->hole_left = left - sent;
		}
		step = send_missing(qp, e, tx);
		if (step != STEP_NEXT && step != STEP_FULL)
			return step;
		req->tx = tx_index;
		req->tx_psn = tx_psn;
		if (ur_path_holds(qp))
			ur_path_sent(qp, 0);
		if (step == STEP_FULL)
			return step;
		req->hole_open = true;
	}
	req->hole_due = false;
	return step;
}

enum ur_quantum ur_requester_run(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 budget = UR_QUANTUM_ENTRIES, bytes = UR_QUANTUM_BYTES;

	ur_assert_hot(qp->has_sq);
	if (req->rnr_until) {
		if (qp->port->now < req->rnr_until)
			return UR_QUANTUM_IDLE;
		req->rnr_until = 0;
	}
	if (req->hole_due && send_hole(qp, tx) == STEP_FULL)
		return UR_QUANTUM_FULL;
	while (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD) {
		if (req->tx == req->tail && !ur_sq_pull(qp)) {
			/* The window may be full; answers, which free it,
			 * activate the queue pair. */
			ur_completer_retire(qp);
			return UR_QUANTUM_IDLE;
		}
		if (!budget--)
			return UR_QUANTUM_MORE;
		switch (step_entry(qp, tx, &budget, &bytes)) {
		case STEP_NEXT:
			break;
		case STEP_BLOCK:
			return UR_QUANTUM_IDLE;
		case STEP_MORE:
			return UR_QUANTUM_MORE;
		case STEP_FULL:
			return UR_QUANTUM_FULL;
		}
	}
	return UR_QUANTUM_IDLE;
}
