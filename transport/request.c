// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Request packets: the next one of a started entry, from its opcode to the
 * payload behind it. IBTA volume 1, 9.4 (operations), 9.2 (base header).
 */
#include "transport/fastpath_range.h"
#include "transport/internal.h"
#include "transport/retry.h"

/* First or only, middle or last, with what the last one carries. */
static u8 send_write_opc(const struct ur_swqe *e, bool first, bool last)
{
	bool write = e->opcode == UR_WR_WRITE || e->opcode == UR_WR_WRITE_IMM;

	if (!last)
		return write ? first ? UR_OPC_WRITE_FIRST : UR_OPC_WRITE_MIDDLE
		       : first ? UR_OPC_SEND_FIRST
			       : UR_OPC_SEND_MIDDLE;
	switch (e->opcode) {
	case UR_WR_SEND:
		return first ? UR_OPC_SEND_ONLY : UR_OPC_SEND_LAST;
	case UR_WR_SEND_IMM:
		return first ? UR_OPC_SEND_ONLY_IMM : UR_OPC_SEND_LAST_IMM;
	case UR_WR_SEND_INV:
		return first ? UR_OPC_SEND_ONLY_INV : UR_OPC_SEND_LAST_INV;
	case UR_WR_WRITE:
		return first ? UR_OPC_WRITE_ONLY : UR_OPC_WRITE_LAST;
	default:
		return first ? UR_OPC_WRITE_ONLY_IMM : UR_OPC_WRITE_LAST_IMM;
	}
}

static u8 read_type_opc(const struct ur_swqe *e)
{
	switch (e->opcode) {
	case UR_WR_READ:
		return UR_OPC_READ_REQ;
	case UR_WR_CMP_SWAP:
	case UR_WR_MASK_CMP_SWAP:
		return UR_OPC_CMP_SWAP;
	case UR_WR_ATOMIC_WRITE:
		return UR_OPC_ATOMIC_WRITE;
	case UR_WR_FLUSH:
		return UR_OPC_FLUSH;
	default:
		return UR_OPC_FETCH_ADD;
	}
}

static struct ur_pkt packet_of(const struct ur_qp *qp, const struct ur_swqe *e,
			       u8 opc)
{
	return (struct ur_pkt){
		.opcode = qp->svc | opc,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = qp->attr.dest_qpn,
		.psn = qp->req.tx_psn,
		.xrc_srqn = e->xrc_srqn,
		.rkey = e->rkey,
		.va = e->raddr,
	};
}

enum ur_request_result ur_request_read_type(struct ur_qp *qp, struct ur_swqe *e,
					    struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	struct ur_pkt pkt = packet_of(qp, e, read_type_opc(e));
	u32 i = ur_psn_sub(req->tx_psn, e->psn), psns = 1, off, len;
	u8 *p;

	if (req->rd_out >= qp->attr.max_rd_atomic)
		return UR_REQUEST_BLOCK;
	pkt.ackreq = true;
	switch (e->opcode) {
	case UR_WR_READ:
		/* A long READ goes as several requests, to limit the answers in
		 * flight. */
		psns = ur_read_end(qp, e, i) - i;
		off = i << qp->mtu_shift;
		len = ur_min_u32(psns << qp->mtu_shift, e->length - off);
		pkt.va = e->raddr + off;
		pkt.dma_bytes = len;
		break;
	case UR_WR_ATOMIC_WRITE:
		pkt.dma_bytes = 8;
		pkt.payload_bytes = 8;
		break;
	case UR_WR_FLUSH:
		pkt.dma_bytes = (u32)e->flush.length;
		pkt.flush_placement = (u8)e->flush.type;
		pkt.flush_selectivity = (u8)e->flush.level;
		break;
	default:
		pkt.swap_add = e->atomic.swap_add;
		pkt.compare = e->atomic.compare;
	}
	p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES + 8);
	if (!p)
		return UR_REQUEST_FULL;
	len = (u32)ur_pkt_build(&pkt, p);
	if (pkt.payload_bytes &&
	    ur_swqe_gather(qp, e, 0, p + len, pkt.payload_bytes))
		return UR_REQUEST_FAULT;
	len += pkt.payload_bytes;
	ur_tx_commit(qp->port, tx, qp->attr.av, len);
	req->rd_out++;
	req->since_ackreq = 0;
	ur_requester_sent(qp, psns, 1);
	ur_cc_sent(qp, len);
	ur_retry_sent(qp, true);
	return UR_REQUEST_SENT;
}

static u32 pad_payload(u8 *payload, u32 bytes)
{
	u32 pad = ur_pkt_pad(bytes);

	memset(payload + bytes, 0, pad);
	return bytes + pad;
}

/* Reads the payload of a packet of several, where that is fetched ahead: from the first one on, and
 * whatever way the others go. */
static bool fetched(struct ur_qp *qp, struct ur_swqe *e, u32 off, u8 *to,
		    u32 bytes)
{
	struct ur_mr_range *s = &qp->req.source;
	u32 owner = qp->req.tx;

	if (e->npkts == 1 || (e->flags & UR_WR_F_INLINE))
		return false;
	if (bytes == qp->mtu)
		ur_range_find_local(qp, s, owner, qp->init.pd, e->sge,
				    e->num_sge, &e->cur, off, e->length, 0,
				    UR_RANGE_READ);
	return ur_range_take(qp, s, owner, off, to, bytes);
}

enum ur_request_result ur_request_data(struct ur_qp *qp, struct ur_swqe *e,
				       struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 i = ur_psn_sub(req->tx_psn, e->psn);
	u32 off = i << qp->mtu_shift;
	u32 bytes = ur_min_u32(qp->mtu, e->length - off);
	bool first = i == 0, last = i + 1 == e->npkts, ackreq = false;
	u8 opc = send_write_opc(e, first, last);
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES + bytes + 3);
	u32 len;

	if (!p)
		return UR_REQUEST_FULL;
	if (ur_qp_is_reliable(qp)) {
		req->since_ackreq++;
		ackreq = last || req->since_ackreq >= ur_inflight_ask(qp) ||
			 (qp->share.turn == 1 && ur_path_full(qp)) ||
			 ur_inflight(req) + 1 >= req->window;
	}
	if (!first && !last && qp->svc != UR_SVC_XRC) {
		ur_bth_build(p, qp->svc | opc, 0, 0, UR_PKEY_DEFAULT,
			     qp->attr.dest_qpn, ackreq, req->tx_psn);
		len = UR_BTH_BYTES;
	} else {
		struct ur_pkt pkt = packet_of(qp, e, opc);

		pkt.ackreq = ackreq;
		pkt.payload_bytes = bytes;
		pkt.dma_bytes = e->length;
		pkt.imm = __builtin_bswap32(e->imm_inv);
		pkt.inv_rkey = e->imm_inv;
		pkt.se = last && (e->flags & UR_WR_F_SOLICITED);
		len = (u32)ur_pkt_build(&pkt, p);
	}
	if (!fetched(qp, e, off, p + len, bytes) &&
	    ur_swqe_gather(qp, e, off, p + len, bytes))
		return UR_REQUEST_FAULT;
	len += pad_payload(p + len, bytes);
	ur_tx_commit(qp->port, tx, qp->attr.av, len);
	ur_requester_sent(qp, 1, 1);
	ur_cc_sent(qp, len);
	if (ackreq)
		req->since_ackreq = 0;
	if (ur_qp_is_reliable(qp))
		ur_retry_sent(qp, ackreq);
	return UR_REQUEST_SENT;
}

void ur_requester_sent(struct ur_qp *qp, u32 psns, u32 packets)
{
	struct ur_requester *req = &qp->req;

	req->tx_psn = ur_psn_add(req->tx_psn, psns);
	if (ur_inflight(req) > ur_psn_sub(req->max_psn, req->una)) {
		req->max_psn = req->tx_psn;
		req->fresh = true;
	} else {
		req->fresh = false;
		ur_qp_count(qp, UR_QP_CNT_resent_pkts, packets);
	}
}
