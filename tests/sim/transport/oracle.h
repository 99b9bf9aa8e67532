/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rules that must hold, judged from outside the transport: of memory, of
 * completions (oracle.c), and of packets (wirecheck.c). All of these leave the
 * run by sim_fail() on a violation. */
#ifndef UR_TESTS_SIM_TRANSPORT_ORACLE_H
#define UR_TESTS_SIM_TRANSPORT_ORACLE_H

#include "tests/sim/transport/world.h"

/* The transport writes to a flow's target memory: the write stream of its
 * operations, each byte once and in order. */
void oracle_dst_write(struct sim_region *r, u64 off, const u8 *src, u32 len);
/* An atomic is executed: operand is the addend or the new value. */
void oracle_atomic(struct sim_region *r, u64 off, bool add, u64 operand,
		   u64 old);
void oracle_completion(struct sim_cq *cq, const struct ur_wc *wc);
/* A completion found its queue full and is lost. */
void oracle_overrun(struct sim_cq *cq, const struct ur_wc *wc);

/* The receive half of oracle_completion. */
void oracle_recv(struct sim_qp *qp, const struct ur_wc *wc);
/* Move a flow's write cursor over operations that write nothing more. */
void oracle_settle(struct sim_flow *f);
bool oracle_uc_repeats(const struct sim_world *w);
/* Copy what the scatter list of a work request holds. */
void oracle_gather(const struct sim_region *r, const struct ur_sge *sge, u32 n,
		   u8 *to, u64 bytes);

/* A packet leaves a host, and arrives whole at one. */
void oracle_tx(struct sim_host *src, struct sim_host *dst, const u8 *bth,
	       u32 len);
void oracle_rx(struct sim_host *h, const struct ur_frame *frame);

/* Operation i failed for want of answers: was it tried often enough? */
void oracle_retry_exceeded(struct sim_flow *f, u32 i);
/* The same of one that found no receive. */
void oracle_rnr_exceeded(struct sim_flow *f, u32 i);

/* All operations of a flow have ended. */
bool oracle_flow_idle(const struct sim_flow *f);
/* The pair's epoch is over: no completion is missing, memory is as the
 * operations left it. */
void oracle_pair_end(struct sim_pair *p);
void oracle_ud_end(struct sim_world *w, u32 index);
/* Words after all pairs are idle. */
void oracle_words(struct sim_host *h);

struct sim_qp *oracle_qp(struct sim_host *h, u32 qpn);

static inline bool sim_op_writes(const struct sim_op *op)
{
	return op->wr.opcode == UR_WR_WRITE ||
	       op->wr.opcode == UR_WR_WRITE_IMM ||
	       op->wr.opcode == UR_WR_ATOMIC_WRITE;
}

static inline bool sim_op_sends(const struct sim_op *op)
{
	return op->wr.opcode == UR_WR_SEND || op->wr.opcode == UR_WR_SEND_IMM ||
	       op->wr.opcode == UR_WR_SEND_INV;
}

static inline bool sim_op_atomic(const struct sim_op *op)
{
	return op->wr.opcode == UR_WR_CMP_SWAP ||
	       op->wr.opcode == UR_WR_FETCH_ADD;
}

/* Operations that count against max_rd_atomic: those answered by a READ
 * response or an atomic acknowledge. */
static inline bool sim_op_reads(const struct sim_op *op)
{
	return op->wr.opcode == UR_WR_READ || sim_op_atomic(op);
}

static inline bool sim_reliable(const struct sim_flow *f)
{
	return f->pair && f->pair->type != UR_QPT_UC;
}

#endif
