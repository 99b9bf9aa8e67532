/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The RoCE transport, with no I/O inside.
 *
 * A port is one RoCE device's protocol engine: packets, time and posted work
 * go in; packets, a next deadline and completions come out. It never calls the
 * operating system: the host (device process, simulator, test) gives it the
 * time with every call and memory, queues and completions through the
 * callbacks of struct ur_host_ops. One port belongs to one thread; two ports
 * share nothing. Objects are allocated by the create functions alone, never on
 * the data path.
 *
 * A turn of the host's loop:
 *
 *	for each datagram:   ur_port_rx(port, now, &meta, bth, len);
 *	for each doorbell:   ur_qp_kick(qp);
 *	if (now >= ur_port_deadline(port)) ur_port_expire(port, now);
 *	while (ur_port_tx(port, now, &tx)) { put tx.desc[] on the wire }
 *
 * What goes in and out is in headers of its own: work.h (work requests,
 * completions, address vectors), host.h (what the host provides), counters.h.
 *
 * Functions return 0 or -errno. Pointers that a create function returns belong
 * to the port until the destroy function.
 */
#ifndef UR_TRANSPORT_H
#define UR_TRANSPORT_H

#include "transport/counters.h"
#include "transport/host.h"

typedef u64 ur_time; /* nanoseconds, never going backwards */
#define UR_NEVER UINT64_MAX

#define UR_MAX_MSG_BYTES (1u << 31) /* IBTA volume 1, C9-94 */
#define UR_MAX_RD_ATOMIC 128	    /* READs and atomics of a QP, each way */

struct ur_port;
struct ur_qp;
struct ur_srq;
struct ur_mr;
struct ur_mw;

/* ------------------------------------------------------------------ */
/* The port                                                            */

/* DCQCN parameters; 0 in a field: the default, which is that of deployed
 * adapters (cc.c). */
struct ur_cc_config {
	bool enable;
	u64 link_bps; /* line rate, bits per second */
	u64 min_rate_bps;
	u64 ai_bps, hai_bps;
	u32 g_1024; /* alpha gain in 1/1024 */
	u64 alpha_period_ns, rate_timer_ns, cnp_interval_ns;
	u64 byte_counter;
	u32 fast_recovery_stages;
};

struct ur_port_config {
	u64 seed; /* of every random choice but these: */
	/* Of the numbers of queue pairs, shared receive queues and keys, which
	 * nobody can guess who does not have it. Zero: they count up, from
	 * first_qpn, for tests that name them. */
	u64 secret[2];
	u32 mtu_bytes; /* active MTU: 256, 512, 1024, 2048, 4096 */
	u32 max_qp;    /* table bounds */
	u32 max_mr;
	u32 first_qpn;
	u32 window_pkts; /* packets in flight per QP at first; 0: 128 */
	u64 node_guid;
	struct ur_cc_config cc;
	bool ooo;      /* receiver keeps out-of-order packets */
	bool loop;     /* in-device fast path */
	bool credits;  /* end-to-end credits in AETH */
	bool coalesce; /* acknowledge a batch once */
	bool fast;     /* a short way for the middle of long messages */
	/* Equal packets of one av that the host puts out at the price of one:
	 * at most so many (0: each costs the same), of so many bytes. */
	u32 burst_pkts, burst_bytes;
	const struct ur_host_ops *ops;
	void *ctx;
};

/* NULL: no memory. config is copied; its ops and ctx stay the caller's. */
struct ur_port *ur_port_create(const struct ur_port_config *config);
void ur_port_destroy(struct ur_port *port); /* all objects must be gone */
/* Another active MTU: for datagrams at once, else for queue pairs that are
 * connected from here on. */
void ur_port_set_mtu(struct ur_port *port, u32 mtu_bytes);

/*
 * A datagram has arrived: bth points at the BTH, len counts up to and without
 * the ICRC, which the caller has verified. Payload is consumed before return.
 */
void ur_port_rx(struct ur_port *port, ur_time now,
		const struct ur_rx_meta *meta, const u8 *bth, u32 len);

struct ur_tx_desc {
	u32 off; /* of the BTH in buf */
	u32 len; /* BTH .. pad, without the 4 ICRC bytes that follow it */
	const struct ur_av *av;
};

/* Space for packets: back to back, each followed by 4 bytes for its ICRC, so
 * that equal-sized neighbours of one av can leave as one segmented datagram. */
struct ur_tx {
	u8 *buf;
	u32 cap, used;
	struct ur_tx_desc *desc;
	u32 max_desc, n_desc;
	/* The transport's: packets of the unfinished burst at the end. */
	u32 burst;
};

/*
 * Run the active queue pairs: take posted work, execute what stays inside the
 * device, and fill tx (which the caller has reset to used = n_desc = 0) with
 * packets. av pointers hold until the next call into the port.
 * Returns true when there is more to do at once.
 */
bool ur_port_tx(struct ur_port *port, ur_time now, struct ur_tx *tx);
/*
 * The same for one queue pair alone, in its turn or not. For a host that is
 * about to change or destroy it: an adapter has fetched what was posted before
 * that, and what needs no answer has left.
 */
bool ur_port_tx_qp(struct ur_qp *qp, ur_time now, struct ur_tx *tx);

/* When ur_port_expire() wants to run: a time, perhaps past, or UR_NEVER. */
ur_time ur_port_deadline(const struct ur_port *port);
/* What is due by now happens: repetitions, errors, rates. */
void ur_port_expire(struct ur_port *port, ur_time now);

/* Queue one UD SEND_ONLY from QP1 to dqpn 1 (Q_Key 0x80010000). mad has 256
 * bytes. -ENOMEM when the queue is full. Takes a reference of av. */
int ur_gsi_send(struct ur_port *port, struct ur_av *av, const u8 *mad);

/* ------------------------------------------------------------------ */
/* Memory regions and windows                                          */

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
};

/* 0, -EINVAL: remote stores without local write, a range that wraps, no memory
 * in attr; -ENOMEM, also when there are max_mr. attr is copied; what direct or
 * ops and mem name must last until destroy or another rereg. */
int ur_mr_create(struct ur_port *port, const struct ur_mr_attr *attr,
		 struct ur_mr **mr);
/* Change pd, access, translation (whatever differs in attr); key stays. 0,
 * -EINVAL as above, -EBUSY while windows are bound. */
int ur_mr_rereg(struct ur_mr *mr, const struct ur_mr_attr *attr);
int ur_mr_destroy(struct ur_mr *mr);   /* -EBUSY while windows are bound */
u32 ur_mr_key(const struct ur_mr *mr); /* lkey == rkey */
/* 'mem' of the attributes of the region with that key; NULL: there is none. */
void *ur_mr_find(struct ur_port *port, u32 key);

/* type 1 or 2, else -EINVAL; -ENOMEM as of a region. */
int ur_mw_create(struct ur_port *port, u32 pd, int type, struct ur_mw **mw);
/* Bound or not. */
void ur_mw_destroy(struct ur_mw *mw);
/* Of a type 2 window that is bound: with the low byte of its bind. */
u32 ur_mw_rkey(const struct ur_mw *mw);

/* ------------------------------------------------------------------ */
/* Shared receive queues                                               */

struct ur_srq_attr {
	u32 pd;
	u32 limit;
	bool xrc;
	u32 xrcd;     /* domain number when xrc */
	void *cq_ctx; /* completions of an XRC SRQ */
	void *rq_ctx; /* for rq_next, rq_count */
	void *ctx;    /* for srq_event */
};

/* 0 or -ENOMEM. attr is copied. */
int ur_srq_create(struct ur_port *port, const struct ur_srq_attr *attr,
		  struct ur_srq **srq);
int ur_srq_destroy(struct ur_srq *srq); /* -EBUSY while QPs use it */
/* srq_event comes once when fewer receives are left; 0: never. */
void ur_srq_set_limit(struct ur_srq *srq, u32 limit);
/* As set; 0 after its event. */
u32 ur_srq_limit(const struct ur_srq *srq);
/* What XRC packets name it by. */
u32 ur_srq_number(const struct ur_srq *srq);
/* rq_ctx was asked to be kicked, and a receive has been posted. */
void ur_srq_kick(struct ur_srq *srq);

/* ------------------------------------------------------------------ */
/* Queue pairs                                                         */

enum ur_qp_type {
	UR_QPT_RC = 2, /* enum ibv_qp_type */
	UR_QPT_UC = 3,
	UR_QPT_UD = 4,
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
	 * 0: every one reaches it. Its address vectors are in the same. */
	u32 realm;
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
	struct ur_av *av; /* a reference is taken */
};

/* In RESET. 0, -EINVAL: a type or list length there is not; -ENOMEM, also when
 * there are max_qp. init is copied. */
int ur_qp_create(struct ur_port *port, const struct ur_qp_init *init,
		 struct ur_qp **qp);
/* Outstanding work is dropped without completions. */
void ur_qp_destroy(struct ur_qp *qp);
/*
 * The whole modify table: which attributes are required and allowed for each
 * transition and type. 0, or -EINVAL with nothing changed.
 */
int ur_qp_modify(struct ur_qp *qp, ur_time now, const struct ur_qp_attr *attr,
		 u32 mask);
/* attr->av is the queue pair's: no reference is given. */
void ur_qp_query(const struct ur_qp *qp, struct ur_qp_attr *attr);
/* The QPN that packets carry. */
u32 ur_qp_number(const struct ur_qp *qp);
/* Work has been posted to the send queue. */
void ur_qp_kick(struct ur_qp *qp);
/* A receive has been posted after rq_want_kick(true). */
void ur_qp_rq_kick(struct ur_qp *qp);
/* NULL: there is none. */
struct ur_qp *ur_qp_lookup(struct ur_port *port, u32 qpn);

/* What a port has of groups, and a group of members. */
#define UR_MCAST_GROUPS_MAX  8192
#define UR_MCAST_MEMBERS_MAX 56

/* UD multicast membership. -EINVAL not UD or not a multicast GID, -ENOMEM, also
 * when there are as many as there may be; detach: -EINVAL when not attached.
 * ur_qp_attached: for destroy's EBUSY. */
int ur_mcast_attach(struct ur_qp *qp, const u8 gid[16]);
int ur_mcast_detach(struct ur_qp *qp, const u8 gid[16]);
u32 ur_qp_attached(const struct ur_qp *qp);

/* ------------------------------------------------------------------ */
/* Counters                                                            */

/* UR_CNT_COUNT values, live; any thread may read them torn-free (u64). */
const u64 *ur_port_counters(const struct ur_port *port);
/* UR_QP_CNT_COUNT values, live, as those of the port. */
const u64 *ur_qp_counters(const struct ur_qp *qp);
/* For the backend's own verdicts (bad ICRC: rx_icrc_encapsulated). */
void ur_port_count(struct ur_port *port, enum ur_counter c, u64 n);

#endif
