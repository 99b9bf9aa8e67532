/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The work-queue format: what provider and device share in memory. The device's side is an
 * engine (uroce-engine.h).
 *
 * Little-endian (host order of every supported machine); fixed-width types
 * only; reserved fields are written as zero and checked. The create responses
 * (uroce-abi.h) give the geometry; it is never assumed.
 *
 * Life of a send: the provider writes a WQE into the send ring, releases the
 * producer index [P1], sets the queue's doorbell bit [D1][D2], and writes the
 * context's wake eventfd only if the device says it is asleep [S1]. The device
 * takes the bit, acquires the producer index [C1], copies the WQE out once and
 * validates the copy, executes it, writes a CQE whose owner bit flips each lap
 * [Q1], and advances the consumer index [R1].
 *
 * Memory order, every pair:
 *  [P1] client: store-release ring->prod     pairs with [C1] device: load-acquire
 *  [R1] device: store-release ring->cons     pairs with [R2] client: load-acquire
 *  [Q1] device: store-release cqe->owner     pairs with [Q2] client: load-acquire
 *  [Q3] client: store-release cq->cons       pairs with [Q4] device: load-acquire
 *  [D1] client: atomic OR word[slot / 64]    pairs with [D3] device: exchange word
 *  [D2] client: atomic OR summary            pairs with [D4] device: exchange summary
 *  [S1] client: load asleep after [D1][D2] (both are full barriers)
 *       pairs with [S2] device: store asleep = 1; full barrier; re-read summary
 *  [A1] client: store arm; full barrier; poll again [Q2]
 *       pairs with [A2] device: [Q1]; full barrier; load arm
 *  [K1] client: [P1]; full barrier; load ring->flags (receive rings)
 *       pairs with [K2] device: store flags; full barrier; load-acquire prod
 *
 * The sleep race, numbered. Device: (1) asleep = 1 (2) full barrier (3) read
 * summary: nonzero -> asleep = 0, work (4) sleep on the eventfd. Client: (a)
 * OR word, OR summary, both full barriers (b) read asleep: nonzero -> write
 * the eventfd. If (3) does not see the bit of (a), then (a) comes after (2),
 * hence (b) sees the 1 of (1) and the eventfd ends (4).
 */
#ifndef UROCE_RING_H
#define UROCE_RING_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Unit of the send ring; also the alignment of every ring. */
#define UROCE_SQ_BB 64
/* Maximum length of a WQE; bounds what the device copies. */
#define UROCE_MAX_WQE_BYTES 1024
#define UROCE_MAX_SGE	    32
/* MAX_WQE - control 16 - address vector 16 - remote address 16 - header 4, rounded down:
 * fits with every opcode. */
#define UROCE_MAX_INLINE 896

/*
 * Head of every ring, at hdr_off of its create response. Indices are free running and
 * masked on access. Each has one writer and a cache line of its own.
 */
struct uroce_ring_hdr {
	/* Written by the client. SQ: in BBs; RQ, SRQ: in entries. [P1] */
	__u32 prod;
	__u32 rsv0[15];
	/* Written by the device. Same unit as prod. [R1] */
	__u32 cons;
	/* Written by the device, UROCE_RING_F_*. [K2] */
	__u32 flags;
	__u32 rsv1[14];
};

/* The device wants a doorbell after the next receive post (the queue pair is
 * in error and its receives must be flushed, or somebody waits for one). */
#define UROCE_RING_F_NEED_DB (1u << 0)

/* Head of a completion queue ring. */
struct uroce_cq_hdr {
	/* Written by the client: CQEs taken so far. [Q3] */
	__u32 cons;
	/* Written by the client: (serial << 2) | UROCE_ARM_*; a changed value
	 * arms the queue for one event. [A1] */
	__u32 arm;
	/* Written by the client before arm: the value of arm for the last UROCE_ARM_NEXT,
	 * or 0. That request stays pending even if UROCE_ARM_SOLICITED follows before its
	 * event (IBTA volume 1, C11-31): it is pending while its serial comes after the
	 * serial of the arm that caused the last event. */
	__u32 arm_next;
	__u32 rsv0[13];
	/* Written by the device: CQEs written so far, for diagnosis only. The client uses
	 * the owner bit. */
	__u32 prod;
	/* Written by the device: nonzero after an overrun; no CQE will follow. */
	__u32 overrun;
	__u32 rsv1[14];
};

#define UROCE_ARM_NONE	    0
#define UROCE_ARM_NEXT	    1
#define UROCE_ARM_SOLICITED 2
#define UROCE_ARM_MASK	    3

/*
 * Doorbell page of a context. Bit i % 64 of word[i / 64] is slot i; bit j of summary is set
 * if word[j] is not zero. Queues share a slot when there are more queues than slots.
 * Clients set bits, the device clears them.
 */
#define UROCE_DB_SLOTS 4096

struct uroce_db_page {
	__u32 asleep; /* written by the device [S2] */
	/* The processor, plus one, of the client that last woke the device, or 0. The
	 * device may run there. */
	__u32 cpu;
	/* Written by the device: the processor, plus one, on which it runs while awake; 0:
	 * unknown. */
	__u32 device_cpu;
	/* Written by the device: not 0 from the first ENGINE_IMPORT of the file. */
	__u32 imported;
	__u32 rsv0[12];
	__u64 summary; /* [D2] */
	__u64 rsv1[7];
	__u64 word[UROCE_DB_SLOTS / 64]; /* [D1] */
};

/* ---- send WQE: control segment, then the segments the opcode asks for, then
 * data segments or one inline segment. All segments are 16 bytes or a multiple
 * and start at 16-byte boundaries; a WQE may wrap around the ring's end
 * between two BBs. ---- */

enum uroce_wqe_opcode {
	UROCE_WQE_NOP = 0,
	UROCE_WQE_SEND = 1,
	UROCE_WQE_SEND_IMM = 2,
	UROCE_WQE_SEND_INV = 3,
	UROCE_WQE_WRITE = 4,	       /* + raddr */
	UROCE_WQE_WRITE_IMM = 5,       /* + raddr */
	UROCE_WQE_READ = 6,	       /* + raddr */
	UROCE_WQE_CMP_SWAP = 7,	       /* + raddr, atomic */
	UROCE_WQE_FETCH_ADD = 8,       /* + raddr, atomic */
	UROCE_WQE_MASK_CMP_SWAP = 9,   /* + raddr, masked atomic */
	UROCE_WQE_MASK_FETCH_ADD = 10, /* + raddr, masked atomic */
	UROCE_WQE_BIND_MW = 11,	       /* + bind */
	UROCE_WQE_LOCAL_INV = 12,      /* imm_inv = rkey */
	UROCE_WQE_ATOMIC_WRITE = 13,   /* + raddr; 8 bytes inline */
	UROCE_WQE_FLUSH = 14,	       /* + raddr, flush */
};

#define UROCE_WQE_F_SIGNALED  (1u << 0)
#define UROCE_WQE_F_SOLICITED (1u << 1)
#define UROCE_WQE_F_FENCE     (1u << 2)
#define UROCE_WQE_F_INLINE    (1u << 3) /* one inline segment, no data segments */

struct uroce_wqe_ctrl {
	__u8 opcode; /* enum uroce_wqe_opcode */
	__u8 flags;  /* UROCE_WQE_F_* */
	__u8 ds;     /* length of the whole WQE in 16-byte units, 1..64 */
	__u8 rsv;
	/* Immediate data as it goes on the wire (big-endian bytes), or the
	 * R_Key to invalidate in host order. */
	__u32 imm_inv;
	__u64 wr_id;
};

/* Follows the control segment in every WQE of a UD or XRC_SEND queue pair, including bind
 * and local invalidate (XRC: only srqn, the rest is 0). */
struct uroce_wqe_av {
	__u32 ah;   /* address handle number from the create_ah response */
	__u32 dqpn; /* UD destination QPN */
	__u32 qkey;
	__u32 srqn; /* XRC: remote SRQ number; else 0 */
};

struct uroce_wqe_raddr {
	__u64 addr;
	__u32 rkey;
	__u32 rsv;
};

struct uroce_wqe_atomic {
	__u64 swap_add;
	__u64 compare;
};

struct uroce_wqe_masked_atomic {
	__u64 swap_add;
	__u64 compare;
	__u64 swap_add_mask; /* fetch-add: carry boundary mask */
	__u64 compare_mask;
};

struct uroce_wqe_bind {
	__u64 addr;
	__u64 length;
	__u32 mw_rkey;	/* R_Key of the window before this bind */
	__u32 new_rkey; /* R_Key after it (type 2: consumer's low byte) */
	__u32 mr_lkey;
	__u32 access; /* IBV_ACCESS_* */
};

struct uroce_wqe_flush {
	__u32 type;  /* placement type bits of FETH */
	__u32 level; /* selectivity level of FETH */
	__u64 length;
};

struct uroce_wqe_data {
	__u32 length; /* bytes, up to 2^31 */
	__u32 lkey;
	__u64 addr;
};

/* Followed by byte_count bytes, the segment padded to 16. */
struct uroce_wqe_inline {
	__u32 byte_count;
};

/* ---- receive WQE: fixed stride; header, then num_sge data segments ---- */
struct uroce_recv_wqe {
	__u64 wr_id;
	__u32 num_sge;
	__u32 rsv;
	/* struct uroce_wqe_data sge[num_sge]; */
};

/* ---- CQE, 64 bytes ---- */

/* opcode: enum ibv_wc_opcode if the status is success; otherwise only the side, send (0) or
 * receive (128). */
struct uroce_cqe {
	__u64 wr_id;
	__u32 qpn;
	__u32 src_qp;
	__u32 byte_len;
	__u32 imm_inv; /* as in the WQE */
	/* CLOCK_MONOTONIC_RAW when written; 0: not requested */
	__u64 timestamp_ns;
	__u32 wqe_counter; /* ring index of the completed WQE */
	__u32 srqn;	   /* XRC / SRQ number, or 0 */
	__u32 vendor_err;
	__u16 pkey_index;
	__u8 opcode;
	__u8 status;   /* enum ibv_wc_status */
	__u8 wc_flags; /* IBV_WC_GRH 1, WITH_IMM 2, WITH_INV 8 ... */
	__u8 sl;
	__u8 syndrome; /* AETH syndrome of a NAK, or 0 */
	__u8 mark;     /* for the client; the device writes 0 */
	__u32 rsv0[2];
	__u8 rsv1[3];
	/* Owner (phase) bit: written last [Q1]. The CQE at free-running index i
	 * of a ring of n entries is valid when owner == ((i / n) & 1) ^ 1; a
	 * new ring is zeroed by the device before it is mapped. */
	__u8 owner;
};

#ifdef __cplusplus
}
#endif
#endif
