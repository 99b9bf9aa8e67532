// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds the details of a failure for its report. The checks that refused the
 * request only returned false; here they are repeated one by one, only for the
 * failed request. */
#include "transport/retry.h"

static bool inside(u64 addr, u64 len, u64 first, u64 size)
{
	return addr >= first && addr - first <= size &&
	       len <= size - (addr - first);
}

/* Looks up a region or window by its key. */
struct held {
	const struct ur_mr *mr; /* NULL: an unbound window */
	const struct ur_mw *mw;
	u64 first, size;
	u32 pd, access;
};

static bool look_up(const struct ur_port *port, u32 key, struct held *h)
{
	struct ur_key *k = ur_table_lookup(&port->keys, key >> 8);

	if (!k || k->key != key)
		return false;
	*h = (struct held){0};
	if (k->kind == UR_KEY_MR) {
		h->mr = ur_container_of(k, struct ur_mr, k);
		h->first = h->mr->attr.iova;
		h->size = h->mr->attr.length;
		h->pd = h->mr->attr.pd;
		h->access = h->mr->attr.access;
		return true;
	}
	h->mw = ur_container_of(k, struct ur_mw, k);
	h->mr = h->mw->mr;
	h->pd = h->mw->pd;
	h->access = h->mw->access;
	h->first = h->access & UR_ACCESS_ZERO_BASED ? 0 : h->mw->addr;
	h->size = h->mw->length;
	return true;
}

static u8 why(const struct ur_qp *qp, u32 pd, const struct held *h,
	      const struct ur_denied *d)
{
	if (h->pd != pd)
		return UR_DENIED_DOMAIN;
	if (!h->mr || (h->mw && h->mw->type == 2 && h->mw->qpn != qp->qpn))
		return UR_DENIED_UNBOUND;
	if (!inside(d->addr, d->length, h->first, h->size))
		return UR_DENIED_RANGE;
	if (d->need & ~h->access)
		return UR_DENIED_RIGHTS;
	return UR_DENIED_NOT;
}

static u8 meant(const struct ur_qp *qp, u32 pd, const struct held *h,
		struct ur_denied *d)
{
	u64 upper = h->first & ~0xffffffffull;
	struct held other;

	if (d->why == UR_DENIED_RANGE) {
		if (inside(__builtin_bswap64(d->addr), d->length, h->first,
			   h->size))
			return UR_MEANT_SWAPPED;
		if (upper && !(d->addr >> 32) &&
		    inside(upper | d->addr, d->length, h->first, h->size))
			return UR_MEANT_CUT;
		if (inside(d->addr, d->length, 0, h->size))
			return UR_MEANT_OFFSET;
	} else if (d->why == UR_DENIED_KEY &&
		   look_up(qp->port, __builtin_bswap32(d->key), &other) &&
		   other.pd == pd) {
		d->first = other.first;
		d->size = other.size;
		return UR_MEANT_SWAPPED_KEY;
	}
	return UR_MEANT_NOTHING;
}

/* pd: the domain that the key must belong to. */
static void deny(const struct ur_qp *qp, u32 pd, struct ur_denied *d, u32 key,
		 u64 addr, u64 length, u32 need)
{
	struct held h = {0};

	d->key = key;
	d->addr = addr;
	d->length = length;
	d->need = need;
	if (!look_up(qp->port, key, &h)) {
		d->why = UR_DENIED_KEY;
	} else {
		d->first = h.first;
		d->size = h.size;
		d->have = h.access;
		d->why = why(qp, pd, &h, d);
	}
	d->meant = meant(qp, pd, &h, d);
}

/* Reports the first refused element. */
static void deny_list(const struct ur_qp *qp, u32 pd, struct ur_denied *d,
		      const struct ur_sge *sge, u32 count, u32 need)
{
	for (u32 i = 0; i < count; i++) {
		if (!sge[i].length)
			continue;
		*d = (struct ur_denied){0};
		deny(qp, pd, d, sge[i].lkey, sge[i].addr, sge[i].length, need);
		if (d->why)
			return;
	}
}

static void tell(const struct ur_qp *qp, struct ur_failure *f)
{
	f->at = qp->port->now;
	qp->port->ops->qp_failed(qp->init.ctx, f);
}

static u8 reason_of(u8 status, const struct ur_swqe *e)
{
	switch (status) {
	case UR_WC_RETRY_EXC_ERR:
		return UR_REASON_SILENCE;
	case UR_WC_RNR_RETRY_EXC_ERR:
		return UR_REASON_RNR;
	case UR_WC_REM_ACCESS_ERR:
	case UR_WC_REM_INV_REQ_ERR:
	case UR_WC_REM_OP_ERR:
		return UR_REASON_NAK;
	case UR_WC_BAD_RESP_ERR:
		return UR_REASON_ANSWER;
	case UR_WC_LOC_PROT_ERR:
		return UR_REASON_SOURCE;
	case UR_WC_LOC_QP_OP_ERR:
	case UR_WC_LOC_LEN_ERR:
		return e && e->status ? UR_REASON_FORM : UR_REASON_NONE;
	default:
		return UR_REASON_NONE;
	}
}

static void fill_request(struct ur_failure *f, const struct ur_swqe *e)
{
	f->opcode = e->opcode;
	f->wr_id = e->wr_id;
	f->length = e->length;
	if (e->opcode == UR_WR_FLUSH)
		f->length = e->flush.length;
	if (e->opcode >= UR_WR_WRITE && e->opcode != UR_WR_BIND_MW &&
	    e->opcode != UR_WR_LOCAL_INV) {
		f->addr = e->raddr;
		f->rkey = e->rkey;
	}
}

static void fill_retries(struct ur_failure *f, const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;

	f->retries = req->retries;
	f->rnr_retries = req->rnr_retries;
	f->probes = req->probes;
	f->timeout = qp->attr.timeout;
	f->retry_cnt = qp->attr.retry_cnt;
	f->rnr_retry = qp->attr.rnr_retry;
	f->by_nak = req->by_nak;
	f->answered = req->origin.known;
	/* Before the first retry there was no wait. */
	if (f->reason == UR_REASON_RNR && f->rnr_retries)
		f->waited_ns = qp->port->now - req->rnr_at;
	if (f->reason != UR_REASON_SILENCE)
		return;
	/* Before the first retry there was one timeout. */
	f->waited_ns = f->timeout ? ur_ack_timeout_ns(f->timeout) : 0;
	if (f->retry_cnt)
		f->waited_ns += qp->port->now - req->silent_at;
	f->stray =
		req->stray_at && qp->port->now - req->stray_at <= f->waited_ns;
	f->stray_syndrome = req->stray_syndrome;
	f->stray_psn = req->stray_psn;
}

void ur_failure_own(const struct ur_qp *qp, const struct ur_swqe *e, u8 status)
{
	struct ur_failure f = {.status = status, .psn = qp->req.una};

	if (!qp->port->ops->qp_failed)
		return;
	f.reason = reason_of(status, e);
	if (e && (e->opcode & UR_WR_FAILS)) {
		f.reason = UR_REASON_RULE;
		f.wr_id = e->wr_id;
	} else if (e) {
		fill_request(&f, e);
	}
	if (e && f.reason == UR_REASON_SOURCE)
		deny_list(qp, qp->init.pd, &f.denied, e->sge, e->num_sge,
			  ur_swqe_is_read_type(e) ? UR_ACCESS_LOCAL_WRITE : 0);
	if (f.reason == UR_REASON_SILENCE || f.reason == UR_REASON_RNR ||
	    f.reason == UR_REASON_NAK)
		fill_retries(&f, qp);
	tell(qp, &f);
}

static void of_receive(struct ur_failure *f, const struct ur_qp *qp)
{
	const struct ur_responder *resp = &qp->resp;

	f->room = resp->rqe.length;
	f->wr_id = resp->rqe.wr_id;
	if (f->reason == UR_REASON_RECV_MEMORY)
		deny_list(qp, resp->rqe.pd, &f->denied, resp->rqe_sge,
			  resp->rqe.num_sge, UR_ACCESS_LOCAL_WRITE);
}

void ur_failure_peers(const struct ur_qp *qp, enum ur_verdict v, u8 status,
		      const struct ur_asked *asked)
{
	struct ur_failure f = {
		.peers = true,
		.status = v == UR_VERDICT_NAK_ACCESS ? UR_WC_REM_ACCESS_ERR
			  : v == UR_VERDICT_NAK_OP   ? UR_WC_REM_OP_ERR
			  : v == UR_VERDICT_CLASS_J  ? UR_WC_RETRY_EXC_ERR
						     : UR_WC_REM_INV_REQ_ERR,
		.psn = qp->resp.epsn,
	};

	if (!qp->port->ops->qp_failed)
		return;
	if (v == UR_VERDICT_GONE)
		f.reason = UR_REASON_PROCESS;
	else if (v == UR_VERDICT_CLASS_J)
		f.reason = UR_REASON_INVALIDATE;
	else if (status == UR_WC_LOC_LEN_ERR)
		f.reason = UR_REASON_RECV_SHORT;
	else if (status == UR_WC_LOC_PROT_ERR)
		f.reason = UR_REASON_RECV_MEMORY;
	else if (asked)
		f.reason = asked->reason;
	if (asked) {
		f.opcode = asked->opcode;
		f.rkey = asked->rkey;
		f.addr = asked->va;
		f.length = f.got = asked->length;
		f.psn = asked->psn;
	}
	switch (f.reason) {
	case UR_REASON_MEMORY:
		if (asked)
			deny(qp, qp->init.pd, &f.denied, asked->rkey, asked->va,
			     asked->length, asked->need);
		break;
	case UR_REASON_QP_RIGHTS:
		f.denied.need = asked ? asked->need : 0;
		f.denied.have = qp->attr.access;
		break;
	case UR_REASON_RESOURCES:
		f.room = qp->resp.res_count;
		break;
	case UR_REASON_PACKET:
		f.room = qp->mtu;
		f.got = asked ? asked->payload : 0;
		break;
	case UR_REASON_RECV_SHORT:
	case UR_REASON_RECV_MEMORY:
		of_receive(&f, qp);
		break;
	default:
		break;
	}
	tell(qp, &f);
}

void ur_failure_broken(const struct ur_qp *qp, enum ur_reason reason)
{
	struct ur_failure f = {.status = UR_WC_FATAL_ERR, .reason = (u8)reason};

	if (qp->port->ops->qp_failed)
		tell(qp, &f);
}
