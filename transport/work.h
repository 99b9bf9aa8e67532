/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work requests, completions and address vectors, as the host and the transport
 * exchange them.
 */
#ifndef UR_TRANSPORT_WORK_H
#define UR_TRANSPORT_WORK_H

#include "util/assert.h"
#include "util/bytes.h"

#define UR_MAX_SGE 32

/* The same numbers as enum uroce_wqe_opcode (engine/core/ring_io.c asserts it). */
enum ur_wr_opcode {
	UR_WR_NOP = 0,
	UR_WR_SEND = 1,
	UR_WR_SEND_IMM = 2,
	UR_WR_SEND_INV = 3,
	UR_WR_WRITE = 4,
	UR_WR_WRITE_IMM = 5,
	UR_WR_READ = 6,
	UR_WR_CMP_SWAP = 7,
	UR_WR_FETCH_ADD = 8,
	UR_WR_MASK_CMP_SWAP = 9,
	UR_WR_MASK_FETCH_ADD = 10,
	UR_WR_BIND_MW = 11,
	UR_WR_LOCAL_INV = 12,
	UR_WR_ATOMIC_WRITE = 13,
	UR_WR_FLUSH = 14,
	UR_WR_OPCODES
};

#define UR_WR_F_SIGNALED  (1u << 0)
#define UR_WR_F_SOLICITED (1u << 1)
#define UR_WR_F_FENCE	  (1u << 2)
#define UR_WR_F_INLINE	  (1u << 3)

struct ur_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

#define UR_NO_GRANT_ID UINT32_MAX /* the peer's prefix belongs to nobody */

/*
 * Address vector: where a packet goes. Filled by the host; the transport keeps
 * the pointer and counts references with ur_av_get/put, the last of which frees it.
 */
struct ur_av {
	u8 sgid[16], dgid[16]; /* ::ffff:a.b.c.d for IPv4 */
	u32 sgid_index;
	u32 flow_label;	  /* 20 bits */
	u16 udp_sport;	  /* RoCEv2 source port, 0xC000..0xFFFF */
	u8 traffic_class; /* whole ToS / TC byte, ECN bits included */
	/* UR_ECN_ECT0 or ECT1: ECN bits to use if the peer answers marks; for
	 * RC also if that is not known. 0: the transport leaves the class as it
	 * is. */
	u8 ecn;
	u8 hop_limit;
	u8 sl;
	bool v4;   /* both GIDs are IPv4-mapped */
	bool v1;   /* RoCEv1 (GID type), Ethernet only */
	bool loop; /* dgid is one of this port's own addresses */
	bool mcast;
	bool raw;  /* raw Ethernet frames; only wire is used */
	u32 realm; /* as in ur_qp_init; 0: unrestricted */
	/* of a connection: the peer's ur_rx_meta.grant_id, or UR_NO_GRANT_ID */
	u32 grant_id;
	u32 lqpn; /* for the host: only this queue pair uses it; 0: any */
	u32 refs;
	u64 wire; /* for the wire backend: cached route; 0: none */
	/* For the host: the error of the last packets that could not be sent,
	 * and its time. */
	int send_error;
	u64 send_error_at;
};

static inline struct ur_av *ur_av_get(struct ur_av *av)
{
	av->refs++;
	return av;
}

/* av.c: called when the last reference goes. */
void ur_av_free(struct ur_av *av);

static inline void ur_av_put(struct ur_av *av)
{
	if (!av)
		return;
	ur_assert_hot(av->refs);
	if (--av->refs == 0)
		ur_av_free(av);
}

/* In place of an opcode: the request completes with the status in the low bits.
 * No client can use it, since a host checks opcodes. */
#define UR_WR_FAILS 0x80

/* A send work request, copied out of the ring. The host has checked its form
 * (opcode, counts), not keys and ranges. */
struct ur_send_wr {
	u64 wr_id;
	u32 wqe_counter; /* ring index of the WQE, echoed in the completion */
	u32 ring_end;	 /* consumer index after this WQE is retired */
	u8 opcode;	 /* enum ur_wr_opcode */
	u8 flags;	 /* UR_WR_F_* */
	u16 num_sge;
	u32 imm_inv; /* immediate: wire bytes; invalidate: R_Key, host order */
	u64 raddr;
	u32 rkey;
	u32 xrc_srqn;
	struct ur_av *av; /* UD: a reference is taken by the transport */
	u32 dqpn, qkey;	  /* UD */
	u64 swap_add, compare;
	u64 swap_add_mask, compare_mask;
	/* BIND_MW */
	u64 bind_addr, bind_length;
	u32 bind_mw_rkey, bind_new_rkey, bind_mr_lkey, bind_access;
	/* FLUSH */
	u32 flush_type, flush_level;
	u64 flush_length;
	/* Inline payload, in up to two pieces of ring memory that stay readable
	 * until the WQE is retired. The client may change the bytes meanwhile,
	 * which harms only its own data; the lengths here are fixed. */
	const u8 *inl[2];
	u32 inl_len[2];
	struct ur_sge sge[UR_MAX_SGE];
};

struct ur_recv_wr {
	u64 wr_id;
	u32 wqe_counter;
	u32 num_sge;
	struct ur_sge sge[UR_MAX_SGE];
};

/* Work completion; status, opcode and wc_flags have enum ibv_wc_*'s values. */
struct ur_wc {
	u64 wr_id;
	u32 qpn;
	u32 src_qp;
	u32 byte_len;
	u32 imm_inv;
	u32 wqe_counter;
	u32 srqn;
	u32 vendor_err;
	u16 pkey_index;
	u8 opcode;
	u8 status;
	u8 wc_flags;
	u8 sl; /* UD: enum ur_wc_sl */
	u8 syndrome;
	bool recv; /* completion of a receive */
	/* wakes a queue armed with ARM_SOLICITED (set for errors too) */
	bool solicited;
};

/* Meaning of the service level in a UD completion, as with Mellanox's cards:
 * bit 3 for a UDP header, below it the kind of network header. */
enum ur_wc_sl {
	UR_WC_SL_ROCE_V1 = 0,
	UR_WC_SL_ROCE_V2_IPV6 = 9,
	UR_WC_SL_ROCE_V2_IPV4 = 10,
};

/* Returns the Ethernet priority of a service level, 0..7. Values above 7, which
 * a program may copy from a completion, give 0. */
static inline int ur_sl_priority(u8 sl)
{
	return sl < 8 ? sl : 0;
}

enum ur_wc_status { /* enum ibv_wc_status */
		    UR_WC_SUCCESS = 0,
		    UR_WC_LOC_LEN_ERR = 1,
		    UR_WC_LOC_QP_OP_ERR = 2,
		    UR_WC_LOC_PROT_ERR = 4,
		    UR_WC_WR_FLUSH_ERR = 5,
		    UR_WC_MW_BIND_ERR = 6,
		    UR_WC_BAD_RESP_ERR = 7,
		    UR_WC_LOC_ACCESS_ERR = 8,
		    UR_WC_REM_INV_REQ_ERR = 9,
		    UR_WC_REM_ACCESS_ERR = 10,
		    UR_WC_REM_OP_ERR = 11,
		    UR_WC_RETRY_EXC_ERR = 12,
		    UR_WC_RNR_RETRY_EXC_ERR = 13,
		    UR_WC_REM_ABORT_ERR = 16,
		    UR_WC_FATAL_ERR = 19,
		    UR_WC_GENERAL_ERR = 21,
};

enum ur_wc_opcode { /* enum ibv_wc_opcode */
		    UR_WC_SEND = 0,
		    UR_WC_RDMA_WRITE = 1,
		    UR_WC_RDMA_READ = 2,
		    UR_WC_COMP_SWAP = 3,
		    UR_WC_FETCH_ADD = 4,
		    UR_WC_BIND_MW = 5,
		    UR_WC_LOCAL_INV = 6,
		    UR_WC_FLUSH = 8,
		    UR_WC_ATOMIC_WRITE = 9,
		    UR_WC_RECV = 128,
		    UR_WC_RECV_RDMA_WITH_IMM = 129,
};

#define UR_WC_F_GRH (1u << 0)
#define UR_WC_F_IMM (1u << 1)
#define UR_WC_F_INV (1u << 3)

#endif
