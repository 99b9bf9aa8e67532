// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Executes accepted requests of RC and XRC.
 */
#include "transport/internal.h"

void ur_execute_complete(struct ur_qp *qp, u32 flags, u32 byte_len, u32 imm,
			 u32 inv_rkey, bool se)
{
	struct ur_wc wc = {
		.opcode = flags & UR_OPF_WRITE ? UR_WC_RECV_RDMA_WITH_IMM
					       : UR_WC_RECV,
		.byte_len = byte_len,
		.src_qp = qp->attr.dest_qpn,
		.solicited = se,
	};

	if (flags & UR_OPF_IMM) {
		wc.wc_flags |= UR_WC_F_IMM;
		wc.imm_inv = __builtin_bswap32(imm);
	}
	if (flags & UR_OPF_INV) {
		wc.wc_flags |= UR_WC_F_INV;
		wc.imm_inv = inv_rkey;
	}
	if (qp->attr.av)
		wc.sl = qp->attr.av->sl;
	ur_count(qp->port, UR_CNT_rdma_recvs);
	ur_rq_complete(qp, &wc);
}

/* Moves on to the next packet. */
static void advance(struct ur_qp *qp, u32 psns, bool message_done)
{
	qp->resp.epsn = ur_psn_add(qp->resp.epsn, psns);
	if (message_done)
		qp->resp.msn = ur_psn_add(qp->resp.msn, 1);
}

static enum ur_verdict do_send(struct ur_qp *qp, const struct ur_pkt *pkt,
			       u8 *status)
{
	struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	bool start = flags & UR_OPF_START, end = flags & UR_OPF_END;
	u32 off = start ? 0 : resp->offset;
	enum ur_verdict v;
	int err;

	if (start && !ur_responder_take(qp, pkt->xrc_srqn, &v))
		return v;
	if (pkt->payload_bytes > resp->rqe.length - off) {
		*status = UR_WC_LOC_LEN_ERR;
		return UR_VERDICT_NAK_INVALID;
	}
	if ((flags & UR_OPF_INV) &&
	    !ur_mw_invalidate(qp, pkt->inv_rkey, false)) {
		*status = UR_WC_MW_BIND_ERR;
		return UR_VERDICT_CLASS_J;
	}
	err = ur_mem_scatter(qp->port, resp->rqe.pd, resp->rqe_sge,
			     resp->rqe.num_sge, &resp->rqe.cur, off,
			     pkt->payload, pkt->payload_bytes, end);
	if (err) {
		*status = UR_WC_LOC_PROT_ERR;
		return ur_responder_blame(err, UR_VERDICT_NAK_OP);
	}
	advance(qp, 1, end);
	resp->offset = off + pkt->payload_bytes;
	resp->msg = end ? UR_RX_NONE : UR_RX_SEND;
	if (!end)
		return UR_VERDICT_ACCEPT;
	if (flags & UR_OPF_INV)
		ur_mw_invalidate(qp, pkt->inv_rkey, true);
	ur_rest_scribble(qp, resp->offset);
	ur_execute_complete(qp, flags, resp->offset, pkt->imm, pkt->inv_rkey,
			    pkt->se);
	return UR_VERDICT_ACCEPT;
}

static enum ur_verdict do_write(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	bool start = flags & UR_OPF_START, end = flags & UR_OPF_END;
	u32 rkey = start ? pkt->rkey : resp->rkey;
	u64 va = start ? pkt->va : resp->va;
	u32 off = start ? 0 : resp->offset;
	struct ur_span span;
	enum ur_verdict v;

	if ((flags & UR_OPF_RECV_WQE) &&
	    !ur_responder_take(qp, pkt->xrc_srqn, &v))
		return v;
	if (pkt->payload_bytes) {
		if (!ur_mem_remote(qp, rkey, va + off, pkt->payload_bytes,
				   UR_ACCESS_REMOTE_WRITE, &span))
			return UR_VERDICT_NAK_ACCESS;
		v = ur_responder_blame(ur_span_write(&span, pkt->payload,
						     pkt->payload_bytes, end),
				       UR_VERDICT_NAK_ACCESS);
		if (v)
			return v;
	}
	if (start) {
		ur_count(qp->port, UR_CNT_rx_write_requests);
		resp->rkey = rkey;
		resp->va = va;
		resp->length = pkt->dma_bytes;
		resp->place.gen = 0;
	}
	advance(qp, 1, end);
	resp->offset = off + pkt->payload_bytes;
	resp->msg = end ? UR_RX_NONE : UR_RX_WRITE;
	if (flags & UR_OPF_RECV_WQE)
		ur_execute_complete(qp, flags, resp->offset, pkt->imm, 0,
				    pkt->se);
	return UR_VERDICT_ACCEPT;
}

int ur_execute_atomic(const struct ur_span *span, bool cmp_swap, u64 swap_add,
		      u64 compare, u64 *orig)
{
	if (cmp_swap)
		return ur_span_cas(span, compare, UINT64_MAX, swap_add,
				   UINT64_MAX, orig);
	return ur_span_faa(span, swap_add, 0, orig);
}

static enum ur_verdict do_flush(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_span span;

	if (!ur_mem_flushed(qp, pkt->rkey, pkt->va, pkt->dma_bytes,
			    pkt->flush_placement, pkt->flush_selectivity,
			    &span))
		return UR_VERDICT_NAK_ACCESS;
	return ur_span_flush(&span, pkt->flush_placement) ? UR_VERDICT_NAK_OP
							  : UR_VERDICT_ACCEPT;
}

/* Makes the request's change to memory, once. Its range has been checked. */
static enum ur_verdict do_effect(struct ur_qp *qp, const struct ur_pkt *pkt,
				 u64 *orig)
{
	u32 flags = pkt->op->flags;
	struct ur_span span;
	int err;

	if (flags & UR_OPF_READ_REQ)
		return UR_VERDICT_ACCEPT;
	if (flags & UR_OPF_FLUSH)
		return do_flush(qp, pkt);
	if (!ur_mem_remote(qp, pkt->rkey, pkt->va, 8,
			   ur_access_needed(flags, 0), &span))
		return UR_VERDICT_NAK_ACCESS;
	if (flags & UR_OPF_ATOMIC)
		err = ur_execute_atomic(
			&span, (pkt->opcode & UR_OPC_MASK) == UR_OPC_CMP_SWAP,
			pkt->swap_add, pkt->compare, orig);
	else
		err = ur_span_write(&span, pkt->payload, 8, false);
	return ur_responder_blame(err, UR_VERDICT_NAK_ACCESS);
}

/* Executes a READ, atomic, ATOMIC WRITE or FLUSH, and queues its answer. */
static enum ur_verdict do_answered(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	struct ur_resource *res;
	enum ur_verdict v;
	u64 orig = 0;
	u32 npkts = 1;

	v = do_effect(qp, pkt, &orig);
	if (v)
		return v;
	if ((flags & UR_OPF_READ_REQ) && pkt->dma_bytes)
		npkts = (pkt->dma_bytes + qp->mtu - 1) >> qp->mtu_shift;
	advance(qp, npkts, true);
	ur_count(qp->port, flags & UR_OPF_READ_REQ ? UR_CNT_rx_read_requests
						   : UR_CNT_rx_atomic_requests);
	res = ur_replay_take(qp);
	*res = (struct ur_resource){
		.opc = pkt->opcode & UR_OPC_MASK,
		.psn = pkt->psn,
		.npkts = npkts,
		.msn = qp->resp.msn,
		.rkey = pkt->rkey,
		.pd = qp->init.pd,
		.va = pkt->va,
		.length = pkt->dma_bytes,
		.orig = orig,
	};
	ur_replay_queue(qp, res, pkt->psn, npkts);
	return UR_VERDICT_ACCEPT;
}

enum ur_verdict ur_execute(struct ur_qp *qp, const struct ur_pkt *pkt,
			   u8 *status)
{
	u32 flags = pkt->op->flags;

	if (flags & UR_OPF_SEND)
		return do_send(qp, pkt, status);
	if (flags & UR_OPF_WRITE)
		return do_write(qp, pkt);
	return do_answered(qp, pkt);
}
