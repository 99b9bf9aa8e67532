// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lists of missing packets: BTH, whose PSN is the first missing one; four bytes
 * that say whose opcode this is; a bit for each PSN behind, first of a byte's
 * bits the highest, set where it has arrived. Without bits: the sender
 * understands such lists.
 */
#include "transport/internal.h"
#include "transport/retry.h"

#define MAGIC	   0x75726f31u /* "uro1" */
#define HEAD_BYTES 4
#define BITS_BYTES (UR_OOO_SPAN / 8)
#define TURN_NS	   50000u /* at least, of a round trip */

static u8 *begin(const struct ur_qp *qp, struct ur_tx *tx, u32 psn)
{
	const struct ur_pkt pkt = {
		.opcode = UR_OP_GAPS,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = qp->attr.dest_qpn,
		.psn = psn,
	};
	u8 *p = ur_tx_room(tx, UR_BTH_BYTES + HEAD_BYTES + BITS_BYTES);

	if (p)
		ur_put_be32(p + ur_pkt_build(&pkt, p), MAGIC);
	return p;
}

/* ---- the responder ---- */

/* Returns the bytes, a multiple of four: up to the last bit that is set. */
static u32 fill(const struct ur_qp *qp, u8 *bits)
{
	const struct ur_ooo *ooo = qp->resp.ooo;
	u32 bytes = 0;

	memset(bits, 0, BITS_BYTES);
	for (u32 i = 0; ooo && ooo->count && i < UR_OOO_SPAN - 1; i++) {
		u32 psn = ur_psn_add(qp->resp.epsn, (int)i + 1);
		u16 s = ooo->slot[psn % UR_OOO_SPAN];

		if (s == UR_OOO_NONE || qp->port->ooo.slot[s].psn != psn)
			continue;
		bits[i / 8] |= (u8)(0x80 >> i % 8);
		bytes = (i / 32 + 1) * 4;
	}
	return bytes;
}

bool ur_gaps_tell(struct ur_qp *qp, struct ur_tx *tx)
{
	u8 *p = begin(qp, tx, qp->resp.epsn);
	u32 bytes;

	if (!p)
		return false;
	qp->resp.gaps_due = false;
	bytes = fill(qp, p + UR_BTH_BYTES + HEAD_BYTES);
	if (bytes)
		ur_tx_commit(qp->port, tx, qp->attr.av,
			     UR_BTH_BYTES + HEAD_BYTES + bytes);
	return true;
}

/* ---- the requester ---- */

static void turn(struct ur_qp *qp)
{
	struct ur_gaps *g = &qp->req.gaps;
	u64 took = qp->port->now - g->turn_at;
	u64 trip = qp->req.srtt > TURN_NS ? qp->req.srtt : TURN_NS;

	if (took < trip)
		return;
	memcpy(g->sent[1], g->sent[0], sizeof(g->sent[1]));
	memset(g->sent[0], 0, sizeof(g->sent[0]));
	if (took >= 2 * trip)
		memset(g->sent[1], 0, sizeof(g->sent[1]));
	g->turn_at = qp->port->now;
}

static void set(u64 *bits, u32 psn, bool on)
{
	u64 bit = 1ull << (psn % 64), *word = &bits[psn % UR_OOO_SPAN / 64];

	*word = on ? *word | bit : *word & ~bit;
}

static void miss(struct ur_qp *qp, u32 psn)
{
	struct ur_requester *req = &qp->req;

	if (ur_gaps_recent(&req->gaps, psn) ||
	    ((req->hole_due || req->hole_open) && req->hole_psn == psn))
		return;
	set(req->gaps.due, psn, true);
	req->gaps.todo = true;
	req->sample_at = 0; /* it waits for what is missing */
	ur_retry_gap(qp);
}

/* Returns whether bit i is set of what a peer has sent. */
static bool is_set(const u8 *bits, u32 i)
{
	return bits[i / 8] & 0x80 >> i % 8;
}

static void rx_list(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	const u8 *bits = pkt->payload + HEAD_BYTES;
	u32 n = (pkt->payload_bytes - HEAD_BYTES) * 8;
	struct ur_requester *req = &qp->req;

	if (!qp->has_sq || (qp->state != UR_QP_RTS && qp->state != UR_QP_SQD) ||
	    !req->origin.known || req->origin.sport != pkt->sport)
		return;
	req->gaps.heard = true;
	if (req->holdoff_left || req->rnr_until)
		return;
	turn(qp);
	while (n && !is_set(bits, n - 1))
		n--;
	for (u32 i = 0; i < n; i++) {
		u32 psn = ur_psn_add(pkt->psn, (int)i);

		if (ur_psn_within(psn, req->una, ur_inflight(req)) &&
		    (!i || !is_set(bits, i - 1)))
			miss(qp, psn);
	}
	if (req->gaps.todo)
		ur_port_activate(qp->port, qp);
}

void ur_gaps_rx(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 n = pkt->payload_bytes;

	if (n < HEAD_BYTES || n > HEAD_BYTES + BITS_BYTES || pkt->pad ||
	    ur_get_be32(pkt->payload) != MAGIC)
		ur_count(qp->port, UR_CNT_bad_length);
	else if (n > HEAD_BYTES)
		rx_list(qp, pkt);
	else if (ur_origin_familiar(&qp->resp.origin, pkt->sport))
		qp->resp.gaps_wanted = true;
}

/* The entry of a packet that was sent and is not answered, from *index on. */
static struct ur_swqe *entry_of(const struct ur_qp *qp, u32 psn, u32 *index)
{
	for (; *index != qp->req.tail; ++*index) {
		struct ur_swqe *e = ur_sq_entry(qp, *index);

		if (e->state == UR_SWQE_PULLED)
			break;
		if (e->state == UR_SWQE_STARTED &&
		    ur_psn_sub(psn, e->psn) < e->npkts)
			return e;
	}
	return NULL;
}

/* Returns false where tx has no room. */
static bool send_again(struct ur_qp *qp, struct ur_swqe *e, u32 index, u32 psn,
		       struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 tx_index = req->tx, tx_psn = req->tx_psn;
	u32 since_ackreq = req->since_ackreq, asked_end = req->asked_end;
	enum ur_request sent;

	req->tx = index;
	req->tx_psn = psn;
	sent = ur_request_data(qp, e, tx);
	req->tx = tx_index;
	req->tx_psn = tx_psn;
	req->since_ackreq = since_ackreq;
	req->asked_end = asked_end;
	if (sent == UR_REQUEST_SENT)
		set(req->gaps.sent[0], psn, true);
	return sent != UR_REQUEST_FULL;
}

static bool send_due(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 index = req->head;

	for (u32 psn = req->una; psn != req->tx_psn; psn = ur_psn_add(psn, 1)) {
		struct ur_swqe *e;

		if (!ur_gaps_has(req->gaps.due, psn))
			continue;
		e = entry_of(qp, psn, &index);
		if (!e)
			break;
		if (!ur_swqe_is_read_type(e) && !e->status &&
		    !send_again(qp, e, index, psn, tx))
			return false;
		set(req->gaps.due, psn, false);
	}
	memset(req->gaps.due, 0, sizeof(req->gaps.due));
	return true;
}

bool ur_gaps_run(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_gaps *g = &qp->req.gaps;
	bool all;

	if (g->say) {
		if (!begin(qp, tx, qp->req.una))
			return false;
		ur_tx_commit(qp->port, tx, qp->attr.av,
			     UR_BTH_BYTES + HEAD_BYTES);
		g->say = false;
	}
	all = send_due(qp, tx);
	if (ur_path_holds(qp))
		ur_path_sent(qp, 0);
	g->todo = !all;
	return all;
}
