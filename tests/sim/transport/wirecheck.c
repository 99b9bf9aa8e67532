// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every packet against the operation it belongs to: it parses, has the right
 * opcode, headers, length and bytes for its PSN; PSNs never skip ahead and
 * never go back behind what is done; READ and atomic depth, fences and retry
 * counts are kept.
 */
#include "tests/sim/transport/oracle.h"

#include "tests/sim/transport/endpoint.h"
#include "transport/packet.h"
#include "transport/psn.h"

/* Sent again early, by measured round trips, without being counted. */
#define PROBES_MAX 10

struct place {
	struct sim_op *op;
	u32 index; /* of the operation */
	u32 k;	   /* packet within it */
};

/* From the end, near which most packets are. */
static bool find_psn(struct sim_flow *f, u32 rel, struct place *ret)
{
	for (u32 i = f->posted; i--;) {
		struct sim_op *op = &f->ops[i];

		if (op->npsn && rel - op->psn < op->npsn) {
			*ret = (struct place){op, i, rel - op->psn};
			return true;
		}
	}
	return false;
}

/* Low five bits of the opcode that packet k of an operation must have. */
static u8 request_opcode(const struct sim_op *op, u32 k)
{
	bool first = k == 0, last = k + 1 == op->npsn;

	switch (op->wr.opcode) {
	case UR_WR_SEND:
	case UR_WR_SEND_IMM:
	case UR_WR_SEND_INV:
		if (!last)
			return first ? UR_OPC_SEND_FIRST : UR_OPC_SEND_MIDDLE;
		if (op->wr.opcode == UR_WR_SEND)
			return first ? UR_OPC_SEND_ONLY : UR_OPC_SEND_LAST;
		if (op->wr.opcode == UR_WR_SEND_IMM)
			return first ? UR_OPC_SEND_ONLY_IMM
				     : UR_OPC_SEND_LAST_IMM;
		return first ? UR_OPC_SEND_ONLY_INV : UR_OPC_SEND_LAST_INV;
	case UR_WR_WRITE:
	case UR_WR_WRITE_IMM:
		if (!last)
			return first ? UR_OPC_WRITE_FIRST : UR_OPC_WRITE_MIDDLE;
		if (op->wr.opcode == UR_WR_WRITE)
			return first ? UR_OPC_WRITE_ONLY : UR_OPC_WRITE_LAST;
		return first ? UR_OPC_WRITE_ONLY_IMM : UR_OPC_WRITE_LAST_IMM;
	case UR_WR_READ:
		return UR_OPC_READ_REQ;
	case UR_WR_CMP_SWAP:
		return UR_OPC_CMP_SWAP;
	case UR_WR_FETCH_ADD:
		return UR_OPC_FETCH_ADD;
	case UR_WR_FLUSH:
		return UR_OPC_FLUSH;
	case UR_WR_ATOMIC_WRITE:
		return UR_OPC_ATOMIC_WRITE;
	default:
		return 0xff;
	}
}

static u8 service(const struct sim_flow *f)
{
	if (!f->pair)
		return UR_SVC_UD;
	return f->pair->type == UR_QPT_UC	 ? UR_SVC_UC
	       : f->pair->type == UR_QPT_XRC_INI ? UR_SVC_XRC
						 : UR_SVC_RC;
}

static void check_headers(struct sim_flow *f, const struct place *at,
			  const struct ur_pkt *p)
{
	struct sim_world *w = f->from->host->w;
	const struct sim_op *op = at->op;
	u64 off = (u64)at->k * f->pair->mtu;

	if (p->op->flags & UR_OPF_RETH) {
		SIM_CHECK(w, p->va == op->wr.raddr + off,
			  "%s: operation %u packet %u: wrong address",
			  endpoint_name(f->from), at->index, at->k);
		SIM_CHECK(w, p->rkey == op->wr.rkey,
			  "%s: operation %u: wrong key", endpoint_name(f->from),
			  at->index);
		if (op->wr.opcode != UR_WR_FLUSH)
			SIM_CHECK(w, p->dma_bytes == op->bytes - off,
				  "%s: operation %u packet %u: DMA length %u",
				  endpoint_name(f->from), at->index, at->k,
				  p->dma_bytes);
	}
	if (p->op->flags & UR_OPF_ATOMICETH)
		SIM_CHECK(w,
			  p->va == op->wr.raddr && p->rkey == op->wr.rkey &&
				  p->swap_add == op->wr.swap_add &&
				  (op->wr.opcode == UR_WR_FETCH_ADD ||
				   p->compare == op->wr.compare),
			  "%s: atomic %u: wrong header", endpoint_name(f->from),
			  at->index);
	if (p->op->flags & UR_OPF_XRCETH)
		SIM_CHECK(w, p->xrc_srqn == op->wr.xrc_srqn,
			  "%s: operation %u: wrong SRQ", endpoint_name(f->from),
			  at->index);
	if (p->op->flags & UR_OPF_INV)
		SIM_CHECK(w, p->inv_rkey == op->wr.imm_inv,
			  "%s: operation %u: wrong key to invalidate",
			  endpoint_name(f->from), at->index);
	if (p->op->flags & UR_OPF_IMM)
		SIM_CHECK(
			w,
			!memcmp(&op->wr.imm_inv,
				(u8[4]){(u8)(p->imm >> 24), (u8)(p->imm >> 16),
					(u8)(p->imm >> 8), (u8)p->imm},
				4),
			"%s: operation %u: wrong immediate",
			endpoint_name(f->from), at->index);
}

static void check_payload(struct sim_flow *f, const struct place *at,
			  const struct ur_pkt *p)
{
	const struct sim_op *op = at->op;
	u32 off = at->k * f->pair->mtu, expect = 0;

	if (sim_op_sends(op) || sim_op_writes(op))
		expect = ur_min_u32(f->pair->mtu, op->bytes - off);
	SIM_CHECK(f->from->host->w, p->payload_bytes == expect,
		  "%s: operation %u packet %u of %u has %u bytes, not %u",
		  endpoint_name(f->from), at->index, at->k, op->npsn,
		  p->payload_bytes, expect);
	SIM_CHECK(f->from->host->w,
		  !expect || !memcmp(p->payload, op->payload + off, expect),
		  "%s: operation %u packet %u has wrong bytes",
		  endpoint_name(f->from), at->index, at->k);
}

/* The first time that an operation is seen on the wire. */
static void check_start(struct sim_flow *f, const struct place *at)
{
	struct sim_world *w = f->from->host->w;
	u32 open = 0;

	for (u32 i = f->done; i < at->index; i++)
		if (sim_op_reads(&f->ops[i]) && !f->ops[i].answered)
			open++;
	if (at->op->wr.flags & UR_WR_F_FENCE)
		SIM_CHECK(w, !open,
			  "%s: fenced operation %u leaves with %u READs open",
			  endpoint_name(f->from), at->index, open);
	if (sim_op_reads(at->op))
		SIM_CHECK(w, open < f->from->attr.max_rd_atomic,
			  "%s: %u READs and atomics open, limit %u",
			  endpoint_name(f->from), open + 1,
			  f->from->attr.max_rd_atomic);
}

/* Can work of this flow stay inside the device, without packets? */
static bool in_device(const struct sim_flow *f)
{
	return f->from->host == f->to->host && f->from->host->config.loop;
}

static void check_request(struct sim_flow *f, const struct ur_pkt *p)
{
	struct sim_world *w = f->from->host->w;
	u32 rel = ur_psn_sub(p->psn, f->psn_base);
	struct place at;
	bool loops = in_device(f), fresh;

	SIM_CHECK(w, find_psn(f, rel, &at),
		  "%s: request PSN %u (first + %u) belongs to no operation",
		  endpoint_name(f->from), p->psn, rel);
	/* Packets that went the short way are not seen here. */
	if (loops && ur_psn_diff(rel, f->wire_next) > 0)
		f->wire_next = rel;
	fresh = rel == f->wire_next;
	SIM_CHECK(w, rel <= f->wire_next, "%s: PSN skips from +%u to +%u",
		  endpoint_name(f->from), f->wire_next, rel);
	SIM_CHECK(w, at.index >= f->done || !sim_reliable(f),
		  "%s: operation %u sent again after it completed",
		  endpoint_name(f->from), at.index);
	SIM_CHECK(w,
		  p->opcode == (service(f) | request_opcode(at.op, at.k)) ||
			  (at.op->wr.opcode == UR_WR_READ &&
			   p->opcode == (service(f) | UR_OPC_READ_REQ)),
		  "%s: operation %u packet %u of %u leaves as %s",
		  endpoint_name(f->from), at.index, at.k, at.op->npsn,
		  ur_opcode_name(p->opcode));
	check_headers(f, &at, p);
	check_payload(f, &at, p);
	if (fresh) {
		SIM_CHECK(w,
			  at.k || !f->from->draining ||
				  at.index < f->from->drain_taken,
			  "%s: operation %u starts in SQD",
			  endpoint_name(f->from), at.index);
		if (at.k == 0 && !loops)
			check_start(f, &at);
		if (at.k == 0)
			at.op->sent_at = w->now;
		f->wire_next +=
			at.op->wr.opcode == UR_WR_READ ? at.op->npsn : 1;
	}
	if (sim_reliable(f)) {
		/* Once, and retry_cnt times more while nothing is received. */
		if (f->heard_seen != f->heard) {
			f->heard_seen = f->heard;
			for (u32 i = f->done; i < f->posted; i++)
				f->ops[i].idle_sends = 0;
		}
		if (at.k == 0)
			at.op->idle_sends++;
		at.op->sends++;
		SIM_CHECK(w,
			  at.op->idle_sends <=
				  1u + PROBES_MAX + f->from->attr.retry_cnt,
			  "%s: operation %u sent %u times with nothing heard, "
			  "retry count is %u",
			  endpoint_name(f->from), at.index, at.op->idle_sends,
			  f->from->attr.retry_cnt);
	} else {
		SIM_CHECK(w, fresh, "%s: UC sends a PSN twice",
			  endpoint_name(f->from));
	}
}

/* The MSN counts requests done: all that the packet answers, and none of which
 * something has not arrived. */
static void check_msn(struct sim_flow *f, const struct ur_pkt *p, u32 rel)
{
	struct sim_world *w = f->to->host->w;
	bool nak = (p->op->flags & UR_OPF_ACK) &&
		   (p->syndrome & UR_AETH_CLASS_MASK) != UR_AETH_ACK;
	u32 low = 0, high = 0;

	if (in_device(f))
		return;
	/* The last operation of either kind. */
	for (u32 i = f->posted; i-- && !(low && high);) {
		const struct sim_op *op = &f->ops[i];
		bool reads = op->wr.opcode == UR_WR_READ;

		if (!op->npsn)
			continue;
		/* A READ is done when it is accepted. */
		if (!low && rel != UR_PSN_MASK &&
		    (nak     ? op->psn + op->npsn <= rel
		     : reads ? op->psn <= rel
			     : op->psn + op->npsn <= rel + 1))
			low = op->msn;
		if (!high && op->psn + op->npsn <= f->delivered_max)
			high = op->msn;
	}
	SIM_CHECK(w, p->msn >= low && p->msn <= high,
		  "%s: %s of +%u has MSN %u, must be %u to %u",
		  endpoint_name(f->to), ur_opcode_name(p->opcode), rel, p->msn,
		  low, high);
}

/* A response from f->to to f->from. */
static void check_response(struct sim_flow *f, const struct ur_pkt *p)
{
	struct sim_world *w = f->to->host->w;
	u32 rel = ur_psn_sub(p->psn, f->psn_base);
	struct place at;

	if (p->op->flags & UR_OPF_AETH)
		check_msn(f, p, rel);
	if (p->op->flags & UR_OPF_ACK) {
		bool seq_nak = p->syndrome == (UR_AETH_NAK | UR_NAK_PSN_SEQ);
		/* Work that was done before the first PSN is acknowledged as
		 * first - 1, in answer to a duplicate. */
		u32 limit = f->delivered_max + (seq_nak ? 1 : 0);

		SIM_CHECK(w, rel == UR_PSN_MASK || rel < limit || in_device(f),
			  "%s: acknowledges +%u, but only +%u has arrived",
			  endpoint_name(f->to), rel, f->delivered_max);
		return;
	}
	SIM_CHECK(w, find_psn(f, rel, &at), "%s: response to no operation",
		  endpoint_name(f->to));
	if (p->op->flags & UR_OPF_ATOMIC_ACK) {
		SIM_CHECK(w, sim_op_atomic(at.op),
			  "%s: atomic acknowledge to opcode %u",
			  endpoint_name(f->to), at.op->wr.opcode);
		SIM_CHECK(w,
			  f->to->host->words.direct ||
				  (at.op->executed == 1 &&
				   p->atomic_orig == at.op->old),
			  "%s: atomic %u answered with another value",
			  endpoint_name(f->to), at.index);
		return;
	}
	if (at.op->wr.opcode == UR_WR_READ) {
		u32 off = at.k * f->pair->mtu;
		u32 expect = ur_min_u32(f->pair->mtu, at.op->bytes - off);
		bool last = at.k + 1 == at.op->npsn;

		SIM_CHECK(w, !(p->op->flags & UR_OPF_END) == !last,
			  "%s: READ %u response %u of %u is %s",
			  endpoint_name(f->to), at.index, at.k, at.op->npsn,
			  ur_opcode_name(p->opcode));
		SIM_CHECK(w, p->payload_bytes == expect,
			  "%s: READ %u response %u has %u bytes, not %u",
			  endpoint_name(f->to), at.index, at.k,
			  p->payload_bytes, expect);
	} else {
		SIM_CHECK(w,
			  at.op->wr.opcode == UR_WR_FLUSH ||
				  at.op->wr.opcode == UR_WR_ATOMIC_WRITE,
			  "%s: READ response to opcode %u",
			  endpoint_name(f->to), at.op->wr.opcode);
	}
}

static void check_datagram(struct sim_world *w, struct sim_host *src,
			   const struct ur_pkt *p)
{
	struct sim_qp *qp = oracle_qp(src, p->sqpn);
	struct sim_flow *f = qp ? qp->out : NULL;

	SIM_CHECK(w, f, "datagram from a stranger");
	for (u32 i = f->done > 64 ? f->done - 64 : 0; i < f->posted; i++) {
		const struct sim_op *op = &f->ops[i];

		if (op->wr.dqpn == p->dqpn && op->wr.qkey == p->qkey &&
		    op->bytes == p->payload_bytes &&
		    !memcmp(op->payload, p->payload, op->bytes))
			return;
	}
	sim_fail(w, "%s: datagram that nobody posted", endpoint_name(qp));
}

/* The flow that a packet to queue pair to belongs to, NULL when the pair was
 * taken apart meanwhile. */
static struct sim_flow *flow_to(struct sim_qp *to, const struct ur_pkt *p)
{
	if (!to || !to->pair || !to->pair->connected)
		return NULL;
	return p->op->flags & UR_OPF_REQUEST ? to->in : to->out;
}

void oracle_tx(struct sim_host *src, struct sim_host *dst, const u8 *bth,
	       u32 len)
{
	struct sim_world *w = src->w;
	enum ur_pkt_error error;
	struct sim_flow *f;
	struct ur_pkt p;

	error = ur_pkt_parse(&p, bth, len);
	SIM_CHECK(w, !error, "host %u sends what does not parse: %s",
		  src->index, ur_pkt_error_name(error));
	SIM_CHECK(w, p.pkey == UR_PKEY_DEFAULT, "P_Key 0x%x", p.pkey);
	SIM_CHECK(w, p.payload_bytes <= w->mtu, "payload beyond the MTU");
	if (p.op->flags & UR_OPF_CNP)
		return;
	if (p.op->flags & UR_OPF_DETH) {
		check_datagram(w, src, &p);
		return;
	}
	f = flow_to(oracle_qp(dst, p.dqpn), &p);
	/* To a queue pair that has restarted meanwhile. */
	if (!f)
		return;
	if (p.op->flags & UR_OPF_REQUEST) {
		SIM_CHECK(w, f->from->host == src, "request from elsewhere");
		check_request(f, &p);
	} else {
		SIM_CHECK(w, f->to->host == src, "response from elsewhere");
		check_response(f, &p);
	}
}

void oracle_rx(struct sim_host *h, const struct ur_frame *frame)
{
	struct sim_flow *f;
	struct place at;
	struct ur_pkt p;
	u32 rel;

	if (ur_pkt_parse(&p, frame->bth, frame->bth_bytes))
		return;
	f = flow_to(oracle_qp(h, p.dqpn), &p);
	if (!f)
		return;
	rel = ur_psn_sub(p.psn, f->psn_base);
	if (!find_psn(f, rel, &at)) {
		if (!(p.op->flags & UR_OPF_REQUEST)) {
			f->heard++;
			f->heard_at = h->w->now;
		}
		return;
	}
	if (p.op->flags & UR_OPF_REQUEST) {
		u32 end = rel + 1;

		if (p.op->flags & UR_OPF_READ_REQ)
			end = at.op->psn + at.op->npsn;
		if (end > f->delivered_max)
			f->delivered_max = end;
		return;
	}
	f->heard++;
	f->heard_at = h->w->now;
	if ((p.op->flags & UR_OPF_ACK) &&
	    (p.syndrome & UR_AETH_CLASS_MASK) == UR_AETH_RNR_NAK)
		at.op->rnrs++;
	if ((p.op->flags & (UR_OPF_READ_RESP | UR_OPF_ATOMIC_ACK)) &&
	    (p.op->flags & UR_OPF_END))
		at.op->answered = true;
}

/* With the peer silent: retry_cnt + 1 times the timeout, which may be up to
 * four times what the attribute says (IBTA 9.7.6.1.3), and is never less than
 * that of code 12. */
static void check_patience(struct sim_flow *f, const struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	const struct ur_qp_attr *a = &f->from->attr;
	ur_time once = 4096ull << a->timeout;
	ur_time least = 4096ull << 12;
	ur_time longest = 4 * once > least ? 4 * once : least;
	ur_time from = op->sent_at > f->heard_at ? op->sent_at : f->heard_at;
	ur_time took = w->now - from;

	if (!op->sent_at)
		return;
	if (f->heard_at < op->sent_at)
		SIM_CHECK(w, took >= once * (a->retry_cnt + 1),
			  "%s: retries exceeded after %llu ns, %u times %llu",
			  endpoint_name(f->from), (unsigned long long)took,
			  a->retry_cnt + 1, (unsigned long long)once);
	/* Time that a paused host or a full line adds is not bounded here. */
	if (!w->faults.pause_every)
		SIM_CHECK(w, took <= longest * (a->retry_cnt + 2),
			  "%s: retries exceeded only after %llu ns, %u times "
			  "%llu",
			  endpoint_name(f->from), (unsigned long long)took,
			  a->retry_cnt + 1, (unsigned long long)once);
}

void oracle_retry_exceeded(struct sim_flow *f, u32 i)
{
	u32 sends = 0;

	/* Loop traffic has no packets to count; copies of one sequence NAK
	 * count as retries too. */
	if (in_device(f) || f->from->host->w->faults.dup)
		return;
	check_patience(f, &f->ops[i]);
	for (u32 k = i; k < f->posted; k++)
		if (f->ops[k].sends > sends)
			sends = f->ops[k].sends;
	SIM_CHECK(f->from->host->w, sends > f->from->attr.retry_cnt,
		  "%s: retries exceeded after %u sends, retry count is %u",
		  endpoint_name(f->from), sends, f->from->attr.retry_cnt);
}

void oracle_rnr_exceeded(struct sim_flow *f, u32 i)
{
	struct sim_world *w = f->from->host->w;
	u32 seen = f->ops[i].rnrs, limit = f->from->attr.rnr_retry;

	/* Copies count too, and work inside a device has no packets. One that
	 * reports a lost READ answer before it is not counted, so there may be
	 * more. */
	if (in_device(f) || w->faults.dup)
		return;
	SIM_CHECK(w, seen > limit,
		  "%s: RNR retries exceeded after %u RNR NAKs, limit %u",
		  endpoint_name(f->from), seen, limit);
}
