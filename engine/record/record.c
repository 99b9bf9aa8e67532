// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The sources of the flight recorder and the probes: callbacks of the port, which
 * record and call the ordinary ones; and packets. */
#include "engine/grant/lend_record.h"
#include "engine/record/record.h"
#include "engine/core/engine_impl.h"
#include "engine/core/wait.h"
#include "engine/ground/lent_record.h"
#include "engine/ground/user.h"
#include "transport/qp.h"

#ifdef UROCE_PROBES
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define X(name)                                          \
	volatile unsigned short uroce_##name##_semaphore \
		__attribute__((section(".probes")));
UR_PROBES(X)
#undef X
#define PROBE(n, name, ...) STAP_PROBE##n(uroce, name, __VA_ARGS__)
#else
#define PROBE(n, name, ...) ((void)0)
#endif

/* Least time between two reports of failures, since each writes a file. */
#define TELL_NS 1000000000ull

/* Recorded bytes of a MAD: the header (IBTA 13.4.3), and both communication IDs of
 * CM. */
#define MAD_BYTES 32

_Static_assert(UR_HEADERS_MAX_BYTES <= UROCE_RECORD_HEADERS,
	       "room for headers");
_Static_assert((int)UR_VERDICT_DUPLICATE == UROCE_RECORD_DUPLICATE &&
		       (int)UR_VERDICT_CLASS_J == UROCE_RECORD_CLASS_J,
	       "verdicts are told as they are");

static u64 clock_of(const struct ur_engine *e)
{
	return ur_clock_ns(CLOCK_MONOTONIC);
}

static struct uroce_record begin(const struct ur_engine *e, u8 kind, u32 qpn)
{
	return (struct uroce_record){
		.ns = clock_of(e), .kind = kind, .qpn = qpn};
}

static void owned(struct uroce_record *r, uid_t uid, pid_t pid)
{
	r->uid = uid;
	r->pid = (u32)pid;
}

static void keep(struct ur_engine *e, const struct uroce_record *r)
{
	if (e->record.recorder)
		ur_recorder_put(e->record.recorder, r);
}

static void tell_failed(struct ur_engine *e, u32 qpn)
{
	if (!e->record.recorder || e->now < e->record.next_told)
		return;
	e->record.next_told = e->now + TELL_NS;
	if (e->config.guest)
		ur_recorder_count_failure(e->record.recorder);
	else
		ur_engine_tell_failed(e, qpn);
}

/* ---- work requests and completions ---- */

static u64 length_of(const struct ur_send_wr *wr)
{
	u64 length = 0;

	if (wr->flags & UR_WR_F_INLINE)
		return (u64)wr->inl_len[0] + wr->inl_len[1];
	for (u32 i = 0; i < wr->num_sge && i < UR_MAX_SGE; i++)
		length += wr->sge[i].length;
	return length;
}

/* Computes the request's first PSN, which follows those of requests fetched before and not
 * sent yet. */
static bool first_psn(struct ur_engine *e, struct ur_eqp *qp, u32 psns,
		      u32 *psn)
{
	bool known = ur_qp_next_psn(qp->qp, psn);

	if (!known && qp->record_run == e->record.run) {
		*psn = qp->record_psn;
		known = true;
	}
	qp->record_psn = (*psn + psns) & UR_PSN_MASK;
	qp->record_run = known ? e->record.run : 0;
	return known && psns;
}

static void record_send(struct ur_engine *e, struct ur_eqp *qp,
			const struct ur_send_wr *wr)
{
	struct uroce_record r = begin(e, UROCE_RECORD_SEND, qp->qpn);
	u64 length = length_of(wr);
	u8 opcode = wr->opcode & UR_WR_FAILS ? 0 : wr->opcode;

	owned(&r, qp->uid, qp->pid);
	r.op = opcode;
	r.length = (u32)ur_min_u64(length, UINT32_MAX);
	r.wr_id = wr->wr_id;
	r.va = wr->raddr;
	r.rkey = wr->rkey;
	r.imm = wr->imm_inv;
	r.dest_qpn = qp->type == UR_QPT_UD ? wr->dqpn : ur_qp_dest(qp->qp);
	r.psns = ur_qp_psns(qp->qp, opcode, length);
	if (wr->flags & UR_WR_F_SIGNALED || qp->init.sq_sig_all)
		r.flags |= UROCE_RECORD_F_SIGNALED;
	if (first_psn(e, qp, r.psns, &r.psn))
		r.flags |= UROCE_RECORD_F_PSN;
	PROBE(5, work_request, r.qpn, r.wr_id, r.op, r.length, r.psn);
	keep(e, &r);
}

static int sq_next(void *qp_ctx, struct ur_send_wr *wr)
{
	struct ur_eqp *qp = qp_ctx;
	int ret = qp->engine->ops->sq_next(qp_ctx, wr);

	if (ret > 0)
		record_send(qp->engine, qp, wr);
	return ret;
}

static int rq_next(void *rq_ctx, struct ur_recv_wr *wr)
{
	struct ur_erq *rq = rq_ctx;
	struct ur_engine *e = rq->ectx->engine;
	int ret = e->ops->rq_next(rq_ctx, wr);
	struct uroce_record r;
	u64 length = 0;

	if (ret <= 0)
		return ret;
	r = begin(e, UROCE_RECORD_RECV, rq->qp ? rq->qp->qpn : 0);
	owned(&r, rq->ectx->mem->uid, rq->ectx->mem->pid);
	for (u32 i = 0; i < wr->num_sge && i < UR_MAX_SGE; i++)
		length += wr->sge[i].length;
	r.length = (u32)ur_min_u64(length, UINT32_MAX);
	r.wr_id = wr->wr_id;
	r.psns = rq->srq ? ur_srq_number(rq->srq->srq) : 0;
	PROBE(3, receive, r.qpn, r.wr_id, r.length);
	keep(e, &r);
	return ret;
}

static int cq_push(void *cq_ctx, const struct ur_wc *wc)
{
	struct ur_ecq *cq = cq_ctx;
	struct ur_engine *e = cq->ectx->engine;
	struct uroce_record r = begin(e, UROCE_RECORD_COMPLETION, wc->qpn);

	owned(&r, cq->ectx->mem->uid, cq->ectx->mem->pid);
	r.op = wc->opcode;
	r.status = wc->status;
	r.flags = wc->recv ? UROCE_RECORD_F_RECV : 0;
	r.length = wc->byte_len;
	r.wr_id = wc->wr_id;
	r.psn = wc->vendor_err;
	r.rkey = wc->src_qp;
	r.imm = wc->imm_inv;
	PROBE(5, completion, r.qpn, r.wr_id, r.status, r.op, r.length);
	keep(e, &r);
	if (wc->status && wc->status != UR_WC_WR_FLUSH_ERR)
		tell_failed(e, wc->qpn);
	return e->ops->cq_push(cq_ctx, wc);
}

/* ---- what the transport traces ---- */

static bool is_fatal(u64 event)
{
	return event == UR_EVENT_QP_FATAL || event == UR_EVENT_QP_REQ_ERR ||
	       event == UR_EVENT_QP_ACCESS_ERR;
}

static void retry(struct uroce_record *r, u8 op, u64 psn, u64 va)
{
	r->kind = UROCE_RECORD_RETRY;
	r->op = op;
	r->psn = (u32)psn;
	r->va = va;
	PROBE(4, retransmit, r->qpn, r->op, r->psn, r->va);
}

/* Makes a record of a trace event. Returns false if the event is not recorded. */
static bool translate(struct uroce_record *r, u32 id, u64 a, u64 b)
{
	switch (id) {
	case UR_TRACE_QP_STATE:
		r->kind = UROCE_RECORD_STATE;
		r->status = (u8)a;
		r->op = (u8)b;
		PROBE(3, qp_state, r->qpn, r->status, r->op);
		return true;
	case UR_TRACE_EVENT:
		r->kind = UROCE_RECORD_EVENT;
		r->op = (u8)a;
		return true;
	case UR_TRACE_VERDICT:
		r->kind = UROCE_RECORD_VERDICT;
		r->op = (u8)a;
		r->psn = (u32)b;
		return a != UR_VERDICT_ACCEPT;
	case UR_TRACE_REWIND:
		retry(r, UROCE_RECORD_REWIND, a, b);
		return true;
	case UR_TRACE_TIMEOUT:
		retry(r, UROCE_RECORD_TIMEOUT, b, a);
		return true;
	case UR_TRACE_PROBE:
		retry(r, UROCE_RECORD_PROBE, b, a);
		return true;
	case UR_TRACE_RNR_WAIT:
		retry(r, UROCE_RECORD_RNR_WAIT, b, a);
		return true;
	case UR_TRACE_IMPLIED_NAK:
		retry(r, UROCE_RECORD_MISSING, b, a);
		return true;
	case UR_TRACE_LOOP:
		r->kind = UROCE_RECORD_LOOP;
		r->op = (u8)a;
		r->length = (u32)b;
		return true;
	default:
		return false;
	}
}

static void trace(void *port_ctx, u32 id, u32 qpn, u64 a, u64 b)
{
	struct ur_engine *e = port_ctx;
	struct uroce_record r = {.qpn = qpn, .uid = UROCE_RECORD_NOBODY};
	const struct ur_eqp *qp;

	if (!translate(&r, id, a, b))
		return;
	r.ns = clock_of(e);
	qp = ur_port_qp_ctx(e->port, qpn);
	if (qp) {
		owned(&r, qp->uid, qp->pid);
		r.dest_qpn = ur_qp_dest(qp->qp);
	}
	keep(e, &r);
	if (r.kind == UROCE_RECORD_EVENT && is_fatal(a))
		tell_failed(e, qpn);
}

/* ---- packets ---- */

static u8 header_bytes(const u8 *bth, u32 len)
{
	u32 bytes = ur_opcode_lookup(bth[0])->header_bytes;

	if (ur_get_be24(bth + 5) == UR_QPN_GSI)
		bytes += MAD_BYTES;
	if (!bytes)
		bytes = UR_BTH_BYTES;
	return (u8)ur_min_u32(ur_min_u32(bytes, len), UROCE_RECORD_HEADERS);
}

static void record_packet(struct ur_engine *e, u8 kind, u32 qpn,
			  const struct ur_rx_meta *m, const u8 *bth, u32 len)
{
	const struct ur_eqp *qp = ur_port_qp_ctx(e->port, qpn);
	struct uroce_record_packet p = {
		.ns = clock_of(e),
		.kind = kind,
		.op = bth[0],
		.status = header_bytes(bth, len),
		.flags = m->v1 ? UROCE_RECORD_F_V1 : 0,
		.qpn = qpn,
		.uid = qp ? qp->uid : UROCE_RECORD_NOBODY,
		.pid = qp ? (u32)qp->pid : 0,
		.psn = ur_bth_psn(bth),
		.length = len,
		.flow_label = m->flow_label,
		.sport = m->udp_sport,
		.tos = m->tos,
		.ttl = m->ttl,
	};

	memcpy(p.headers, bth, p.status);
	memcpy(p.saddr, m->saddr, 16);
	memcpy(p.daddr, m->daddr, 16);
	if (kind == UROCE_RECORD_PACKET_OUT)
		PROBE(5, packet_out, p.qpn, p.op, p.psn, p.length,
		      ur_bth_dqpn(bth));
	else
		PROBE(4, packet_in, p.qpn, p.op, p.psn, p.length);
	if (e->record.recorder)
		ur_recorder_put_packet(e->record.recorder, &p);
}

/* Returns the number of the queue pair that sent the packet: the BTH names only the
 * destination. */
static u32 sender_of(const struct ur_av *av, const u8 *bth, u32 len)
{
	if (bth[0] >> 5 == UR_SVC_UD >> 5 &&
	    len >= UR_BTH_BYTES + UR_DETH_BYTES)
		return ur_get_be24(bth + UR_BTH_BYTES + 5);
	return av->lqpn;
}

void ur_record_sent(struct ur_engine *e)
{
	const struct ur_tx *tx = &e->tx;

	for (u32 i = 0; i < tx->n_desc; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];
		const u8 *bth = tx->buf + d->off;
		struct ur_rx_meta meta;

		if (d->av->raw) /* not a RoCE packet */
			continue;
		ur_av_meta(d->av, &meta);
		record_packet(e, UROCE_RECORD_PACKET_OUT,
			      sender_of(d->av, bth, d->len), &meta, bth,
			      d->len);
	}
}

void ur_record_received(struct ur_engine *e, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	if (len >= UR_BTH_BYTES)
		record_packet(e, UROCE_RECORD_PACKET_IN, ur_get_be24(bth + 5),
			      meta, bth, len);
}

/* ---- on and off ---- */

static void choose(struct ur_engine *e)
{
	struct ur_engine_record *rec = &e->record;

	rec->on = rec->recorder || rec->probed;
	if (!rec->on) {
		ur_port_set_ops(e->port, e->ops);
		return;
	}
	rec->ops = *e->ops;
	rec->ops.sq_next = sq_next;
	rec->ops.rq_next = rq_next;
	rec->ops.cq_push = cq_push;
	rec->ops.trace = trace;
	ur_port_set_ops(e->port, &rec->ops);
}

void ur_record_set_ops(struct ur_engine *e, const struct ur_host_ops *ops)
{
	e->ops = ops;
	choose(e);
}

void ur_record_probes_changed(struct ur_engine *e)
{
	e->record.probed = !e->record.probed;
	e->record.run++;
	choose(e);
}

static int record(struct ur_engine *e, struct ur_recorder *rec)
{
	ur_recorder_free(e->record.recorder);
	e->record.recorder = rec;
	e->record.run++;
	choose(e);
	return 0;
}
UR_ENGINE_CALL(1, record, struct ur_recorder *);

void ur_engine_record(struct ur_engine *engine, struct ur_recorder *rec)
{
	if (rec)
		ur_recorder_keep(rec);
	call_record(engine, rec);
	ur_record_lend_begin(engine, rec ? ur_recorder_kib(rec) : 0);
}

void ur_record_follow(struct ur_engine *e, u32 run, u32 kib)
{
	struct ur_recorder *rec = NULL;

	if (run == e->guest.record_run)
		return;
	e->guest.record_run = run;
	if (kib)
		rec = ur_recorder_borrow(
			e->guest.record,
			ur_lent_record_kib(
				kib, ur_slot_is_small(e->config.lent.slot)),
			run);
	record(e, rec);
}

static int record_cm(struct ur_engine *e, const struct uroce_record *r)
{
	keep(e, r);
	return 0;
}
UR_ENGINE_CALL(1, record_cm, const struct uroce_record *);

void ur_engine_record_cm(struct ur_engine *engine, u32 qpn, uid_t uid,
			 pid_t pid, u32 event, int status)
{
	struct uroce_record r = begin(engine, UROCE_RECORD_CM, qpn);

	owned(&r, uid, pid);
	r.op = (u8)event;
	r.va = (u64)(s64)status;
	call_record_cm(engine, &r);
}
