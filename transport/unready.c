// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Keeps packets of queue pairs in state INIT until they can receive. */
#include "transport/internal.h"

static u16 pop(struct ur_qp *qp)
{
	struct ur_unready *u = &qp->unready;
	u16 s = u->first;

	if (!u->count)
		return UR_OOO_NONE;
	ur_assert_hot(qp->port->unready);
	u->first = qp->port->ooo.slot[s].next;
	u->count--;
	qp->port->unready--;
	return s;
}

static void drop_first(struct ur_qp *qp)
{
	ur_count(qp->port, UR_CNT_bad_state);
	ur_ooo_give(&qp->port->ooo, pop(qp));
}

static void forget_old(struct ur_qp *qp)
{
	const struct ur_port *port = qp->port;

	while (qp->unready.count &&
	       port->now - port->ooo.slot[qp->unready.first].at > UR_UNREADY_NS)
		drop_first(qp);
}

static bool is_kept(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	return qp->port->cfg.ooo && qp->state == UR_QP_INIT &&
	       !ur_qp_is_datagram(qp) && qp->init.type != UR_QPT_XRC_INI &&
	       (pkt->opcode & UR_SVC_MASK) == qp->svc &&
	       !(pkt->op->flags & (UR_OPF_CNP | UR_OPF_RESPONSE)) &&
	       qp->unready.count < UR_UNREADY_QP &&
	       qp->port->unready < UR_UNREADY_PORT;
}

bool ur_unready_keep(struct ur_qp *qp, const struct ur_rx_meta *meta,
		     const struct ur_pkt *pkt)
{
	u32 bytes = pkt->header_bytes + pkt->payload_bytes + pkt->pad;
	struct ur_ooo_pool *pool = &qp->port->ooo;
	struct ur_unready *u = &qp->unready;
	struct ur_ooo_slot *slot;
	u16 s;

	forget_old(qp);
	if (!is_kept(qp, pkt))
		return false;
	s = ur_ooo_take(pool);
	if (s == UR_OOO_NONE)
		return false;
	slot = &pool->slot[s];
	ur_assert_hot(bytes <= sizeof(slot->packet));
	slot->bytes = (u16)bytes;
	slot->at = qp->port->now;
	slot->meta = *meta;
	memcpy(slot->packet, pkt->payload - pkt->header_bytes, bytes);
	if (u->count)
		pool->slot[u->last].next = s;
	else
		u->first = s;
	u->last = s;
	u->count++;
	qp->port->unready++;
	return true;
}

u16 ur_unready_take(struct ur_qp *qp, struct ur_rx_meta *meta,
		    struct ur_pkt *pkt)
{
	const struct ur_ooo_slot *slot;
	enum ur_pkt_error error;
	u16 s;

	forget_old(qp);
	s = pop(qp);
	if (s == UR_OOO_NONE)
		return s;
	slot = &qp->port->ooo.slot[s];
	/* It was parsed before, and nobody else writes to the slot. */
	error = ur_pkt_parse(pkt, slot->packet, slot->bytes);
	ur_assert(error == UR_PKT_OK);
	*meta = slot->meta;
	pkt->sport = meta->udp_sport;
	return s;
}

void ur_unready_drop(struct ur_qp *qp)
{
	while (qp->unready.count)
		drop_first(qp);
}
