/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
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
 * Functions return 0 or -errno. Pointers that a create function returns belong
 * to the port until the destroy function.
 */
#ifndef UR_TRANSPORT_H
#define UR_TRANSPORT_H

#include "util/bytes.h"

typedef u64 ur_time; /* nanoseconds, never going backwards */
#define UR_NEVER UINT64_MAX

struct ur_port;
struct ur_qp;
struct ur_srq;
struct ur_mr;
struct ur_mw;

/* ------------------------------------------------------------------ */
/* Work and completions                                                */

#define UR_MAX_SGE 32

/* The same numbers as enum uroce_wqe_opcode. */
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

/*
 * Address vector: where a packet goes. Filled by the host; the transport keeps
 * the pointer and counts references with ur_av_get/put.
 */
struct ur_av {
	u8 sgid[16], dgid[16]; /* ::ffff:a.b.c.d for IPv4 */
	u32 sgid_index;
	u32 flow_label;	  /* 20 bits */
	u16 udp_sport;	  /* RoCEv2 source port, 0xC000..0xFFFF */
	u8 traffic_class; /* whole ToS / TC byte, ECN bits included */
	u8 hop_limit;
	u8 sl;
	bool v4;   /* both GIDs are IPv4-mapped */
	bool v1;   /* RoCEv1 (GID type), Ethernet only */
	bool loop; /* dgid is one of this port's own: packets come back */
	bool mcast;
	u8 dmac[6];
	u32 refs;
	u64 wire; /* for the wire backend: its cached route; 0 = none */
	void (*free)(
		struct ur_av *av); /* called when the last reference goes */
};

static inline struct ur_av *ur_av_get(struct ur_av *av)
{
	av->refs++;
	return av;
}

static inline void ur_av_put(struct ur_av *av)
{
	if (av && --av->refs == 0)
		av->free(av);
}

/* One send work request, copied out of the ring and checked by the host for
 * form (opcode, counts), not for keys and ranges. */
struct ur_send_wr {
	u64 wr_id;
	u32 wqe_counter; /* ring index of the WQE, echoed in the completion */
	u32 ring_end;	 /* consumer index once this one is retired */
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
	 * until the WQE is retired. Bytes may change under the reader (only the
	 * client's own data suffers); lengths are fixed here. */
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
	u8 sl;
	u8 syndrome;
	bool recv;	/* of the receive side */
	bool solicited; /* an ARM_SOLICITED queue wakes (also for errors) */
};

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

enum ur_event { /* enum ibv_event_type */
		UR_EVENT_CQ_ERR = 0,
		UR_EVENT_QP_FATAL = 1,
		UR_EVENT_QP_REQ_ERR = 2,
		UR_EVENT_QP_ACCESS_ERR = 3,
		UR_EVENT_COMM_EST = 4,
		UR_EVENT_SQ_DRAINED = 5,
		UR_EVENT_SRQ_ERR = 14,
		UR_EVENT_SRQ_LIMIT_REACHED = 15,
		UR_EVENT_QP_LAST_WQE_REACHED = 16,
};

/* ------------------------------------------------------------------ */
/* The host                                                            */

/* Memory of one region behind an MR. Offsets count from the region's start and
 * are already bounds-checked by the transport. */
struct ur_mem_ops {
	/* Copy to or from the application. 0 or -EFAULT. */
	int (*read)(void *mem, u64 off, void *dst, u32 len);
	int (*write)(void *mem, u64 off, const void *src, u32 len);
	/* Atomically (towards every access through this device) apply
	 * new = f(old) to the aligned 8 bytes at off: with compare_mask != 0
	 * masked compare and swap, else masked fetch and add. old is returned
	 * in *old. 0 or -EFAULT. */
	int (*cas)(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
		   u64 swap_mask, u64 *old);
	int (*faa)(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old);
	/* FLUSH: make the range persistent/visible. 0 or -errno. */
	int (*flush)(void *mem, u64 off, u64 len, u32 type);
};

struct ur_rx_meta {
	u8 saddr[16], daddr[16]; /* as GIDs */
	bool v4;
	bool v1; /* came as RoCEv1 */
	u8 tos; /* ToS / traffic class byte; ECN in the low two bits */
	u8 ttl;
	u8 sl;
	u16 udp_sport;
	u32 flow_label;
};

struct ur_host_ops {
	/* Next send WQE of a queue pair: 1 and *wr filled, 0 none posted,
	 * -EINVAL: the ring is corrupt (the QP goes to error). */
	int (*sq_next)(void *qp_ctx, struct ur_send_wr *wr);
	/* WQEs up to ring index ring_end are done; the client may reuse them. */
	void (*sq_retire)(void *qp_ctx, u32 ring_end);
	/* Next receive WQE of an RQ or SRQ: as sq_next. */
	int (*rq_next)(void *rq_ctx, struct ur_recv_wr *wr);
	/* Receives posted and not taken yet (for credits and SRQ limit). */
	u32 (*rq_count)(void *rq_ctx);
	/* A queue pair wants ur_rq_kick() after the next receive post. */
	void (*rq_want_kick)(void *rq_ctx, bool on);
	/* Deliver a completion. -ENOSPC: the queue is full; the host has
	 * raised CQ_ERR and the QP goes to error. */
	int (*cq_push)(void *cq_ctx, const struct ur_wc *wc);
	/* Asynchronous event of a QP or SRQ (ctx of its create). */
	void (*qp_event)(void *qp_ctx, enum ur_event ev);
	void (*srq_event)(void *srq_ctx, enum ur_event ev);
	/* A datagram for QP1: a 256-byte MAD. May be NULL. */
	void (*gsi_rx)(void *port_ctx, const struct ur_rx_meta *meta,
		       u32 src_qpn, const u8 *mad, u32 len);
	/* A trace point (trace.h). May be NULL. */
	void (*trace)(void *port_ctx, u32 id, u32 qpn, u64 a, u64 b);
};

/* DCQCN parameters (facts: deployed defaults); 0 in a field = its default. */
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
	u64 seed;      /* of every random choice */
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
	const struct ur_host_ops *ops;
	void *ctx;
};

struct ur_port *ur_port_create(const struct ur_port_config *config);
void ur_port_destroy(struct ur_port *port); /* all objects must be gone */
void ur_port_set_mtu(struct ur_port *port, u32 mtu_bytes);

/*
 * A datagram has arrived: bth points at the BTH, len counts up to and without
 * the ICRC, which the caller has verified. Payload is consumed before return.
 */
void ur_port_rx(struct ur_port *port, ur_time now,
		const struct ur_rx_meta *meta, const u8 *bth, u32 len);
/* The end of a batch of ur_port_rx calls: coalesced acknowledgements are due. */
void ur_port_rx_end(struct ur_port *port, ur_time now);

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
};

/*
 * Run the active queue pairs: take posted work, execute what stays inside the
 * device, and fill tx (which the caller has reset to used = n_desc = 0) with
 * packets. av pointers hold until the next call into the port.
 * Returns true when there is more to do at once.
 */
bool ur_port_tx(struct ur_port *port, ur_time now, struct ur_tx *tx);

ur_time ur_port_deadline(const struct ur_port *port);
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

int ur_mr_create(struct ur_port *port, const struct ur_mr_attr *attr,
		 struct ur_mr **mr);
/* Change pd, access, translation (whatever differs in attr); key stays. */
int ur_mr_rereg(struct ur_mr *mr, const struct ur_mr_attr *attr);
int ur_mr_destroy(struct ur_mr *mr);   /* -EBUSY while windows are bound */
u32 ur_mr_key(const struct ur_mr *mr); /* lkey == rkey */

/* type 1 or 2. */
int ur_mw_create(struct ur_port *port, u32 pd, int type, struct ur_mw **mw);
void ur_mw_destroy(struct ur_mw *mw);
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

int ur_srq_create(struct ur_port *port, const struct ur_srq_attr *attr,
		  struct ur_srq **srq);
int ur_srq_destroy(struct ur_srq *srq); /* -EBUSY while QPs use it */
void ur_srq_set_limit(struct ur_srq *srq, u32 limit);
u32 ur_srq_limit(const struct ur_srq *srq);
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
void ur_qp_query(const struct ur_qp *qp, struct ur_qp_attr *attr);
u32 ur_qp_number(const struct ur_qp *qp);
/* Work has been posted to the send queue. */
void ur_qp_kick(struct ur_qp *qp);
/* A receive has been posted after rq_want_kick(true). */
void ur_qp_rq_kick(struct ur_qp *qp);
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
/*
 * Counters: the names programs know (rxe's, then mlx5's). Of recovery:
 *
 * requester  packet_seq_err, rcvd_seq_err   sequence NAKs received
 *            implied_nak_seq_err            an answer was missing before another
 *            local_ack_timeout_err          the timeout of the attributes
 *            roce_adp_retrans               an early probe
 *            completer_retry_err            something was sent again, for any of
 *                                           these reasons
 *            rcvd_rnr_err, rnr_nak_retry_err  RNR NAKs; those that led to a wait
 * responder  out_of_sequence                packets beyond a gap
 *            out_of_seq_request             sequence NAKs sent
 *            duplicate_request              packets that had arrived before
 *            send_rnr_err, out_of_buffer    RNR NAKs sent
 */

#define UR_COUNTERS(X)                                                                                      \
	X(sent_pkts)                                                                                        \
	X(rcvd_pkts)                                                                                        \
	X(duplicate_request)                                                                                \
	X(out_of_seq_request) X(rcvd_rnr_err) X(send_rnr_err) X(rcvd_seq_err) X(                            \
		ack_deferred) X(retry_exceeded_err) X(retry_rnr_exceeded_err) X(completer_retry_err)        \
		X(send_err) X(link_downed) X(rdma_sends) X(rdma_recvs) X(rx_write_requests) X(              \
			rx_read_requests) X(rx_atomic_requests) X(out_of_buffer) X(out_of_sequence)         \
			X(rnr_nak_retry_err) X(packet_seq_err) X(implied_nak_seq_err) X(                    \
				local_ack_timeout_err) X(roce_adp_retrans) X(rp_cnp_handled)                \
				X(rp_cnp_ignored) X(np_cnp_sent) X(np_ecn_marked_roce_packets) X(           \
					resp_local_length_error) X(resp_cqe_error) X(req_cqe_error)         \
					X(req_remote_invalid_request) X(req_remote_access_errors) X(        \
						resp_remote_access_errors) X(resp_cqe_flush_error)          \
						X(req_cqe_flush_error) X(req_transport_retries_exceeded) X( \
							req_rnr_retries_exceeded) X(rx_icrc_encapsulated)   \
							X(port_xmit_data) X(port_rcv_data) X(               \
								bad_opcode) X(bad_length)                   \
								X(bad_pkey) X(bad_qkey) X(                  \
									bad_qpn) X(bad_gid)                 \
									X(bad_state) X(                     \
										loop_msgs)                  \
										X(loop_bytes)

enum ur_counter {
#define X(name) UR_CNT_##name,
	UR_COUNTERS(X)
#undef X
		UR_CNT_COUNT
};

/* UR_CNT_COUNT values, live; any thread may read them torn-free (u64). */
const u64 *ur_port_counters(const struct ur_port *port);
/*
 * Of one queue pair. Bytes are from BTH to pad, as port_*_data has them; what
 * queue pairs of one device send each other is counted on both as loop_*.
 */
#define UR_QP_COUNTERS(X)                                                   \
	X(sent_pkts)                                                        \
	X(sent_bytes) X(rcvd_pkts) X(rcvd_bytes) X(loop_msgs) X(loop_bytes) \
		X(resent_pkts) X(retries) X(timeouts) X(rnr_waits)          \
			X(out_of_sequence) X(duplicates)

enum ur_qp_counter {
#define X(name) UR_QP_CNT_##name,
	UR_QP_COUNTERS(X)
#undef X
		UR_QP_CNT_COUNT
};

/* UR_QP_CNT_COUNT values, live, as those of the port. */
const u64 *ur_qp_counters(const struct ur_qp *qp);
/* For the backend's own verdicts (bad ICRC: rx_icrc_encapsulated). */
void ur_port_count(struct ur_port *port, enum ur_counter c, u64 n);

#endif
