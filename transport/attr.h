/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The attributes that a port's objects are created with and modified by:
 * congestion control, memory regions, shared receive queues, queue pairs. The
 * functions that take these structures copy them (transport.h).
 */
#ifndef UR_TRANSPORT_ATTR_H
#define UR_TRANSPORT_ATTR_H

#include "transport/work.h"

#define UR_MAX_RD_ATOMIC 128 /* READs and atomics of a QP, each way */

struct ur_mem_ops; /* host.h */
struct ur_srq;

/* ---- congestion control ---- */

/* DCQCN parameters. 0 stands for the default, which is that of deployed
 * adapters (cc_init.c). */
struct ur_cc_config {
	bool enable;	 /* rates are limited */
	bool windowless; /* limits UC and UD even without enable */
	/* bits by service level: send no CNPs, ignore CNPs */
	u8 np_off, rp_off;
	u64 link_bps; /* line rate, bits per second */
	u64 min_rate_bps;
	u64 ai_bps, hai_bps;
	u32 g_1024; /* alpha gain in 1/1024 */
	u64 alpha_period_ns, rate_timer_ns, cnp_interval_ns;
	u64 byte_counter;
	u32 fast_recovery_stages;
	u32 initial_alpha_1024;
	/* rate after a CNP, in percent of the rate before, at least; 0: any */
	u32 min_dec_pct;
	/* a CNP cuts the rate by alpha / 2^(gd - 10) of it; default 11 */
	u32 gd;
	/* rate after a CNP that finds the rate unlimited; 0: cut as usual */
	u64 first_bps;
	/* ignores CNPs this long after one that counted; 0: counts all */
	u64 monitor_ns;
	/* a CNP lowers the target only if the rate rose since the last */
	bool keep_target;
	/* with keep_target: only rises by the byte counter count */
	bool keep_time;
	/* CNPs have this class and service level instead of their
	 * connection's. */
	bool cnp_class;
	u8 cnp_traffic_class, cnp_sl;
};

/* ---- memory regions ---- */

#define UR_ACCESS_LOCAL_WRITE	   (1u << 0) /* enum ibv_access_flags */
#define UR_ACCESS_REMOTE_WRITE	   (1u << 1)
#define UR_ACCESS_REMOTE_READ	   (1u << 2)
#define UR_ACCESS_REMOTE_ATOMIC	   (1u << 3)
#define UR_ACCESS_MW_BIND	   (1u << 4)
#define UR_ACCESS_ZERO_BASED	   (1u << 5)
#define UR_ACCESS_FLUSH_GLOBAL	   (1u << 8)
#define UR_ACCESS_FLUSH_PERSISTENT (1u << 9)

struct ur_mr_attr {
	u32 pd; /* protection domain number */
	u32 access;
	u64 iova; /* address that work requests use for the first byte */
	u64 length;
	u8 *direct; /* plain memory for the whole range, or NULL */
	const struct ur_mem_ops *ops; /* when direct is NULL */
	void *mem;
	bool null_mr; /* reads zeros, swallows writes */
	u32 key;      /* a key that another port assigned; 0: a new one */
	/* Only windows of the same owner are bound to it: others could keep it alive. */
	const void *owner;
};

/* ---- shared receive queues ---- */

struct ur_srq_attr {
	u32 pd;
	u32 limit;
	bool xrc;
	u32 xrcd;     /* domain number when xrc */
	u32 srqn;     /* a number that another table assigned; 0: any */
	void *cq_ctx; /* for completions of an XRC SRQ */
	void *rq_ctx; /* for rq_next, rq_count */
	void *ctx;    /* for srq_event */
};

/* ---- queue pairs ---- */

enum ur_qp_type {
	UR_QPT_RC = 2, /* enum ibv_qp_type */
	UR_QPT_UC = 3,
	UR_QPT_UD = 4,
	UR_QPT_RAW_PACKET = 8,
	UR_QPT_XRC_INI = 9,
	UR_QPT_XRC_TGT = 10,
};

enum ur_qp_state { /* enum ibv_qp_state */
		   UR_QP_RESET,
		   UR_QP_INIT,
		   UR_QP_RTR,
		   UR_QP_RTS,
		   UR_QP_SQD,
		   UR_QP_SQE,
		   UR_QP_ERR,
};

struct ur_qp_init {
	enum ur_qp_type type;
	u32 pd;
	u32 max_send_wr, max_recv_wr;
	u32 max_send_sge, max_recv_sge;
	u32 max_inline;
	bool sq_sig_all;
	struct ur_srq *srq; /* or NULL */
	u32 xrcd;	    /* XRC_TGT */
	void *send_cq_ctx, *recv_cq_ctx;
	void *ctx;    /* for sq_next, sq_retire, qp_event */
	void *rq_ctx; /* for rq_next, rq_count; unused with srq */
	/* Queue pairs of one port in different realms do not reach each other.
	 * 0: every queue pair reaches it. Its address vectors have the same
	 * realm. */
	u32 realm;
	/* The owner; queue pairs of different owners never share a path's
	 * window. */
	u32 owner;
	/* RAW_PACKET: the address vector of its frames, from which the host
	 * knows their sender. A reference is taken. */
	struct ur_av *raw_av;
	/* UD: does not receive what it sends to a group of its own. */
	bool block_self_mcast;
	/* For a host that plays a hostile card. packets: no message to or from
	 * it takes the shortcut inside the port. rest: overwrites the rest of a
	 * receive buffer behind the message. */
	bool packets, rest;
	/* UR_QP_SHOWN zeroed words, the host's for the life of the queue pair;
	 * or NULL, and the queue pair has its own. */
	u64 *shown;
	/* A number that another port or an earlier life of the device assigned; 0: a new one. */
	u32 qpn;
};

/* Attribute mask: enum ibv_qp_attr_mask's values. */
#define UR_QP_ATTR_STATE	       (1u << 0)
#define UR_QP_ATTR_CUR_STATE	       (1u << 1)
#define UR_QP_ATTR_EN_SQD_ASYNC_NOTIFY (1u << 2)
#define UR_QP_ATTR_ACCESS_FLAGS	       (1u << 3)
#define UR_QP_ATTR_PKEY_INDEX	       (1u << 4)
#define UR_QP_ATTR_PORT		       (1u << 5)
#define UR_QP_ATTR_QKEY		       (1u << 6)
#define UR_QP_ATTR_AV		       (1u << 7)
#define UR_QP_ATTR_PATH_MTU	       (1u << 8)
#define UR_QP_ATTR_TIMEOUT	       (1u << 9)
#define UR_QP_ATTR_RETRY_CNT	       (1u << 10)
#define UR_QP_ATTR_RNR_RETRY	       (1u << 11)
#define UR_QP_ATTR_RQ_PSN	       (1u << 12)
#define UR_QP_ATTR_MAX_QP_RD_ATOMIC    (1u << 13)
#define UR_QP_ATTR_ALT_PATH	       (1u << 14)
#define UR_QP_ATTR_MIN_RNR_TIMER       (1u << 15)
#define UR_QP_ATTR_SQ_PSN	       (1u << 16)
#define UR_QP_ATTR_MAX_DEST_RD_ATOMIC  (1u << 17)
#define UR_QP_ATTR_PATH_MIG_STATE      (1u << 18)
#define UR_QP_ATTR_CAP		       (1u << 19)
#define UR_QP_ATTR_DEST_QPN	       (1u << 20)
#define UR_QP_ATTR_RATE_LIMIT	       (1u << 25)

struct ur_qp_attr {
	enum ur_qp_state state, cur_state;
	u32 path_mtu; /* bytes */
	u32 qkey, rq_psn, sq_psn, dest_qpn, access;
	u16 pkey_index;
	u8 port_num;
	u8 max_rd_atomic, max_dest_rd_atomic;
	u8 min_rnr_timer, timeout, retry_cnt, rnr_retry;
	u8 en_sqd_async_notify, sq_draining, path_mig_state;
	u32 rate_limit; /* kilobits per second; 0: none */
	/* with AV: the path's static rate, bits per second; 0: none */
	u64 static_bps;
	struct ur_av *av; /* a reference is taken */
};

#endif
