// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests ahead of a gap: kept in a slot of the port's pool, found when their
 * PSN is due, dropped.
 */
#include "transport/internal.h"
#include "util/assert.h"

static void give_back(struct ur_qp *qp, u32 index)
{
	struct ur_ooo *ooo = qp->resp.ooo;
	u16 s = ooo->slot[index];

	if (s == UR_OOO_NONE)
		return;
	ur_assert_hot(ooo->count);
	ur_ooo_give(&qp->port->ooo, s);
	ooo->slot[index] = UR_OOO_NONE;
	ooo->count--;
}

void ur_ooo_drop(struct ur_qp *qp, u32 psn)
{
	give_back(qp, psn % UR_OOO_SPAN);
}

void ur_ooo_drop_all(struct ur_qp *qp)
{
	struct ur_ooo *ooo = qp->resp.ooo;

	for (u32 i = 0; ooo && ooo->count && i < UR_OOO_SPAN; i++)
		give_back(qp, i);
}

/* Returns whether it is the same packet; the acknowledgement request may
 * differ. */
static bool is_same(const struct ur_ooo_slot *slot, const u8 *packet, u32 bytes)
{
	return slot->bytes == bytes && !memcmp(slot->packet, packet, 8) &&
	       !memcmp(slot->packet + 9, packet + 9, bytes - 9);
}

void ur_ooo_keep(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_ooo_pool *pool = &qp->port->ooo;
	struct ur_ooo *ooo = qp->resp.ooo;
	u32 bytes = pkt->header_bytes + pkt->payload_bytes + pkt->pad;
	u32 index = pkt->psn % UR_OOO_SPAN;
	const u8 *packet = pkt->payload - pkt->header_bytes;
	struct ur_ooo_slot *slot;

	if (!ooo || !ur_origin_familiar(&qp->resp.origin, pkt->sport) ||
	    ur_psn_sub(pkt->psn, qp->resp.epsn) >= UR_OOO_SPAN)
		return;
	if (ooo->slot[index] != UR_OOO_NONE) {
		slot = &pool->slot[ooo->slot[index]];
		if (slot->psn == pkt->psn && is_same(slot, packet, bytes))
			return;
		/* An outdated packet makes room. */
		give_back(qp, index);
		if (slot->psn == pkt->psn)
			return;
	}
	ooo->slot[index] = ur_ooo_take(pool);
	if (ooo->slot[index] == UR_OOO_NONE)
		return;
	ooo->count++;
	slot = &pool->slot[ooo->slot[index]];
	ur_assert_hot(bytes <= sizeof(slot->packet));
	slot->psn = pkt->psn;
	slot->bytes = (u16)bytes;
	memcpy(slot->packet, packet, bytes);
}

bool ur_ooo_find(struct ur_qp *qp, u32 psn, struct ur_pkt *pkt)
{
	const struct ur_ooo *ooo = qp->resp.ooo;
	const struct ur_ooo_slot *slot;

	if (!ooo || !ooo->count || ooo->slot[psn % UR_OOO_SPAN] == UR_OOO_NONE)
		return false;
	slot = &qp->port->ooo.slot[ooo->slot[psn % UR_OOO_SPAN]];
	return slot->psn == psn &&
	       ur_pkt_parse(pkt, slot->packet, slot->bytes) == UR_PKT_OK;
}

bool ur_ooo_waiting(struct ur_qp *qp)
{
	struct ur_ooo *ooo = qp->resp.ooo;

	for (u32 i = 0; ooo && ooo->count && i < UR_OOO_SPAN; i++) {
		if (ooo->slot[i] == UR_OOO_NONE)
			continue;
		if (ur_psn_diff(qp->port->ooo.slot[ooo->slot[i]].psn,
				qp->resp.epsn) > 0)
			return true;
		give_back(qp, i);
	}
	return false;
}
