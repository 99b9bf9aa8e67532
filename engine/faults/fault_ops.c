// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The transport's callbacks while there are fault rules or hostile cards: they call
 * the ordinary ones and change their results. */
#include "engine/faults/adverse.h"
#include "engine/faults/faults.h"

static u32 op_of_wr(u8 opcode)
{
	switch (opcode) {
	case UR_WR_SEND:
	case UR_WR_SEND_IMM:
	case UR_WR_SEND_INV:
		return UR_FAULT_OP_SEND;
	case UR_WR_WRITE:
	case UR_WR_WRITE_IMM:
		return UR_FAULT_OP_WRITE;
	case UR_WR_READ:
		return UR_FAULT_OP_READ;
	case UR_WR_FLUSH:
		return UR_FAULT_OP_FLUSH;
	case UR_WR_CMP_SWAP:
	case UR_WR_FETCH_ADD:
	case UR_WR_MASK_CMP_SWAP:
	case UR_WR_MASK_FETCH_ADD:
	case UR_WR_ATOMIC_WRITE:
		return UR_FAULT_OP_ATOMIC;
	default:
		return 0; /* an operation that sends nothing to a peer */
	}
}

static int sq_next(void *qp_ctx, struct ur_send_wr *wr)
{
	struct ur_eqp *qp = qp_ctx;
	u64 status;
	u32 op;
	int ret;

	if (ur_adverse_waits(qp))
		return 0;
	ret = ur_sq_next(qp_ctx, wr);
	op = ret > 0 ? op_of_wr(wr->opcode) : 0;
	if (op &&
	    ur_faults_strike(qp->engine, UR_FAULT_WC, qp->qpn, op, &status))
		wr->opcode = (u8)(UR_WR_FAILS | status);
	return ret;
}

static int cq_push(void *cq_ctx, const struct ur_wc *wc)
{
	struct ur_ecq *cq = cq_ctx;
	u64 none;

	if (ur_faults_strike(cq->ectx->engine, UR_FAULT_CQ_OVERRUN, wc->qpn, 0,
			     &none))
		return ur_ecq_overrun(cq);
	return cq->adverse ? ur_adverse_push(cq, wc) : ur_cq_push(cq, wc);
}

/* Returns whether the packet begins a SEND, which takes a receive request. */
static bool begins_send(u8 opcode)
{
	switch (opcode & ~UR_SVC_MASK) {
	case UR_OPC_SEND_FIRST:
	case UR_OPC_SEND_ONLY:
	case UR_OPC_SEND_ONLY_IMM:
	case UR_OPC_SEND_ONLY_INV:
		return true;
	default:
		return false;
	}
}

static enum ur_refusal refuse(void *qp_ctx, u8 opcode)
{
	struct ur_eqp *qp = qp_ctx;
	u32 op = ur_faults_op(opcode);
	u64 code;

	if (ur_faults_strike(qp->engine, UR_FAULT_NAK, qp->qpn, op, &code))
		return (enum ur_refusal)code;
	if (begins_send(opcode) && ur_adverse_refuses(qp))
		return UR_REFUSE_RNR;
	if (begins_send(opcode) &&
	    ur_faults_strike(qp->engine, UR_FAULT_RNR, qp->qpn, op, &code))
		return UR_REFUSE_RNR;
	return UR_REFUSE_NOT;
}

const struct ur_host_ops ur_fault_host_ops = {
	.sq_next = sq_next,
	.sq_retire = ur_sq_retire,
	.rq_next = ur_rq_next,
	.rq_count = ur_rq_count,
	.rq_want_kick = ur_rq_want_kick,
	.cq_push = cq_push,
	.qp_event = ur_host_qp_event,
	.qp_failed = ur_host_qp_failed,
	.srq_event = ur_host_srq_event,
	.refuse = refuse,
};
