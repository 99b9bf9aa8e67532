// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory and completions against the reference model: every operation
 * accepted happens exactly once and in order, every signalled one completes
 * once and in order, after an error all others are flushed.
 */
#include "tests/sim/transport/oracle.h"

#include <stdlib.h>

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/workload.h"

#define BIT(n) (1u << (n))

struct sim_qp *oracle_qp(struct sim_host *h, u32 qpn)
{
	struct sim_world *w = h->w;

	for (u32 i = 0; i < w->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			struct sim_qp *qp = w->pair[i]->qp[k];

			if (qp->host == h && qp->qp && qp->qpn == qpn)
				return qp;
		}
	for (u32 i = 0; i < w->n_ud; i++)
		if (w->ud[i] && w->ud[i]->host == h && w->ud[i]->qp &&
		    w->ud[i]->qpn == qpn)
			return w->ud[i];
	return NULL;
}

/* ------------------------------------------------------------------ */
/* Memory                                                              */

/* Step over operations that write nothing. */
void oracle_settle(struct sim_flow *f)
{
	while (f->cursor_op < f->posted) {
		const struct sim_op *op = &f->ops[f->cursor_op];

		if (sim_op_writes(op) && !op->bad && f->cursor_off < op->bytes)
			return;
		f->cursor_op++;
		f->cursor_off = 0;
	}
}

static bool cursor_match(const struct sim_flow *f, u64 off, const u8 *src,
			 u32 len)
{
	const struct sim_op *op = &f->ops[f->cursor_op];

	return f->cursor_op < f->posted && off == op->dst_off + f->cursor_off &&
	       len <= op->bytes - f->cursor_off &&
	       !memcmp(src, op->payload + f->cursor_off, len);
}

/* A network that repeats packets repeats messages of UC: the first packet of
 * one is taken whatever its PSN (IBTA 9.8.2.2). */
bool oracle_uc_repeats(const struct sim_world *w)
{
	return w->faults.dup || w->faults.reorder || w->faults.clog_every;
}

/* UC: packets of a message may be missing; find where this one belongs. */
static bool cursor_search(struct sim_flow *f, u64 off, const u8 *src, u32 len)
{
	u32 op = f->cursor_op;
	u64 at = f->cursor_off;

	if (oracle_uc_repeats(f->to->host->w))
		f->cursor_op = f->cursor_off = 0;
	for (; f->cursor_op < f->posted; f->cursor_op++, f->cursor_off = 0) {
		const struct sim_op *o = &f->ops[f->cursor_op];

		if (!sim_op_writes(o) || o->bad || off < o->dst_off ||
		    off - o->dst_off < f->cursor_off ||
		    off - o->dst_off + len > o->bytes)
			continue;
		f->cursor_off = off - o->dst_off;
		if (cursor_match(f, off, src, len))
			return true;
	}
	f->cursor_op = op;
	f->cursor_off = at;
	return false;
}

void oracle_dst_write(struct sim_region *r, u64 off, const u8 *src, u32 len)
{
	struct sim_flow *f = r->owner;
	struct sim_world *w = r->host->w;

	oracle_settle(f);
	if (sim_reliable(f))
		SIM_CHECK(w, cursor_match(f, off, src, len),
			  "%s: write at %llu+%u is not the next in order "
			  "(operation %u of %u, byte %llu, at %llu)",
			  endpoint_name(f->to), (unsigned long long)off, len,
			  f->cursor_op, f->posted,
			  (unsigned long long)f->cursor_off,
			  (unsigned long long)f->ops[f->cursor_op].dst_off);
	else
		SIM_CHECK(w, cursor_search(f, off, src, len),
			  "%s: write at %llu+%u belongs to no later operation",
			  endpoint_name(f->to), (unsigned long long)off, len);
	f->cursor_off += len;
}

static struct sim_op *find_atomic(struct sim_world *w, u64 operand)
{
	for (u32 i = 0; i < w->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			struct sim_flow *f = w->pair[i]->flow[k];

			for (u32 n = 0; f && n < f->posted; n++)
				if (sim_op_atomic(&f->ops[n]) &&
				    f->ops[n].wr.swap_add == operand)
					return &f->ops[n];
		}
	return NULL;
}

void oracle_atomic(struct sim_region *r, u64 off, bool add, u64 operand,
		   u64 old)
{
	struct sim_world *w = r->host->w;
	struct sim_op *op = find_atomic(w, operand);

	sim_trace(&w->trace, w->now, "atomic", r->host->index, off, old,
		  operand);
	SIM_CHECK(w, op && !op->bad, "atomic executed that nobody posted");
	SIM_CHECK(w, op->wr.opcode == (add ? UR_WR_FETCH_ADD : UR_WR_CMP_SWAP),
		  "atomic executed as another one");
	SIM_CHECK(w, op->word * 8 == off, "atomic executed on another word");
	SIM_CHECK(w, !op->executed, "atomic executed twice");
	op->executed++;
	op->old = old;
}

static void model_to(struct sim_flow *f, u32 count)
{
	for (; f->model_ops < count; f->model_ops++) {
		const struct sim_op *op = &f->ops[f->model_ops];

		if (sim_op_writes(op) && !op->bad && op->bytes)
			memcpy(f->model + op->dst_off, op->payload, op->bytes);
	}
}

/* May byte at off have value v, with the model applied: because an operation
 * from first to (without) end wrote it since? */
static bool byte_later(const struct sim_flow *f, u32 first, u32 end, u64 off,
		       u8 v)
{
	for (u32 k = first; k < end; k++) {
		const struct sim_op *op = &f->ops[k];

		if (sim_op_writes(op) && !op->bad && off >= op->dst_off &&
		    off - op->dst_off < op->bytes &&
		    op->payload[off - op->dst_off] == v)
			return true;
	}
	return false;
}

/* Bytes seen of dst at off, when operations up to first are done and those
 * up to end may be. Returns the first wrong one, or bytes. */
static u64 bytes_wrong(const struct sim_flow *f, u32 first, u32 end, u64 off,
		       const u8 *mem, u64 bytes)
{
	if (!memcmp(f->model + off, mem, bytes))
		return bytes;
	for (u64 i = 0; i < bytes; i++)
		if (f->model[off + i] != mem[i] &&
		    !byte_later(f, first, end, off + i, mem[i]))
			return i;
	return bytes;
}

void oracle_gather(const struct sim_region *r, const struct ur_sge *sge, u32 n,
		   u8 *to, u64 bytes)
{
	for (u32 i = 0; i < n && bytes; i++) {
		u64 part = ur_min_u64(sge[i].length, bytes);

		memcpy(to, r->base + (sge[i].addr - r->iova), part);
		to += part;
		bytes -= part;
	}
}

/* ------------------------------------------------------------------ */
/* Send side                                                           */

static bool receiver_counts(const struct sim_flow *f)
{
	const struct sim_qp *to = f->to;

	return to->host->port && to->life == SIM_QP_LIVE && !to->lost;
}

static void check_read(struct sim_flow *f, u32 i)
{
	struct sim_world *w = f->pair->w;
	struct sim_op *op = &f->ops[i];
	u8 *got = malloc(op->bytes + 1);
	u32 end = i + 1;
	u64 wrong;

	oracle_gather(&f->result, op->wr.sge, op->wr.num_sge, got, op->bytes);
	/* A fenced operation waits for this READ. */
	while (end < f->posted && !(f->ops[end].wr.flags & UR_WR_F_FENCE))
		end++;
	wrong = bytes_wrong(f, i, end, op->dst_off, got, op->bytes);
	free(got);
	SIM_CHECK(w, wrong == op->bytes,
		  "%s: READ %u of %u bytes: byte %llu is wrong",
		  endpoint_name(f->from), i, op->bytes,
		  (unsigned long long)wrong);
}

static void check_atomic(struct sim_flow *f, u32 i)
{
	struct sim_world *w = f->pair->w;
	struct sim_op *op = &f->ops[i];
	u64 got;

	oracle_gather(&f->result, op->wr.sge, op->wr.num_sge, (u8 *)&got, 8);
	if (f->to->host->words.direct) {
		op->executed = 1;
		op->old = got;
	}
	SIM_CHECK(w, op->executed == 1,
		  "%s: atomic %u completed, executed %u times",
		  endpoint_name(f->from), i, op->executed);
	SIM_CHECK(w, got == op->old,
		  "%s: atomic %u returned 0x%llx, the word held 0x%llx",
		  endpoint_name(f->from), i, (unsigned long long)got,
		  (unsigned long long)op->old);
}

static void check_write(struct sim_flow *f, u32 i)
{
	struct sim_world *w = f->pair->w;
	struct sim_op *op = &f->ops[i];
	u64 wrong;

	oracle_settle(f);
	if (!f->dst.direct)
		SIM_CHECK(w, f->cursor_op > i,
			  "%s: WRITE %u completed, placed up to %u:%llu",
			  endpoint_name(f->from), i, f->cursor_op,
			  (unsigned long long)f->cursor_off);
	if (!op->bytes)
		return;
	wrong = bytes_wrong(f, i + 1, f->posted, op->dst_off,
			    f->dst.base + op->dst_off, op->bytes);
	SIM_CHECK(w, wrong == op->bytes,
		  "%s: WRITE %u of %u bytes completed, byte %llu is wrong",
		  endpoint_name(f->from), i, op->bytes,
		  (unsigned long long)wrong);
}

/* The transport says, or lets it be concluded, that operation i is done. */
static void claim_success(struct sim_flow *f, u32 i)
{
	struct sim_qp *qp = f->from;
	struct sim_world *w = qp->host->w;
	struct sim_op *op = &f->ops[i];

	SIM_CHECK(w, !op->bad, "%s: operation %u (opcode %u) must not succeed",
		  endpoint_name(qp), i, op->wr.opcode);
	SIM_CHECK(w, !qp->saw_error && !qp->saw_flush,
		  "%s: operation %u succeeds after an error", endpoint_name(qp),
		  i);
	op->state = SIM_OP_DONE;
	op->status = UR_WC_SUCCESS;
	if (op->uses_mw)
		f->mw_users--;
	workload_op_done(f, op);
	if (!f->pair)
		return;
	model_to(f, i + 1);
	if (!sim_reliable(f))
		return;
	if (sim_op_writes(op))
		check_write(f, i);
	else if (op->wr.opcode == UR_WR_READ)
		check_read(f, i);
	else if (sim_op_atomic(op))
		check_atomic(f, i);
	if (op->recv_index != SIM_NO_RECV && receiver_counts(f))
		SIM_CHECK(w, f->recv_done > op->recv_index,
			  "%s: operation %u completed, its receive has not",
			  endpoint_name(qp), i);
}

static u32 error_reasons(u32 status)
{
	const u32 gone = SIM_WHY_LOSS | SIM_WHY_FORCED | SIM_WHY_MR |
			 SIM_WHY_RESTART | SIM_WHY_BAD_OP | SIM_WHY_CQ |
			 SIM_WHY_BROKEN;

	switch (status) {
	case UR_WC_WR_FLUSH_ERR:
		return ~0u;
	case UR_WC_RETRY_EXC_ERR:
		return gone;
	case UR_WC_RNR_RETRY_EXC_ERR:
		return SIM_WHY_RNR;
	case UR_WC_REM_ACCESS_ERR:
	case UR_WC_LOC_PROT_ERR:
	case UR_WC_LOC_ACCESS_ERR:
	case UR_WC_MW_BIND_ERR:
		return SIM_WHY_MR;
	case UR_WC_REM_OP_ERR:
		return SIM_WHY_MR | SIM_WHY_CQ;
	case UR_WC_REM_INV_REQ_ERR:
	case UR_WC_LOC_LEN_ERR:
		return SIM_WHY_SHORT;
	default:
		return 0;
	}
}

static void take_error(struct sim_flow *f, u32 i, const struct ur_wc *wc)
{
	struct sim_qp *qp = f->from;
	struct sim_world *w = qp->host->w;
	struct sim_op *op = &f->ops[i];
	bool bad = op->bad && (op->bad_status & BIT(wc->status));
	bool flush = wc->status == UR_WC_WR_FLUSH_ERR;

	if (!f->pair) {
		SIM_CHECK(w, qp->broken, "%s: datagram %u fails with status %u",
			  endpoint_name(qp), i, wc->status);
		op->state = SIM_OP_DONE;
		return;
	}
	SIM_CHECK(w, bad || (f->pair->reasons & error_reasons(wc->status)),
		  "%s: operation %u (opcode %u) fails with status %u for no "
		  "reason (reasons 0x%x)",
		  endpoint_name(qp), i, op->wr.opcode, wc->status,
		  f->pair->reasons);
	SIM_CHECK(w,
		  wc->status != UR_WC_RNR_RETRY_EXC_ERR ||
			  qp->attr.rnr_retry < 7,
		  "%s: RNR retries exceeded, but they are unlimited",
		  endpoint_name(qp));
	if (wc->status == UR_WC_RETRY_EXC_ERR)
		oracle_retry_exceeded(f, i);
	if (wc->status == UR_WC_RNR_RETRY_EXC_ERR)
		oracle_rnr_exceeded(f, i);
	if (!flush)
		qp->broken = true;
	SIM_CHECK(w, qp->broken, "%s: operation %u flushed without an error",
		  endpoint_name(qp), i);
	SIM_CHECK(w, flush || !qp->saw_error,
		  "%s: operation %u fails with status %u after an error: it "
		  "must be flushed",
		  endpoint_name(qp), i, wc->status);
	SIM_CHECK(w, flush || !qp->saw_flush,
		  "%s: error status %u after a flush", endpoint_name(qp),
		  wc->status);
	if (flush)
		qp->saw_flush = true;
	else
		qp->saw_error = true;
	op->state = SIM_OP_DONE;
	op->status = wc->status;
	w->n_errors++;
	if (op->uses_mw)
		f->mw_users--;
	workload_pair_broken(f->pair);
}

static bool signalled(const struct sim_qp *qp, const struct sim_op *op)
{
	return qp->sig_all || (op->wr.flags & UR_WR_F_SIGNALED);
}

static u8 wc_opcode(const struct sim_op *op)
{
	switch (op->wr.opcode) {
	case UR_WR_WRITE:
	case UR_WR_WRITE_IMM:
		return UR_WC_RDMA_WRITE;
	case UR_WR_READ:
		return UR_WC_RDMA_READ;
	case UR_WR_CMP_SWAP:
		return UR_WC_COMP_SWAP;
	case UR_WR_FETCH_ADD:
		return UR_WC_FETCH_ADD;
	case UR_WR_BIND_MW:
		return UR_WC_BIND_MW;
	case UR_WR_LOCAL_INV:
		return UR_WC_LOCAL_INV;
	case UR_WR_FLUSH:
		return UR_WC_FLUSH;
	case UR_WR_ATOMIC_WRITE:
		return UR_WC_ATOMIC_WRITE;
	default:
		return UR_WC_SEND;
	}
}

static void take_send(struct sim_qp *qp, const struct ur_wc *wc)
{
	struct sim_world *w = qp->host->w;
	struct sim_flow *f = qp->out;
	struct sim_op *op;
	u32 i;

	SIM_CHECK(w, f, "%s: send completion without a send queue",
		  endpoint_name(qp));
	for (i = f->done; i < f->taken; i++)
		if (f->ops[i].wr.wqe_counter == wc->wqe_counter)
			break;
	SIM_CHECK(w, i < f->taken,
		  "%s: completion of WQE %u, which is not outstanding",
		  endpoint_name(qp), wc->wqe_counter);
	for (; f->done < i; f->done++) {
		/* Its completion may be what did not fit. */
		if (qp->lost) {
			f->ops[f->done].state = SIM_OP_DONE;
			f->ops[f->done].status = UR_WC_GENERAL_ERR;
			continue;
		}
		SIM_CHECK(w, !signalled(qp, &f->ops[f->done]),
			  "%s: signalled operation %u has no completion",
			  endpoint_name(qp), f->done);
		claim_success(f, f->done);
	}
	op = &f->ops[i];
	SIM_CHECK(w, wc->wr_id == op->wr.wr_id, "%s: wrong wr_id",
		  endpoint_name(qp));
	op->completed = true;
	f->done = i + 1;
	if (wc->status == UR_WC_SUCCESS) {
		SIM_CHECK(w, signalled(qp, op),
			  "%s: unsignalled operation %u has a completion",
			  endpoint_name(qp), i);
		SIM_CHECK(w, wc->opcode == wc_opcode(op),
			  "%s: completion opcode %u for operation %u",
			  endpoint_name(qp), wc->opcode, op->wr.opcode);
		if (op->wr.opcode == UR_WR_READ)
			SIM_CHECK(w, wc->byte_len == op->bytes,
				  "%s: READ of %u bytes says %u",
				  endpoint_name(qp), op->bytes, wc->byte_len);
		claim_success(f, i);
	} else {
		take_error(f, i, wc);
	}
	workload_qp_room(qp);
}

void oracle_completion(struct sim_cq *cq, const struct ur_wc *wc)
{
	struct sim_world *w = cq->host->w;
	struct sim_qp *qp = oracle_qp(cq->host, wc->qpn);

	SIM_CHECK(w, qp && qp->life != SIM_QP_GONE,
		  "host %u: completion of queue pair %u, which is gone",
		  cq->host->index, wc->qpn);
	if (!wc->recv) {
		SIM_CHECK(w, cq == qp->scq, "%s: completion in another CQ",
			  endpoint_name(qp));
		take_send(qp, wc);
	} else {
		oracle_recv(qp, wc);
	}
}
