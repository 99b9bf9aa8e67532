/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine: one thread per device that owns the transport port, the rings,
 * the doorbells, the application memory and the wire.
 *
 * Threads. Every function here is called with the control lock held
 * (device/loop.h), by whichever thread has it, and from no other place; it
 * hands its work to the engine thread and waits when it must. The engine never
 * takes the control lock; what it has to tell goes through ur_loop_post().
 *
 * Results are 0 or -errno as the kernel's verbs give them; outputs change on
 * success only. Objects belong to the engine until their destroy function,
 * which control calls children first (QPs before CQs, SRQs and MRs, all before
 * the context). -EBUSY from a destroy leaves the object as it was.
 */
#ifndef UR_DEVICE_ENGINE_H
#define UR_DEVICE_ENGINE_H

#include "kernel-abi/uroce-abi.h"
#include "transport/frame.h" /* ur_gid_is_v4 and the like */
#include "transport/transport.h"

struct ur_loop;
struct ur_user_mem;
struct ur_engine;
struct ur_ectx;
struct ur_echan;
struct ur_easync;
struct ur_ecq;
struct ur_esrq;
struct ur_eqp;
struct ur_eqp_ref;
struct ur_emr;
struct ur_emw;
struct ur_eah;
struct ur_edm;

/* ---- device ---- */

/* Engine to control: run on the loop thread with the control lock held. */
struct ur_engine_events {
	/* A MAD for QP1. */
	void (*gsi_rx)(void *ctx, const struct ur_rx_meta *meta, u32 src_qpn,
		       const u8 *mad, u32 len);
	/* COMM_EST of a QP (for the connection manager); may be NULL. */
	void (*qp_event)(void *ctx, u32 qpn, enum ur_event ev);
};

struct ur_engine_config {
	const char *netdev;
	u32 ifindex;
	u32 mtu_bytes; /* active MTU of the transport: 256..4096 */
	u32 max_qp, max_mr;
	u64 seed;
	u64 secret[2]; /* see ur_port_config */
	u64 node_guid;
	bool roce_v1; /* RoCEv1 beside v2; needs CAP_NET_RAW */
	struct ur_loop *loop;
	const struct ur_engine_events *events;
	void *ctx; /* of events */
	/* Run-time options, "name=value,..." or NULL (--engine-opt); see
	 * ur_engine_options_check(). */
	const char *options;
};

/* Options in that form: 0, or -EINVAL after saying on stderr which name or value
 * there is not, and what there is. */
int ur_engine_options_check(const char *text);

int ur_engine_create(const struct ur_engine_config *config,
		     struct ur_engine **engine);
/* End the thread: nothing is posted to the loop any more, no other function but
 * destroy may be called. What was posted before still names the engine. */
void ur_engine_stop(struct ur_engine *engine);
/* Stops it where that has not been done; nothing that was posted may be left
 * to run. */
void ur_engine_destroy(struct ur_engine *engine);
/* With objects still there, and nobody who works on them any more: stop, and
 * let go of the wire. The rest ends with the process. */
void ur_engine_abandon(struct ur_engine *engine);

/* Run fn as the engine (on its thread, or here while that sleeps) and return
 * what it returns. */
int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg);

enum ur_gid_type {
	UR_GID_ROCE_V1 = 0,
	UR_GID_ROCE_V2 = 1,
};

/* Entry index of the GID table; gid NULL: the entry is gone. Opens and closes
 * what the wire needs to use that address. -EADDRINUSE: port 4791 of it is
 * taken by somebody else; -EOPNOTSUPP: RoCEv1 and the engine was made without. */
int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type);
/* Would what said -EADDRINUSE of that address say so no more? */
bool ur_engine_gid_free(struct ur_engine *engine, const u8 *gid,
			enum ur_gid_type type);
/* The netdev was made anew; all GIDs must be gone. */
void ur_engine_set_ifindex(struct ur_engine *engine, u32 ifindex);
/* Active MTU: 256..4096 bytes. ur_port_set_mtu() says for whom. */
void ur_engine_set_mtu(struct ur_engine *engine, u32 mtu_bytes);
/* The netdev's link went down: counted (link_downed); the kernel refuses its
 * packets, and the transport's timers and retries do the rest. */
void ur_engine_link_downed(struct ur_engine *engine);
/* Packets of service level 7 were sent without its priority, for which the
 * process has no right. Any thread. */
bool ur_engine_sl_refused(const struct ur_engine *engine);
/* UR_CNT_COUNT values. */
void ur_engine_counters(struct ur_engine *engine, u64 *values);

/*
 * A path as verbs give it, already checked against the GID table. The engine
 * makes the transport's address vector of it (UDP source port, loop, route).
 */
struct ur_epath {
	u8 sgid[16], dgid[16];
	u32 sgid_index;
	u32 flow_label;
	u8 traffic_class;
	u8 hop_limit;
	u8 sl;
	bool v1;
};

/* One 256-byte MAD from QP1 to QP1. */
int ur_engine_gsi_send(struct ur_engine *engine, const struct ur_epath *path,
		       const u8 *mad);

/* ---- user context: one open uverbs file ---- */

struct ur_ectx_info {
	u64 db_map_off;
	u32 db_map_len;
	int wake_fd; /* eventfd; stays the engine's: duplicate or pass it */
};

/*
 * memfd: sparse, sealed SHRINK|GROW, already as large as it will ever be;
 * stays the caller's, open until destroy. Rings are placed in it by the
 * engine. mem: a reference is taken until destroy. realm: of its address handles,
 * as of struct ur_qp_init.
 */
int ur_ectx_create(struct ur_engine *engine, int memfd, struct ur_user_mem *mem,
		   u32 realm, struct ur_ectx **ectx, struct ur_ectx_info *info);
/* What was posted to its queue pairs so far is fetched, and what needs no
 * answer has left: so that their memory may go. */
void ur_ectx_settle(struct ur_ectx *ectx);
struct ur_emapped {
	u32 n;
	u64 ring_bytes, region_bytes;
};

/* What its rings and regions have mapped into this process. */
struct ur_emapped ur_ectx_mapped(const struct ur_ectx *ectx);
/* All objects of the context must be gone. */
void ur_ectx_destroy(struct ur_ectx *ectx);

/* ---- event files: a socket pair; one datagram is one event ---- */

/* *fd: the application's end (stays the engine's, which needs it to purge). */
int ur_echan_create(struct ur_engine *engine, struct ur_echan **chan, int *fd);
void ur_echan_destroy(struct ur_echan *chan); /* no CQ uses it any more */

/* The asynchronous events' file, in the same way. */
int ur_easync_create(struct ur_engine *engine, struct ur_easync **async,
		     int *fd);
void ur_easync_destroy(struct ur_easync *async);
/* An event that belongs to no queue: element = port number, type = enum
 * ibv_event_type. */
void ur_easync_push(struct ur_easync *async, u64 element, u32 type);

/* ---- completion queues ---- */

struct ur_ecq_init {
	u32 entries; /* at least this many; >= 1, checked by the caller */
	u64 user_handle;
	struct ur_echan *chan;	 /* or NULL */
	struct ur_easync *async; /* or NULL */
	u32 flags;		 /* enum ib_uverbs_ex_create_cq_flags */
};

/* resp: where the ring lies, here and for the other queues. -EINVAL: more
 * entries than the device has. */
int ur_ecq_create(struct ur_ectx *ectx, const struct ur_ecq_init *init,
		  struct ur_ecq **cq, struct uroce_create_cq_resp *resp);
/* -EINVAL: fewer than the CQEs outstanding. */
int ur_ecq_resize(struct ur_ecq *cq, u32 entries,
		  struct uroce_resize_cq_resp *resp);
/* Moderation: an event after count CQEs or period microseconds. */
int ur_ecq_modify(struct ur_ecq *cq, u16 count, u16 period_us);
/* Kernel-mediated arm (REQ_NOTIFY_CQ). */
int ur_ecq_arm(struct ur_ecq *cq, bool solicited_only);
/* Unread events are withdrawn; the counts are of those read. -EBUSY: in use. */
int ur_ecq_destroy(struct ur_ecq *cq, u32 *comp_events, u32 *async_events);

/* ---- shared receive queues ---- */

struct ur_esrq_init {
	u32 pd;
	u32 max_wr, max_sge, limit;
	bool xrc;
	u32 xrcd;	   /* when xrc */
	struct ur_ecq *cq; /* when xrc */
	u64 user_handle;
	struct ur_easync *async; /* or NULL */
};

/* -EINVAL: more than the device gives. */
int ur_esrq_create(struct ur_ectx *ectx, const struct ur_esrq_init *init,
		   struct ur_esrq **srq, struct uroce_create_srq_resp *resp);
/* New ring of at least max_wr; the receives not taken move over. */
int ur_esrq_resize(struct ur_esrq *srq, u32 max_wr,
		   struct uroce_create_srq_resp *resp);
/* An event when fewer receives are left, once; 0: none. */
int ur_esrq_set_limit(struct ur_esrq *srq, u32 limit);
void ur_esrq_query(struct ur_esrq *srq, u32 *max_wr, u32 *max_sge, u32 *limit);
/* -EBUSY: queue pairs use it. */
int ur_esrq_destroy(struct ur_esrq *srq, u32 *async_events);

/* ---- queue pairs ---- */

struct ur_eqp_init {
	enum ur_qp_type type;
	u32 pd;
	u32 max_send_wr, max_recv_wr;
	u32 max_send_sge, max_recv_sge;
	u32 max_inline; /* these five are updated to what was given */
	bool sq_sig_all;
	struct ur_ecq *send_cq, *recv_cq; /* NULL: XRC_TGT has none */
	struct ur_esrq *srq;		  /* or NULL */
	u32 xrcd;			  /* XRC_TGT */
	u64 user_handle;
	struct ur_easync *async; /* or NULL */
	u32 create_flags;
	u32 realm; /* as of struct ur_qp_init */
};

/* What the work requests of a send queue that are taken out of its ring need, in
 * KiB; arguments as a client asks for them. */
u32 ur_eqp_kib(u32 max_send_wr, u32 max_send_sge);
/* ectx: for the rings; resp is all zero for a QP without any (XRC_TGT).
 * An XRC_TGT QP may outlive ectx: it keeps nothing of it. */
int ur_eqp_create(struct ur_ectx *ectx, struct ur_eqp_init *init,
		  struct ur_eqp **qp, struct uroce_create_qp_resp *resp);
u32 ur_eqp_number(const struct ur_eqp *qp);
/* mask: UR_QP_ATTR_*. attr->av is ignored; path must be given with
 * UR_QP_ATTR_AV, alt_path with ALT_PATH. */
int ur_eqp_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask);
/* attr->av is NULL; *path as it was set (zero before), *have_path said. */
void ur_eqp_query(struct ur_eqp *qp, struct ur_qp_attr *attr,
		  struct ur_eqp_init *init, struct ur_epath *path,
		  bool *have_path);
/* UR_QP_CNT_COUNT values. */
void ur_eqp_counters(const struct ur_eqp *qp, u64 *values);
/* -EBUSY: multicast groups attached. */
int ur_eqp_destroy(struct ur_eqp *qp, u32 *async_events);
/* Attach to or detach from a group, as ur_mcast_attach() and _detach(). */
int ur_eqp_mcast(struct ur_eqp *qp, const u8 *gid, bool attach);

/* Another opener of an XRC_TGT QP: gets its events too. */
int ur_eqp_open(struct ur_eqp *qp, struct ur_easync *async, u64 user_handle,
		struct ur_eqp_ref **ref);
/* The queue pair stays; async_events: as of a destroy. */
void ur_eqp_close(struct ur_eqp_ref *ref, u32 *async_events);

/* ---- memory ---- */

struct ur_emr_attr {
	u32 pd;
	u32 access; /* enum ib_uverbs_access_flags, checked for form */
	u64 addr;   /* user virtual address of the first byte */
	u64 length;
	u64 iova;
	/* of the process that registers, which need not be the one that made
	 * the context; a reference is taken */
	struct ur_user_mem *mem;
	bool on_demand; /* no touching of pages at registration */
	bool implicit;	/* the whole address space: length = 2^64 - 1 */
	bool null_mr;
	int shm_fd; /* sealed memfd holding the range at shm_off, or -1; stays
		     * the caller's. Refused ones fall back to copying. */
	u64 shm_off;
	int dmabuf_fd; /* mappable dma-buf or memfd, or -1; stays the caller's */
	u64 dmabuf_off;
	struct ur_edm *dm; /* or NULL */
	u64 dm_off;
	bool looked; /* ur_emr_look() has found it */
};

/* -EAGAIN, from both: the memory is not mapped, so look at it first. */
int ur_emr_reg(struct ur_ectx *ectx, const struct ur_emr_attr *attr,
	       struct ur_emr **mr);
/* What is to change, enum ibv_rereg_mr_flags; other fields of attr are ignored. */
#define UR_REREG_TRANS	(1u << 0)
#define UR_REREG_PD	(1u << 1)
#define UR_REREG_ACCESS (1u << 2)
int ur_emr_rereg(struct ur_emr *mr, u32 flags, const struct ur_emr_attr *attr);
/* Is the range there, with the rights that its access needs? 0 or -EFAULT. May take as long as the client's page
 * faults: without the control lock. */
int ur_emr_look(const struct ur_emr_attr *attr);
/* Says in attr where the region's memory is, and whose: for ur_emr_look(). */
void ur_emr_place(const struct ur_emr *mr, struct ur_emr_attr *attr);
/* lkey and rkey. */
u32 ur_emr_key(const struct ur_emr *mr);
/* -EBUSY: windows are bound to it. */
int ur_emr_dereg(struct ur_emr *mr);
/* ADVISE_MR: advice and flags of enum ib_uverbs_advise_mr_advice / _flag. */
int ur_ectx_advise(struct ur_ectx *ectx, u32 pd, u32 advice, u32 flags,
		   const struct ur_sge *sge, u32 num_sge);

/* type: 1 or 2 (enum ibv_mw_type). */
int ur_emw_alloc(struct ur_ectx *ectx, u32 pd, int type, struct ur_emw **mw);
u32 ur_emw_rkey(const struct ur_emw *mw);
int ur_emw_dealloc(struct ur_emw *mw);

/* An address handle of datagrams. -ENETUNREACH and the like: no way there. */
int ur_eah_create(struct ur_ectx *ectx, u32 pd, const struct ur_epath *path,
		  struct ur_eah **ah);
u32 ur_eah_number(const struct ur_eah *ah); /* for uroce_wqe_av */
void ur_eah_destroy(struct ur_eah *ah);

/* Device memory, placed in the context's memfd. -EINVAL: nothing, or aligned to
 * more than a page. */
int ur_edm_alloc(struct ur_ectx *ectx, u64 length, u32 log_align,
		 struct ur_edm **dm, struct uroce_alloc_dm_resp *resp);
int ur_edm_free(struct ur_edm *dm); /* -EBUSY: a region uses it */

#endif
