/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work requests taken from the rings: an entry of the send queue's window, and
 * the receive that a message goes into.
 */
#ifndef UR_TRANSPORT_WQE_H
#define UR_TRANSPORT_WQE_H

#include "transport/mem.h"
#include "transport/psn.h"

enum ur_swqe_state {
	UR_SWQE_PULLED,	 /* taken from the ring */
	UR_SWQE_STARTED, /* has PSNs */
	/* a local operation was executed; waits for its turn */
	UR_SWQE_DONE,
};

struct ur_swqe {
	u64 wr_id;
	u32 wqe_counter, ring_end;
	u8 opcode; /* enum ur_wr_opcode */
	u8 flags;  /* UR_WR_F_* */
	u8 state;  /* enum ur_swqe_state */
	u8 status; /* nonzero: fails with this status in its turn */
	u16 num_sge;
	u32 imm_inv;
	u32 rkey;
	u64 raddr;
	u32 xrc_srqn;
	u32 length;   /* bytes of the message */
	u32 psn;      /* first PSN */
	u32 npkts;    /* number of PSNs; 0: local operation */
	u32 ssn;      /* ssn of its last request, for credits */
	u32 loop_off; /* bytes copied so far inside the device */
	struct ur_cursor cur;
	union {
		struct {
			struct ur_av *av;
			u32 dqpn, qkey;
		} ud;
		struct {
			u64 swap_add, compare, swap_add_mask, compare_mask;
		} atomic;
		struct {
			u64 addr, length;
			u32 mw_rkey, new_rkey, mr_lkey, access;
		} bind;
		struct {
			u64 length;
			u32 type, level;
		} flush;
	};
	const u8 *inl[2];
	u32 inl_len[2];
	struct ur_sge sge[]; /* max_send_sge elements */
};

/* Returns whether the entry is a READ, atomic, ATOMIC WRITE or FLUSH, which the
 * peer answers with a packet of its own, not an acknowledgement. */
static inline bool ur_swqe_is_read_type(const struct ur_swqe *e)
{
	return e->opcode == UR_WR_READ || e->opcode == UR_WR_ATOMIC_WRITE ||
	       e->opcode == UR_WR_FLUSH ||
	       (e->opcode >= UR_WR_CMP_SWAP &&
		e->opcode <= UR_WR_MASK_FETCH_ADD);
}

/* Returns the PSN behind the entry's last one. */
static inline u32 ur_swqe_end(const struct ur_swqe *e)
{
	return ur_psn_add(e->psn, e->npkts);
}

/* The receive WQE being filled; held from its taking to its completion. */
struct ur_rqe {
	bool held;
	u64 wr_id;
	u32 wqe_counter;
	u32 num_sge;
	u32 length;
	u32 srqn;
	/* domain of its keys: the SRQ's (IBTA 10.2.9), else the queue pair's */
	u32 pd;
	void *cq_ctx;
	struct ur_cursor cur;
};

#endif
