/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engine processes. uroce-engine runs the engines of other processes of one user. It loads
 * liburoce-engine.so, and offers that library's interface (uroce-engine.h) to a program
 * over a socket: each function call is a message of fixed size, and so is its reply. Rings
 * and doorbells lie in memory that both map, so posting and polling need no message.
 *
 * uroced makes the socket pair. It gives one end to the program
 * (UROCE_METHOD_ENGINE_APART), and the other end to the engine process, with the engine's
 * slot and access to the program's memory. The engine process trusts nothing from a
 * program: a program can break its own context only.
 */
#ifndef UROCE_APART_H
#define UROCE_APART_H

#include "kernel-abi/uroce-engine.h"

#define UROCE_APART_PROGRAM "uroce-engine"
/* The engine process's descriptor of the socket from which it receives contexts. */
#define UROCE_APART_FD 3

/* ---- from uroced: a context ---- */

#define UROCE_APART_VERSION 4

/* Descriptors that come with a context, in this order; has tells which are present. */
enum uroce_apart_fd {
	UROCE_APART_SOCKET, /* the program has the other end */
	UROCE_APART_MEM,
	UROCE_APART_MAPS,
	UROCE_APART_LOCAL, /* from here on those of struct uroce_engine_open */
	UROCE_APART_OUT6,
	UROCE_APART_OUT4,
	UROCE_APART_COUNT,
	UROCE_APART_SETTINGS,
	UROCE_APART_RECORD,
	UROCE_APART_RELAY,
	UROCE_APART_RELAY_WORDS,
	UROCE_APART_OUTBOX,
	UROCE_APART_WAKE,
	UROCE_APART_BELL,
	UROCE_APART_ASYNC_TX, /* of a shared engine: those of set_async() */
	UROCE_APART_ASYNC_RX,
	UROCE_APART_LIVENESS,
	UROCE_APART_LISTED, /* see struct uroce_apart_context */
	UROCE_APART_V1, /* the first of UROCE_V1_FDS, on a device with RoCEv1 */
	UROCE_APART_FDS = UROCE_APART_V1 + UROCE_V1_FDS
};

/* A message without descriptors reports that no more contexts come for the shared engine. */
struct uroce_apart_context {
	__u32 version;
	__u32 has; /* a bit for each descriptor */
	__s32 pid;
	/* 0: the context has an engine of its own. Otherwise the number of a shared engine,
	 * which its first context creates. */
	__u32 engine;
	__u64 ring_bytes, object_bytes;
	__u32 adverse; /* UROCE_ADVERSE_* */
	__u32 adverse_seed;
	__u32 realm; /* if users are isolated; else 0 */
	/* Number of regions in the file UROCE_APART_LISTED, each a struct uroce_emr_init.
	 * The context begins with them. Its program claims each by REG_MR with the key, and
	 * CLAIMED ends the others. */
	__u32 listed;
	/* Contexts of a shared engine with the same number have the same protection domains. */
	__u64 file;
	struct uroce_engine_open open; /* its descriptors are ignored */
};

/* ---- from the program, and back ---- */

enum uroce_apart_op {
	/* the reply carries the file of rings and the wake-up eventfd */
	UROCE_APART_BEGIN = 1,
	UROCE_APART_HAS_GID,
	UROCE_APART_USE_GID, /* with a socket, or none */
	UROCE_APART_HAS_RING,
	UROCE_APART_USE_RING,  /* with words, out, in */
	UROCE_APART_SET_ASYNC, /* with tx, rx, liveness */
	UROCE_APART_CREATE_CQ, /* with tx, rx if the channel is new */
	UROCE_APART_MODIFY_CQ,
	UROCE_APART_RESIZE_CQ,
	/* the reply may carry a sending end: left_sender() */
	UROCE_APART_DESTROY_CQ,
	UROCE_APART_CREATE_SRQ, /* value: the CQ of an XRC SRQ */
	UROCE_APART_RESIZE_SRQ,
	UROCE_APART_LIMIT_SRQ,
	UROCE_APART_QUERY_SRQ,
	UROCE_APART_DESTROY_SRQ,
	UROCE_APART_CREATE_AH,
	UROCE_APART_DESTROY_AH,
	UROCE_APART_CREATE_QP,
	UROCE_APART_OPEN_QP,
	UROCE_APART_MAY_MODIFY_QP,
	UROCE_APART_MODIFY_QP,
	UROCE_APART_QUERY_QP,
	UROCE_APART_MCAST,
	UROCE_APART_DESTROY_QP,
	UROCE_APART_REG_MR, /* with the file of UROCE_EMR_FILE */
	UROCE_APART_REREG_MR,
	UROCE_APART_DEREG_MR,
	UROCE_APART_ALLOC_MW,
	UROCE_APART_DEALLOC_MW,
	UROCE_APART_CLAIMED,
	UROCE_APART_SET_PARENT, /* with mem; value: the process */
	UROCE_APART_HAS_RAW,
	UROCE_APART_USE_RAW, /* with the receiving socket and the sending one */
	UROCE_APART_MODIFY_WQ, /* value: enum ibv_wq_state */
	UROCE_APART_CREATE_FLOW,
	UROCE_APART_READ_FLOW,	  /* the reply has what the rule has counted */
	UROCE_APART_DESTROY_FLOW, /* the reply too */
	UROCE_APART_DRAIN,
	UROCE_APART_OPS
};

/* Maximum number of descriptors of a message. */
#define UROCE_APART_MSG_FDS 3
/* Maximum number of work queues that a queue pair spreads frames over. */
#define UROCE_APART_WQS 256

struct uroce_apart_gid {
	__u8 gid[16];
	__u32 index; /* MCAST: 1 attaches, 0 detaches */
	__u32 rsv;
};

struct uroce_apart_cq {
	__u32 entries;
	__u32 flags; /* UROCE_ECQ_* */
	__u64 user_handle;
	__u64 channel; /* a number chosen by the program; 0: none */
};

/* n_wqs: number of work queues that a queue pair spreads frames over; 0: it does not. Their object
 * numbers, each a __u32, follow the message. */
struct uroce_apart_qp {
	struct uroce_eqp_init init;  /* its pointers are ignored */
	__u32 send_cq, recv_cq, srq; /* object numbers; 0: none */
	__u32 n_wqs;
	__u8 rss_key[UROCE_RX_HASH_KEY_BYTES];
	__u32 rss_fields; /* enum ibv_rx_hash_fields */
	__u32 rsv;
};

struct uroce_apart_modify {
	struct uroce_engine_qp attr;
	__u32 mask;
	__u32 rsv;
};

struct uroce_apart_ah {
	struct uroce_engine_path path;
	__u32 pdn;
};

struct uroce_apart_mr {
	struct uroce_emr_init init;
	__u32 flags;
	__u32 rsv;
};

struct uroce_apart_mw {
	__u32 pdn, type, rkey;
	__u32 rsv;
};

struct uroce_apart_begun {
	__u64 db_map_off;
	__u32 db_map_len;
	__u32 rsv;
};

struct uroce_apart_msg {
	__u32 op;
	__s32 ret; /* of a reply: result of the function */
	/* names an object of this context; in a reply: the new object */
	__u32 number;
	__u32 value; /* an argument, or a result */
	union {
		struct uroce_apart_gid gid;
		struct uroce_engine_ring ring;
		struct uroce_apart_cq cq;
		struct uroce_esrq_init srq;
		struct uroce_apart_ah ah;
		struct uroce_apart_qp qp;
		struct uroce_apart_modify modify;
		struct uroce_apart_mr mr;
		struct uroce_apart_mw mw;
		struct uroce_engine_flow flow;
		/* replies */
		struct uroce_apart_begun begun;
		struct uroce_create_cq_resp new_cq;
		struct uroce_resize_cq_resp new_ring;
		struct uroce_create_srq_resp new_srq;
		struct uroce_create_qp_resp new_qp;
		struct uroce_engine_qp now;
		__u32 read[2];
		struct uroce_eflow_counts counts;
		__u8 room[192];
	};
};

#endif
