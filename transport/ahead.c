// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the end of a message before its begin, for a host that plays a hostile
 * card. IBTA volume 1, 9.5 (transaction ordering): no program may rely on the
 * order in which the bytes of a message reach memory.
 *
 * Only memory changes. The packets are received afterwards as usual, and write
 * the same bytes again.
 */
#include "transport/internal.h"
#include "transport/port.h"

/* Parses a request packet that this queue pair would accept now. */
static struct ur_qp *acceptor(struct ur_port *port,
			      const struct ur_rx_meta *meta,
			      const struct ur_pkt *pkt)
{
	struct ur_qp *qp = ur_port_qp(port, pkt->dqpn);

	if (!qp || !ur_qp_is_reliable(qp) || pkt->pkey != UR_PKEY_DEFAULT ||
	    (pkt->opcode & UR_SVC_MASK) != qp->svc ||
	    (pkt->op->flags & UR_OPF_RESPONSE) ||
	    !(pkt->op->flags & UR_OPF_START) ||
	    !(pkt->op->flags & (UR_OPF_SEND | UR_OPF_WRITE)) ||
	    (qp->state != UR_QP_RTR && qp->state != UR_QP_RTS) ||
	    !ur_qp_addresses_fit(qp, meta))
		return NULL;
	ur_responder_domain(qp, pkt->xrc_srqn);
	return ur_rx_check(qp, pkt) == UR_VERDICT_ACCEPT ? qp : NULL;
}

/* Writes len bytes to offset off of the message that begins with first. */
static bool place(struct ur_qp *qp, const struct ur_pkt *first, u32 off,
		  const u8 *from, u32 len)
{
	struct ur_responder *resp = &qp->resp;
	struct ur_cursor cur = {0};
	struct ur_span span;
	enum ur_verdict v;

	if (first->op->flags & UR_OPF_WRITE)
		return off <= first->dma_bytes &&
		       len == first->dma_bytes - off &&
		       ur_mem_remote(qp, first->rkey, first->va + off, len,
				     UR_ACCESS_REMOTE_WRITE, &span) &&
		       !ur_span_write(&span, from, len, false);
	return ur_responder_take(qp, first->xrc_srqn, &v) &&
	       off <= resp->rqe.length && len <= resp->rqe.length - off &&
	       !ur_mem_scatter(qp->port, resp->rqe.pd, resp->rqe_sge,
			       resp->rqe.num_sge, &cur, off, from, len, false);
}

bool ur_port_place_ahead(struct ur_port *port, ur_time now,
			 const struct ur_rx_meta *meta, const u8 *first,
			 u32 first_len, const u8 *last, u32 last_len)
{
	struct ur_pkt a, z;
	struct ur_qp *qp;
	u32 off, half;

	port->now = now;
	if (ur_pkt_parse(&a, first, first_len) ||
	    ur_pkt_parse(&z, last, last_len))
		return false;
	qp = acceptor(port, meta, &a);
	if (!qp || z.dqpn != a.dqpn || !(z.op->flags & UR_OPF_END) ||
	    (z.opcode & UR_SVC_MASK) != qp->svc ||
	    (z.op->flags & (UR_OPF_SEND | UR_OPF_WRITE)) !=
		    (a.op->flags & (UR_OPF_SEND | UR_OPF_WRITE)) ||
	    z.payload_bytes > qp->mtu)
		return false;
	if (first == last) {
		half = a.payload_bytes / 2;
		return half && place(qp, &a, a.payload_bytes - half,
				     a.payload + a.payload_bytes - half, half);
	}
	off = ur_psn_sub(z.psn, a.psn);
	if (!z.payload_bytes || off > UR_MAX_MSG_BYTES >> qp->mtu_shift)
		return false;
	return place(qp, &a, off << qp->mtu_shift, z.payload, z.payload_bytes);
}
