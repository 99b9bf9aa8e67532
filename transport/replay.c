// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Responder resources, which allow answering a READ or atomic again, and the
 * ordered queue of answers. IBTA volume 1, 9.7.5.1.4 (duplicate requests),
 * 9.7.4.1.5.
 */
#include "transport/internal.h"
#include "util/assert.h"

void ur_replay_reset(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;

	if (resp->res_count)
		memset(resp->res, 0, resp->res_count * sizeof(*resp->res));
	resp->res_next = 0;
	resp->source.gen = 0;
	resp->item_head = resp->item_tail = 0;
}

static bool items_full(const struct ur_responder *resp)
{
	return !resp->items ||
	       resp->item_tail - resp->item_head > resp->item_mask;
}

static struct ur_resp_item *find_item(struct ur_responder *resp, u32 resource)
{
	for (u32 i = resp->item_head; i != resp->item_tail; i++) {
		struct ur_resp_item *it = &resp->items[i & resp->item_mask];

		if ((it->kind == UR_RESP_READ || it->kind == UR_RESP_ATOMIC) &&
		    it->resource == resource)
			return it;
	}
	return NULL;
}

bool ur_replay_free(const struct ur_qp *qp)
{
	const struct ur_responder *resp = &qp->resp;

	const struct ur_resource *res;

	if (!resp->res_count)
		return false;
	/* The oldest one is reused. If its answer is being repeated, the peer
	 * has had it, or could not have sent a new request. */
	ur_assert_hot(resp->res_next < resp->res_count);
	res = &resp->res[resp->res_next];
	return !res->queued || res->answered;
}

struct ur_resource *ur_replay_take(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;
	struct ur_resource *res = &resp->res[resp->res_next];
	struct ur_resp_item *it;

	ur_assert(resp->res_next < resp->res_count);
	if (res->queued) {
		it = find_item(resp, resp->res_next);
		ur_assert(it);
		it->kind = UR_RESP_NONE;
	}
	ur_mr_range_forget(&resp->source, resp->res_next);
	if (++resp->res_next == resp->res_count)
		resp->res_next = 0;
	return res;
}

/* Removes the empty items of withdrawn answers. */
static void squeeze(struct ur_responder *resp)
{
	u32 to = resp->item_head;

	ur_assert_hot(resp->items &&
		      resp->item_tail - resp->item_head <= resp->item_mask + 1);
	for (u32 i = resp->item_head; i != resp->item_tail; i++) {
		struct ur_resp_item *it = &resp->items[i & resp->item_mask];

		if (it->kind != UR_RESP_NONE)
			resp->items[to++ & resp->item_mask] = *it;
	}
	resp->item_tail = to;
}

/* Inserts an item in the order of PSNs: a peer that requests again drops
 * earlier-sent answers to later requests. */
static struct ur_resp_item *insert_item(struct ur_responder *resp, u32 psn)
{
	u32 i = resp->item_tail++, mask = resp->item_mask;

	ur_assert_hot(!items_full(resp));
	while (i != resp->item_head &&
	       ur_psn_diff(resp->items[(i - 1) & mask].psn, psn) > 0) {
		resp->items[i & mask] = resp->items[(i - 1) & mask];
		i--;
	}
	return &resp->items[i & mask];
}

bool ur_replay_queue(struct ur_qp *qp, struct ur_resource *res, u32 psn,
		     u32 npkts)
{
	struct ur_responder *resp = &qp->resp;
	u32 index = (u32)(res - resp->res);
	struct ur_resp_item *it;

	if (res->queued) {
		it = find_item(resp, index);
		ur_assert(it);
	} else {
		if (items_full(resp))
			squeeze(resp);
		if (items_full(resp))
			return false;
		it = insert_item(resp, psn);
	}
	res->queued = true;
	it->kind = res->opc == UR_OPC_CMP_SWAP || res->opc == UR_OPC_FETCH_ADD
			   ? UR_RESP_ATOMIC
			   : UR_RESP_READ;
	it->resource = index;
	it->psn = psn;
	it->next = psn;
	it->end = ur_psn_add(psn, npkts);
	it->msn = res->msn;
	/* This answer also acknowledges what came before. */
	if (resp->ack_due && ur_psn_diff(resp->ack_psn, psn) < 0)
		resp->ack_due = false;
	ur_port_activate(qp->port, qp);
	return true;
}

static struct ur_resource *find_resource(struct ur_qp *qp, u32 psn)
{
	struct ur_responder *resp = &qp->resp;

	for (u32 i = 0; i < resp->res_count; i++) {
		struct ur_resource *res = &resp->res[i];

		if (res->npkts && ur_psn_within(psn, res->psn, res->npkts))
			return res;
	}
	return NULL;
}

/* A repeated READ may request the rest of the first one, with the same key. */
static void replay_read(struct ur_qp *qp, struct ur_resource *res,
			const struct ur_pkt *pkt)
{
	u32 i = ur_psn_sub(pkt->psn, res->psn);
	u32 off = i << qp->mtu_shift;
	u32 npkts;

	if (res->opc != UR_OPC_READ_REQ || pkt->rkey != res->rkey ||
	    pkt->va != res->va + off || pkt->dma_bytes > res->length - off)
		return;
	npkts = pkt->dma_bytes ? (pkt->dma_bytes + qp->mtu - 1) >> qp->mtu_shift
			       : 1;
	ur_replay_queue(qp, res, pkt->psn, npkts);
}

/* Acknowledges a repeated SEND or WRITE: all that is done, but nothing beyond
 * the next READ or atomic, which only its own answer may acknowledge. */
static void ack_again(struct ur_qp *qp, u32 psn)
{
	struct ur_responder *resp = &qp->resp;
	u32 last = ur_psn_add(resp->epsn, -1);

	for (u32 i = 0; i < resp->res_count; i++) {
		struct ur_resource *res = &resp->res[i];
		u32 before = ur_psn_add(res->psn, -1);

		if (res->npkts && ur_psn_diff(res->psn, psn) > 0 &&
		    ur_psn_diff(before, last) < 0)
			last = before;
	}
	ur_answer_ack(qp, ur_answer_credits(qp), last);
}

void ur_replay_duplicate(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	struct ur_resource *res;

	ur_count(qp->port, UR_CNT_duplicate_request);
	ur_qp_count(qp, UR_QP_CNT_duplicates, 1);
	if (flags & (UR_OPF_SEND | UR_OPF_WRITE)) {
		ack_again(qp, pkt->psn);
		return;
	}
	res = find_resource(qp, pkt->psn);
	if (!res)
		return; /* too old: silence, as C9-152 permits */
	if (flags & UR_OPF_READ_REQ)
		replay_read(qp, res, pkt);
	else if (res->opc == (pkt->opcode & UR_OPC_MASK) &&
		 res->psn == pkt->psn)
		ur_replay_queue(qp, res, res->psn, 1);
}
