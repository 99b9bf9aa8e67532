// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One random operation of a flow, with what the oracles need to know of it.
 */
#include "tests/sim/transport/operation.h"

#include <stdlib.h>

#include "tests/sim/transport/oracle.h"

#define BIT(n) (1u << (n))

static u32 draw(struct sim_world *w, u32 n)
{
	return ur_rng_below(&w->rng_work, n);
}

/* Sizes at which things change: nothing, pad, MTU edges; else any. */
static u32 draw_bytes(struct sim_world *w, u32 mtu, u32 max)
{
	u32 bytes;

	switch (draw(w, 12)) {
	case 0:
		bytes = 0;
		break;
	case 1:
		bytes = 1 + draw(w, 5);
		break;
	case 2:
		bytes = mtu - 1 + draw(w, 3);
		break;
	case 3:
		bytes = 2 * mtu - 1 + draw(w, 3);
		break;
	case 4:
		bytes = mtu * (1 + draw(w, 4));
		break;
	case 5:
		bytes = max - draw(w, 2);
		break;
	case 6:
	case 7:
		bytes = draw(w, 257);
		break;
	default:
		bytes = draw(w, max + 1);
	}
	return bytes < max ? bytes : max;
}

/* Take the payload from random pieces of the source region. */
static void gather(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	u32 left = op->bytes, n = 1 + draw(w, SIM_MAX_SGE), done = 0;

	op->payload = malloc(op->bytes + 1);
	if (!op->payload)
		abort();
	if (!op->bytes && draw(w, 2))
		n = 0;
	op->wr.num_sge = (u16)n;
	for (u32 i = 0; i < n; i++) {
		u32 part = i + 1 == n ? left : draw(w, left + 1);
		u64 off = draw(w, (u32)(f->src.bytes - part) + 1);

		op->wr.sge[i] =
			(struct ur_sge){f->src.iova + off, part, f->src.key};
		memcpy(op->payload + done, f->src.base + off, part);
		done += part;
		left -= part;
	}
	if (op->bytes <= 256 && draw(w, 3) == 0) {
		u32 first = draw(w, op->bytes + 1);

		op->wr.flags |= UR_WR_F_INLINE;
		op->wr.num_sge = 0;
		op->wr.inl[0] = op->payload;
		op->wr.inl_len[0] = first;
		op->wr.inl[1] = op->payload + first;
		op->wr.inl_len[1] = op->bytes - first;
	}
}

/* Chooses the place of READ data: pieces of the result slot, in falling order.
 * */
static void scatter(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	u32 slot_bytes = w->max_bytes + 64, left = op->bytes;
	u32 slot = f->posted % w->depth, n = 1 + draw(w, SIM_MAX_SGE);
	u64 end = f->result.iova + (u64)(slot + 1) * slot_bytes;

	memset(f->result.base + (u64)slot * slot_bytes, 0x5a, slot_bytes);
	op->wr.num_sge = (u16)n;
	for (u32 i = 0; i < n; i++) {
		u32 part = i + 1 == n ? left : draw(w, left + 1);

		end -= part;
		left -= part;
		op->wr.sge[i] = (struct ur_sge){end, part, f->result.key};
	}
}

static void aim(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;

	op->dst_off = draw(w, (u32)(f->dst.bytes - op->bytes) + 1);
	op->wr.raddr = f->dst.iova + op->dst_off;
	op->wr.rkey = f->dst.key;
	if (f->mw && f->mw_state == SIM_MW_BOUND && draw(w, 2) &&
	    op->wr.opcode != UR_WR_FLUSH && op->dst_off >= f->mw_off &&
	    op->dst_off + op->bytes <= f->mw_off + f->mw_bytes) {
		op->wr.rkey = f->mw_rkey;
		op->uses_mw = true;
		f->mw_users++;
	}
}

static void make_atomic(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	struct sim_region *words = &f->to->host->words;

	op->bytes = 8;
	scatter(f, op);
	op->wr.num_sge = 1;
	op->wr.sge[0] =
		(struct ur_sge){f->result.iova + (u64)(f->posted % w->depth) *
							 (w->max_bytes + 64),
				8, f->result.key};
	op->word = draw(w, SIM_WORDS);
	op->wr.raddr = words->iova + 8 * op->word;
	op->wr.rkey = words->key;
	/* Unlike any other: names the operation. */
	op->wr.swap_add = ur_rng_u64(&w->rng_work);
	if (words->direct)
		op->wr.opcode = UR_WR_FETCH_ADD;
	if (op->wr.opcode == UR_WR_CMP_SWAP)
		op->wr.compare = draw(w, 2) ? f->to->host->word[op->word]
					    : ur_rng_u64(&w->rng_work);
	op->wr.swap_add_mask = op->wr.compare_mask = ~0ull;
}

/* The responder of f opens its window over the target. */
static void make_bind(struct sim_flow *in, struct sim_op *op)
{
	struct sim_world *w = in->from->host->w;

	op->wr.opcode = UR_WR_BIND_MW;
	in->mw_bytes = 1 + draw(w, (u32)in->dst.bytes);
	in->mw_off = draw(w, (u32)(in->dst.bytes - in->mw_bytes) + 1);
	op->wr.bind_mw_rkey = ur_mw_rkey(in->mw);
	op->wr.bind_new_rkey = (op->wr.bind_mw_rkey & ~0xffu) |
			       ((op->wr.bind_mw_rkey + 1) & 0xff);
	op->wr.bind_mr_lkey = in->dst.key;
	op->wr.bind_addr = in->dst.iova + in->mw_off;
	op->wr.bind_length = in->mw_bytes;
	op->wr.bind_access = UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_WRITE;
	in->mw_rkey = op->wr.bind_new_rkey;
	in->mw_state = SIM_MW_BINDING;
}

/* A mistake of the application; what it must lead to is noted. */
static void spoil(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	bool remote = sim_op_writes(op) || sim_op_reads(op);
	u32 n = op->wr.num_sge;

	if (remote && op->bytes && draw(w, 2)) {
		bool inside =
			op->dst_off >= f->mw_off &&
			op->dst_off + op->bytes <= f->mw_off + f->mw_bytes;

		if (f->mw_old && f->mw_old != f->mw_rkey && draw(w, 2))
			op->wr.rkey = f->mw_old;
		else if (f->mw_state == SIM_MW_BOUND &&
			 (!inside || sim_op_atomic(op)) && draw(w, 2))
			op->wr.rkey = f->mw_rkey;
		else if (draw(w, 2))
			op->wr.rkey ^= 0x5500;
		else if (sim_op_atomic(op))
			op->wr.raddr += 8 * SIM_WORDS;
		else
			op->wr.raddr = f->dst.iova + f->dst.bytes - op->bytes +
				       1 + draw(w, 64);
		op->bad_status =
			BIT(UR_WC_REM_ACCESS_ERR) | BIT(UR_WC_REM_INV_REQ_ERR);
	} else if (n && op->wr.sge[n - 1].length) {
		if (draw(w, 2))
			op->wr.sge[n - 1].lkey ^= 0x5500;
		else
			op->wr.sge[n - 1].addr += 1ull << 40;
		op->bad_status =
			BIT(UR_WC_LOC_PROT_ERR) | BIT(UR_WC_LOC_ACCESS_ERR);
	} else {
		return;
	}
	op->bad = true;
	f->pair->reasons |= SIM_WHY_BAD_OP;
}

static u8 draw_opcode(struct sim_flow *f)
{
	static const u8 rc[] = {
		UR_WR_SEND,	 UR_WR_SEND,	  UR_WR_SEND_IMM,
		UR_WR_WRITE,	 UR_WR_WRITE,	  UR_WR_WRITE,
		UR_WR_WRITE_IMM, UR_WR_READ,	  UR_WR_READ,
		UR_WR_CMP_SWAP,	 UR_WR_FETCH_ADD, UR_WR_ATOMIC_WRITE,
		UR_WR_FLUSH,
	};
	static const u8 uc[] = {
		UR_WR_SEND,
		UR_WR_SEND_IMM,
		UR_WR_WRITE,
		UR_WR_WRITE_IMM,
	};
	struct sim_world *w = f->from->host->w;

	if (w->drill)
		return w->drill->opcode;
	if (!f->pair)
		return draw(w, 2) ? UR_WR_SEND : UR_WR_SEND_IMM;
	if (f->pair->type == UR_QPT_UC)
		return uc[draw(w, UR_ARRAY_SIZE(uc))];
	return rc[draw(w, UR_ARRAY_SIZE(rc))];
}

/* Windows: the responder's turn to bind or invalidate, or the requester's to
 * invalidate by a SEND. True when op was made. */
static bool make_window(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	struct sim_flow *in = f->from->in;

	if (in && in->mw && in->mw_state == SIM_MW_NONE && draw(w, 4) == 0) {
		make_bind(in, op);
		return true;
	}
	if (in && in->mw && in->mw_state == SIM_MW_BOUND && draw(w, 16) == 0)
		in->mw_state = SIM_MW_CLOSING;
	if (in && in->mw && in->mw_state == SIM_MW_CLOSING && !in->mw_users) {
		op->wr.opcode = UR_WR_LOCAL_INV;
		op->wr.imm_inv = in->mw_rkey;
		in->mw_state = SIM_MW_GONE;
		return true;
	}
	if (f->mw && f->mw_state == SIM_MW_BOUND && draw(w, 16) == 0) {
		op->wr.opcode = UR_WR_SEND_INV;
		/* A READ that must be asked again still needs the window. */
		op->wr.flags |= UR_WR_F_FENCE;
		op->wr.imm_inv = f->mw_rkey;
		f->mw_state = SIM_MW_GONE;
	}
	return false;
}

static u32 max_bytes(const struct sim_flow *f, u8 opcode)
{
	struct sim_world *w = f->from->host->w;

	if (!f->pair)
		return ur_min_u32(w->mtu, w->max_bytes);
	if (opcode == UR_WR_SEND_INV)
		return ur_min_u32(256, w->max_bytes);
	return w->max_bytes;
}

static void fill(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	u32 mtu = f->pair ? f->pair->mtu : w->mtu;

	op->bytes = w->drill ? w->drill->bytes
			     : draw_bytes(w, mtu, max_bytes(f, op->wr.opcode));
	if (op->wr.opcode == UR_WR_ATOMIC_WRITE)
		op->bytes = 8;
	if (sim_op_atomic(op)) {
		make_atomic(f, op);
	} else if (op->wr.opcode == UR_WR_READ) {
		scatter(f, op);
		aim(f, op);
	} else if (op->wr.opcode == UR_WR_FLUSH) {
		aim(f, op);
		op->wr.flush_type = 1; /* global visibility */
		op->wr.flush_length = op->bytes;
	} else {
		gather(f, op);
		if (sim_op_writes(op))
			aim(f, op);
	}
	if (op->wr.opcode == UR_WR_ATOMIC_WRITE) {
		u64 shift = (0 - op->wr.raddr) & 7;

		if (op->dst_off + shift + 8 > f->dst.bytes)
			shift -= 8;
		op->wr.raddr += shift;
		op->dst_off += shift;
		if (op->uses_mw) {
			op->uses_mw = false;
			f->mw_users--;
			op->wr.rkey = f->dst.key;
		}
	}
	if (op->wr.opcode == UR_WR_SEND_IMM || op->wr.opcode == UR_WR_WRITE_IMM)
		op->wr.imm_inv = (u32)ur_rng_u64(&w->rng_work);
	if (f->pair && w->faults_on && sim_reliable(f) && !op->uses_mw &&
	    sim_chance(&w->rng_fault, w->faults.bad_op))
		spoil(f, op);
}

static void address(struct sim_flow *f, struct sim_op *op)
{
	struct sim_world *w = f->from->host->w;
	struct sim_qp *to = w->ud[draw(w, w->n_ud)];

	op->ud_to = to;
	op->wr.dqpn = to->qpn;
	op->wr.qkey = SIM_UD_QKEY;
	op->wr.av = sim_host_av(f->from->host, to->host);
}

void operation_make(struct sim_flow *f)
{
	struct sim_world *w = f->from->host->w;
	struct sim_op *op = &f->ops[f->posted];
	struct sim_qp *qp = f->from;
	u32 mtu = f->pair ? f->pair->mtu : w->mtu;
	bool takes;

	*op = (struct sim_op){.recv_index = SIM_NO_RECV};
	op->wr.opcode = draw_opcode(f);
	if (draw(w, 8) == 0 && !w->drill)
		op->wr.flags |= UR_WR_F_FENCE;
	if (draw(w, 4) == 0)
		op->wr.flags |= UR_WR_F_SOLICITED;
	if (draw(w, 2) || f->posted % 8 == 7 || f->posted + 1 == f->target)
		op->wr.flags |= UR_WR_F_SIGNALED;
	if (!(f->pair && f->pair->type == UR_QPT_RC && make_window(f, op)))
		fill(f, op);
	if (!f->pair)
		address(f, op);
	if (f->pair && f->pair->xrc_rq)
		op->wr.xrc_srqn = f->pair->xrc_rq->srqn;
	op->wr.wr_id = (u64)qp->qpn << 32 | f->posted;
	op->wr.wqe_counter = qp->ring_index;
	qp->ring_index += 1 + draw(w, 4);
	op->wr.ring_end = qp->ring_index;
	op->psn = f->psn_posted;
	if (op->wr.opcode == UR_WR_BIND_MW || op->wr.opcode == UR_WR_LOCAL_INV)
		op->npsn = 0;
	else if (op->wr.opcode == UR_WR_FLUSH || sim_op_atomic(op))
		op->npsn = 1;
	else
		op->npsn = op->bytes ? (op->bytes + mtu - 1) / mtu : 1;
	f->psn_posted += op->npsn;
	f->msn_posted += op->npsn != 0;
	op->msn = f->msn_posted;
	takes = sim_op_sends(op) || op->wr.opcode == UR_WR_WRITE_IMM;
	if (takes && !op->bad) {
		op->recv_index = f->recv_posted;
		f->recv_ops[f->recv_posted++] = f->posted;
	}
	f->posted++;
	w->n_ops++;
	sim_trace(&w->trace, w->now, "post",
		  (u64)qp->host->index << 32 | qp->qpn, op->wr.wr_id,
		  op->wr.opcode, op->bytes);
}
