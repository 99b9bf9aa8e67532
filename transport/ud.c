// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * UD: one packet a message, addressed by each work request. IBTA volume 1,
 * 9.8.3; the first 40 bytes of a receive are the GRH (annex A17 for IP).
 */
#include "transport/internal.h"
#include "transport/mcast.h"

#define IPV4_IN_GRH 20 /* the IPv4 header takes the second half */

static u16 ipv4_checksum(const u8 *h)
{
	u32 sum = 0;

	for (u32 i = 0; i < UR_IPV4_BYTES; i += 2)
		sum += ur_get_be16(h + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (u16)~sum;
}

/* bytes: of the IB packet, BTH to pad. */
static void build_grh(u8 grh[UR_GRH_BYTES], const struct ur_rx_meta *meta,
		      u32 bytes)
{
	u8 *ip = grh + IPV4_IN_GRH;

	memset(grh, 0, UR_GRH_BYTES);
	bytes += UR_ICRC_BYTES;
	if (!meta->v1)
		bytes += UR_UDP_BYTES;
	if (!meta->v4 || meta->v1) {
		ur_put_be32(grh, 6u << 28 | (u32)meta->tos << 20 |
					 (meta->flow_label & 0xfffff));
		ur_put_be16(grh + 4, (u16)bytes);
		grh[6] = meta->v1 ? UR_GRH_NEXT_HDR_IBA : 17; /* UDP */
		grh[7] = meta->ttl;
		memcpy(grh + 8, meta->saddr, 16);
		memcpy(grh + 24, meta->daddr, 16);
		return;
	}
	ip[0] = 0x45;
	ip[1] = meta->tos;
	ur_put_be16(ip + 2, (u16)(bytes + UR_IPV4_BYTES));
	ur_put_be16(ip + 6, UR_IPV4_DF);
	ip[8] = meta->ttl;
	ip[9] = 17;
	memcpy(ip + 12, meta->saddr + 12, 4);
	memcpy(ip + 16, meta->daddr + 12, 4);
	ur_put_be16(ip + 10, ipv4_checksum(ip));
}

/*
 * Annex A17.4.5.1 wants a completion to tell IPv4, IPv6 and RoCEv1 apart, and
 * verbs have no field for it. Mellanox's cards use the service level, which no
 * RoCE packet carries, and UCX reads it there to find the destination address
 * in the GRH area.
 */
static u8 packet_type(const struct ur_rx_meta *meta)
{
	return meta->v1	  ? UR_WC_SL_ROCE_V1
	       : meta->v4 ? UR_WC_SL_ROCE_V2_IPV4
			  : UR_WC_SL_ROCE_V2_IPV6;
}

static void complete(struct ur_qp *qp, const struct ur_rx_meta *meta,
		     const struct ur_pkt *pkt)
{
	struct ur_wc wc = {
		.opcode = UR_WC_RECV,
		.byte_len = pkt->payload_bytes + UR_GRH_BYTES,
		.src_qp = pkt->sqpn,
		.wc_flags = UR_WC_F_GRH,
		.sl = packet_type(meta),
		.solicited = pkt->se,
	};

	if (pkt->op->flags & UR_OPF_IMM) {
		wc.wc_flags |= UR_WC_F_IMM;
		wc.imm_inv = __builtin_bswap32(pkt->imm);
	}
	ur_count(qp->port, UR_CNT_rdma_recvs);
	ur_rq_complete(qp, &wc);
}

bool ur_ud_rx(struct ur_qp *qp, const struct ur_rx_meta *meta,
	      const struct ur_pkt *pkt)
{
	struct ur_rqe *rqe = &qp->resp.rqe;
	u8 grh[UR_GRH_BYTES];

	if (!ur_qp_sender_fits(qp, meta, pkt->sqpn)) {
		ur_count(qp->port, UR_CNT_bad_gid);
		return false;
	}
	if (pkt->qkey != qp->attr.qkey) {
		ur_count(qp->port, UR_CNT_bad_qkey);
		return false;
	}
	if (pkt->payload_bytes > qp->port->cfg.mtu_bytes) {
		ur_count(qp->port, UR_CNT_bad_length);
		return false;
	}
	if (!ur_rq_take(qp, qp->init.srq)) {
		ur_count(qp->port, UR_CNT_out_of_buffer);
		return true;
	}
	if (pkt->payload_bytes + UR_GRH_BYTES > rqe->length) {
		/* The receive stays for the next packet that fits. */
		ur_count(qp->port, UR_CNT_resp_local_length_error);
		return true;
	}
	build_grh(grh, meta, pkt->header_bytes + pkt->payload_bytes + pkt->pad);
	if (ur_mem_scatter(qp->port, rqe->pd, qp->resp.rqe_sge, rqe->num_sge,
			   &rqe->cur, 0, grh, UR_GRH_BYTES, false) ||
	    ur_mem_scatter(qp->port, rqe->pd, qp->resp.rqe_sge, rqe->num_sge,
			   &rqe->cur, UR_GRH_BYTES, pkt->payload,
			   pkt->payload_bytes, true)) {
		ur_responder_fatal(qp, UR_VERDICT_NAK_OP, UR_WC_LOC_PROT_ERR,
				   NULL);
		return true;
	}
	ur_rest_scribble(qp, pkt->payload_bytes + UR_GRH_BYTES);
	complete(qp, meta, pkt);
	return true;
}

/* Delivers a datagram to this port without building a packet. */
static bool deliver_here(struct ur_qp *qp, const struct ur_swqe *e,
			 struct ur_pkt *pkt, const u8 *payload)
{
	struct ur_port *port = qp->port;
	struct ur_rx_meta meta;
	struct ur_qp *to;

	pkt->op = ur_opcode_lookup(pkt->opcode);
	pkt->payload = payload;
	pkt->header_bytes = pkt->op->header_bytes;
	pkt->pad = (u8)ur_pkt_pad(pkt->payload_bytes);
	ur_av_meta(e->ud.av, &meta);
	if (e->ud.av->mcast) {
		ur_mcast_rx(port, qp, &meta, pkt);
		return false; /* the wire gets a copy as well */
	}
	/* The host has QP1. */
	if (!port->cfg.loop || !e->ud.av->loop || pkt->dqpn == UR_QPN_GSI)
		return false;
	to = ur_port_qp(port, pkt->dqpn);
	if (!to &&
	    ur_shard_of(pkt->dqpn, port->cfg.shard_bits) != port->cfg.shard)
		return false; /* the host knows its port */
	if (!to)
		ur_count(port, UR_CNT_bad_qpn);
	else if (to->svc != UR_SVC_UD)
		ur_count(port, UR_CNT_bad_opcode);
	else if (!to->receives)
		ur_count(port, UR_CNT_bad_state);
	else
		ur_ud_rx(to, &meta, pkt);
	ur_count(port, UR_CNT_loop_msgs);
	ur_port_count(port, UR_CNT_loop_bytes, pkt->payload_bytes);
	ur_qp_count_loop(qp, pkt->payload_bytes);
	if (to)
		ur_qp_count_loop(to, pkt->payload_bytes);
	return true;
}

enum ur_quantum ur_ud_send(struct ur_qp *qp, struct ur_swqe *e,
			   struct ur_tx *tx)
{
	/* A Q_Key with the high bit set stands for the queue pair's own (IBTA
	 * 10.2.5). */
	struct ur_pkt pkt = {
		.opcode = e->opcode == UR_WR_SEND_IMM ? UR_OP_UD_SEND_ONLY_IMM
						      : UR_OP_UD_SEND_ONLY,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = e->ud.dqpn & UR_QPN_MASK,
		.psn = qp->req.tx_psn,
		.qkey = e->ud.qkey & UR_QKEY_PRIVILEGED ? qp->attr.qkey
							: e->ud.qkey,
		.sqpn = qp->qpn,
		.se = e->flags & UR_WR_F_SOLICITED,
		.imm = __builtin_bswap32(e->imm_inv),
		.payload_bytes = e->length,
	};
	struct ur_requester *req = &qp->req;
	u32 len, pad;
	u8 *p;

	if (e->length > qp->port->cfg.mtu_bytes) {
		/* C10-93.1.1: not sent, and not an error either. */
		ur_count(qp->port, UR_CNT_send_err);
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
		return UR_QUANTUM_MORE;
	}
	p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES + e->length + 3);
	if (!p)
		return UR_QUANTUM_FULL;
	len = (u32)ur_pkt_build(&pkt, p);
	if (ur_swqe_gather(qp, e, 0, p + len, e->length)) {
		ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
		return UR_QUANTUM_MORE;
	}
	if (e->ud.av->ecn)
		ur_ud_set_ecn(qp, e->ud.av);
	req->tx_psn = ur_psn_add(req->tx_psn, 1);
	req->una = req->max_psn = req->tx_psn;
	ur_count(qp->port, UR_CNT_rdma_sends);
	if (!deliver_here(qp, e, &pkt, p + len)) {
		pad = ur_pkt_pad(e->length);
		memset(p + len + e->length, 0, pad);
		ur_tx_commit(qp->port, tx, e->ud.av, len + e->length + pad);
	}
	if (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD)
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
	return UR_QUANTUM_MORE;
}

void ur_mcast_rx(struct ur_port *port, const struct ur_qp *sender,
		 const struct ur_rx_meta *meta, const struct ur_pkt *pkt)
{
	struct ur_mcast_group *g = ur_mcast_find(port, meta->daddr);

	if (!g) {
		ur_count(port, UR_CNT_bad_gid);
		return;
	}
	ur_list_for_each(it, &g->members) {
		struct ur_qp *qp =
			ur_list_entry(it, struct ur_mcast_member, list)->qp;

		if (qp->state < UR_QP_RTR || qp->state > UR_QP_SQE)
			continue;
		if (qp == sender && qp->init.block_self_mcast)
			continue;
		ur_qp_count_rx(qp, UR_BTH_BYTES + UR_DETH_BYTES +
					   pkt->payload_bytes);
		ur_ud_rx(qp, meta, pkt);
	}
}
