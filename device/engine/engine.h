/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine: the thread that owns the transport port, the rings, the
 * doorbells, the application memory and the wire. A device may have several:
 * control knows them as one, and each context belongs to one of them, with all
 * that is made in it (shards.h).
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

#include <sys/types.h>
#include "kernel-abi/uroce-abi.h"
#include "transport/frame.h" /* ur_gid_is_v4 and the like */
#include "transport/transport.h"
#include "device/engine/raw.h"

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
struct ur_efault;
struct ur_fault_rule;
struct ur_recorder;

/* ---- device ---- */

/* Engine to control: run on the loop thread with the control lock held. */
struct ur_engine_events {
	/* A MAD for QP1. */
	void (*gsi_rx)(void *ctx, const struct ur_rx_meta *meta, u32 src_qpn,
		       const u8 *mad, u32 len);
	/* COMM_EST of a QP (for the connection manager); may be NULL. */
	void (*qp_event)(void *ctx, u32 qpn, enum ur_event ev);
	/* The engine has woken, which ur_engine_tell_waking() asked for; may be
	 * NULL. */
	void (*woken)(void *ctx);
	/* A work request of a queue pair has failed, while that is recorded; not
	 * each, where there are many. May be NULL. */
	void (*failed)(void *ctx, u32 qpn);
};

#define UR_ENGINES_MAX (1u << UR_SHARD_BITS_MAX)
/* Which of them has all raw packet queue pairs: their rules are of the whole
 * device. */
#define UR_SHARD_RAW 0u

struct ur_engine_config {
	const char *netdev;
	u32 ifindex;
	/* Threads, 1 to UR_ENGINES_MAX; 0 is 1. */
	u32 engines;
	u32 mtu_bytes; /* active MTU of the transport: 256..4096 */
	u32 max_qp, max_mr;
	u64 seed;
	u64 secret[2]; /* see ur_port_config */
	u64 node_guid;
	bool roce_v1;  /* RoCEv1 beside v2; needs CAP_NET_RAW */
	bool one_path; /* the netdev has another of this host at its end */
	/* Raw packet queue pairs: the netdev is Ethernet, and there is
	 * CAP_NET_RAW. */
	bool raw_packet;
	struct ur_loop *loop;
	const struct ur_engine_events *events;
	void *ctx; /* of events */
	/* Run-time options, "name=value,..." or NULL (--engine-opt); see
	 * ur_engine_options_check(). */
	const char *options;
};

/* Checks options in that form. Returns 0, or -EINVAL after a line on stderr
 * that says which name or value is wrong, and which there are. */
int ur_engine_options_check(const char *text);

/* Remembers which processes have UDP port 4791 now, for the message of a device
 * that cannot: once, while we still may look at others' descriptors. */
void ur_engine_note_owners(void);

/* Makes the engine in *engine and starts its thread. config is copied; what it
 * points to (loop, events, ctx) must outlive the engine. Returns 0 or
 * -errno. */
int ur_engine_create(const struct ur_engine_config *config,
		     struct ur_engine **engine);
/* Ends the thread. It posts nothing to the loop any more, but what it posted
 * before still names the engine. Afterwards only ur_engine_destroy() may be
 * called. */
void ur_engine_stop(struct ur_engine *engine);
/* Frees the engine, which it stops first if it runs. Nothing that the engine
 * posted to the loop may be left to run. */
void ur_engine_destroy(struct ur_engine *engine);
/* Stops the engine and closes its wire while there are objects that nobody
 * works on any more. Their memory ends with the process. */
void ur_engine_abandon(struct ur_engine *engine);

/* Returns how many engines the device has. Any thread. */
u32 ur_engine_count(const struct ur_engine *engine);

/* Returns when the engine has heard of it: it does not hang. */
void ur_engine_sync(struct ur_engine *engine);

enum ur_gid_type {
	UR_GID_ROCE_V1 = 0,
	UR_GID_ROCE_V2 = 1,
};

/* Sets entry index of the GID table, or empties it where gid is NULL. Opens and
 * closes what the wire needs to use that address. Returns 0, -EADDRINUSE
 * (somebody else has port 4791 of that address), -EOPNOTSUPP (RoCEv1, and the
 * engine was made without), or another -errno of the wire. */
int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type);
/* Returns whether an address that ur_engine_set_gid() refused with -EADDRINUSE
 * is free now. */
bool ur_engine_gid_free(struct ur_engine *engine, const u8 *gid,
			enum ur_gid_type type);
/* The netdev was made anew and has another index. All GIDs must be gone. */
void ur_engine_set_ifindex(struct ur_engine *engine, u32 ifindex);
/* Sets the active MTU, 256 to 4096 bytes. ur_port_set_mtu() says for whom. */
void ur_engine_set_mtu(struct ur_engine *engine, u32 mtu_bytes);
/* Sets congestion control, for live queue pairs too, but that only those which
 * are connected from now on can be limited. ecn: packets that ask for no ECN are
 * ECT(0); an address vector has what held when it was made. */
void ur_engine_set_cc(struct ur_engine *engine, const struct ur_cc_config *cc,
		      bool ecn);
/* Returns whether the options of the engine ask for DCQCN. */
bool ur_engine_cc(const struct ur_engine *engine);
/* Counts that the netdev's link went down (link_downed). The kernel refuses its
 * packets, and the transport's timers and retries do the rest. */
void ur_engine_link_downed(struct ur_engine *engine);
/* Returns whether packets of service level 7 were sent without its priority,
 * since the process has no right to it. Any thread. */
bool ur_engine_sl_refused(const struct ur_engine *engine);
/* Fills values with the UR_CNT_COUNT counters of the port. */
void ur_engine_counters(struct ur_engine *engine, u64 *values);
/* Asks for the event woken, once, when the engine wakes or is called the next
 * time. It may miss a wake that is on its way already. */
void ur_engine_tell_waking(struct ur_engine *engine);
/* Returns whether the engine sleeps. */
bool ur_engine_asleep(struct ur_engine *engine);

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
	u8 static_rate; /* enum ibv_rate: of connected queue pairs; 0: none */
	bool v1;
};

/* Sends a MAD of 256 bytes, which is copied, from QP1 to the queue
 * pair dqpn of the path's destination. Returns 0, -ENOMEM (too many wait), or -errno where there is no way. */
int ur_engine_gsi_send(struct ur_engine *engine, const struct ur_epath *path,
		       u32 dqpn, const u8 *mad);

/* ---- faults on request: device/fault_rule.h ---- */

/* Puts a rule in force, which is copied, in *fault. Returns 0 or -ENOMEM. */
int ur_engine_fault_add(struct ur_engine *engine,
			const struct ur_fault_rule *rule,
			struct ur_efault **fault);
/* Ends it, and frees *fault. Packets that it holds back still leave. */
void ur_engine_fault_del(struct ur_engine *engine, struct ur_efault *fault);
/* Fills what the rule has met, and on how much of it it acted. */
void ur_efault_counts(const struct ur_efault *fault, u64 *matched, u64 *done);

/* ---- the flight recorder: device/recorder.h ---- */

/* Makes the engine write to rec, or to nothing where it is NULL. It is the
 * caller's, and the engine's alone to write to until the next call. */
void ur_engine_record(struct ur_engine *engine, struct ur_recorder *rec);
/* Records an event of rdma_cm that a program is told: of which queue pair (0:
 * none yet), whose, enum rdma_cm_event_type, its status. */
void ur_engine_record_cm(struct ur_engine *engine, u32 qpn, uid_t uid,
			 pid_t pid, u32 event, int status);

/* ---- user context: one open uverbs file ---- */

struct ur_ectx_info {
	u64 db_map_off;
	u32 db_map_len;
	int wake_fd; /* eventfd; stays the engine's: duplicate or pass it */
};

/*
 * Makes the engine's part of an open uverbs file in *ectx. memfd is sparse,
 * sealed against changes of its size, and as large as it will ever be; the
 * engine places rings in it. It stays the caller's, open until destroy. A
 * reference of mem is taken until destroy. realm: that of its address handles,
 * see struct ur_qp_init. Returns 0 or -errno.
 */
int ur_ectx_create(struct ur_engine *engine, int memfd, struct ur_user_mem *mem,
		   u32 realm, struct ur_ectx **ectx, struct ur_ectx_info *info);
/* Makes the context's card a hostile one (UROCE_ADVERSE_*), with that seed. No
 * queue may have been made. Returns 0 or -ENOMEM. */
int ur_ectx_set_adverse(struct ur_ectx *ectx, u32 what, u32 seed);
/* Fetches what was posted to the context's queue pairs so far, and sends what
 * needs no answer. Afterwards the client's memory may go. */
void ur_ectx_settle(struct ur_ectx *ectx);

/* Mappings, and their bytes, in this process. */
struct ur_emapped {
	u32 n;
	u64 ring_bytes, region_bytes;
};

/* Returns what the context's rings and regions have mapped. */
struct ur_emapped ur_ectx_mapped(const struct ur_ectx *ectx);
/* Gives memory of large rings that are gone back to the system. That may take
 * milliseconds, and needs no lock; no command of the context may run. */
void ur_ectx_sweep(struct ur_ectx *ectx);
/* Frees the context. All its objects must have been destroyed. */
void ur_ectx_destroy(struct ur_ectx *ectx);

/* Returns which of the device's engines has the context, from 0 on. */
u32 ur_ectx_shard(const struct ur_ectx *ectx);
/* Gives a context to another engine of the device. Of the engine's objects it
 * has only regions without windows, device memory, completion queues that
 * nothing uses, and event files. Returns 0, or -EOPNOTSUPP with nothing changed:
 * events wait, or the engine has no room for one of the keys. */
int ur_ectx_move(struct ur_ectx *ectx, u32 shard);

/* ---- event files: a socket pair; one datagram is one event ---- */

/* Events of an object that was destroyed: some may be unread. */
struct ur_events_left {
	struct ur_evsock *sock; /* of an event file, which must stay */
	u64 element;
	u64 sent; /* 0: sock may be NULL */
};

/* The engine sends nothing to that event file until ur_events_resume(). */
void ur_events_hold(const struct ur_events_left *left);
void ur_events_resume(const struct ur_events_left *left);
/* Withdraws what was not read. Returns how many were. Whoever shares the
 * client's end can make this wait: no lock may be held. In between the two, and
 * by nobody else for the same file. */
u32 ur_events_withdraw(const struct ur_events_left *left);

/* Makes a completion channel in *chan. *fd is the application's end; it stays
 * the engine's, which needs it to withdraw events. Returns 0 or -errno. */
int ur_echan_create(struct ur_ectx *ectx, struct ur_echan **chan, int *fd);
/* Frees the channel. No completion queue may use it any more. */
void ur_echan_destroy(struct ur_echan *chan);

/* Makes the file of asynchronous events, in the same way. */
int ur_easync_create(struct ur_ectx *ectx, struct ur_easync **async, int *fd);
/* Frees it. No queue may use it any more. */
void ur_easync_destroy(struct ur_easync *async);
/* Queues an event that belongs to no queue. element: the port number; type:
 * enum ibv_event_type. */
void ur_easync_push(struct ur_easync *async, u64 element, u32 type);

/* ---- completion queues ---- */

struct ur_ecq_init {
	u32 entries; /* at least this many; >= 1, checked by the caller */
	u64 user_handle;
	struct ur_echan *chan;	 /* or NULL */
	struct ur_easync *async; /* or NULL */
	u32 flags;		 /* enum ib_uverbs_ex_create_cq_flags */
};

/* Makes a completion queue in *cq. *resp says where its ring lies, here and for
 * the other queues. Returns 0, -EINVAL (more entries than the device gives) or
 * -ENOMEM. */
int ur_ecq_create(struct ur_ectx *ectx, const struct ur_ecq_init *init,
		  struct ur_ecq **cq, struct uroce_create_cq_resp *resp);
/* Gives the queue a new ring of at least so many entries; *resp as above.
 * Returns 0, -EINVAL (fewer than there are CQEs to read) or -ENOMEM. */
int ur_ecq_resize(struct ur_ecq *cq, u32 entries,
		  struct uroce_resize_cq_resp *resp);
/* Sets the moderation: an event comes after count CQEs or period_us
 * microseconds. */
int ur_ecq_modify(struct ur_ecq *cq, u16 count, u16 period_us);
/* Arms the queue by command (REQ_NOTIFY_CQ): the next CQE, or the next
 * solicited one, raises an event. */
int ur_ecq_arm(struct ur_ecq *cq, bool solicited_only);
/* Destroys the queue; *comp and *async: what is left of its events. Returns 0,
 * or -EBUSY while queue pairs or SRQs use it. */
int ur_ecq_destroy(struct ur_ecq *cq, struct ur_events_left *comp,
		   struct ur_events_left *async);

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

/* Makes a shared receive queue in *srq. Returns 0, -EINVAL (more than the
 * device gives) or -ENOMEM. */
int ur_esrq_create(struct ur_ectx *ectx, const struct ur_esrq_init *init,
		   struct ur_esrq **srq, struct uroce_create_srq_resp *resp);
/* Gives it a new ring of at least max_wr receives, to which those that were not
 * taken move. Returns 0, -EINVAL or -ENOMEM. */
int ur_esrq_resize(struct ur_esrq *srq, u32 max_wr,
		   struct uroce_create_srq_resp *resp);
/* Sets the limit: one event comes when fewer receives are left. 0: none.
 * Returns 0 or -EINVAL. */
int ur_esrq_set_limit(struct ur_esrq *srq, u32 limit);
/* Fills *max_wr, *max_sge and *limit. */
void ur_esrq_query(struct ur_esrq *srq, u32 *max_wr, u32 *max_sge, u32 *limit);
/* Destroys it. *async: what is left of its events. Returns 0, or -EBUSY while
 * queue pairs use it. */
int ur_esrq_destroy(struct ur_esrq *srq, struct ur_events_left *async);

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
	u32 realm;   /* as of struct ur_qp_init */
	void *owner; /* control's, for ur_engine_qp_owner(); or NULL */
	bool block_self_mcast;
	bool wq; /* RAW_PACKET, and its only event is UR_EVENT_WQ_FATAL */
};

/* Returns the KiB that the engine needs for the work requests that it takes out
 * of a send ring. The arguments are as a client asks for them. */
u32 ur_eqp_kib(u32 max_send_wr, u32 max_send_sge);
/* Makes a queue pair in *qp, with its rings in ectx; *resp says where they lie
 * and is all zero for one without any (XRC_TGT). Raises the sizes of *init to
 * what was given. An XRC_TGT queue pair may outlive ectx, of which it keeps
 * nothing. Returns 0, -EINVAL or -ENOMEM. */
int ur_eqp_create(struct ur_ectx *ectx, struct ur_eqp_init *init,
		  struct ur_eqp **qp, struct uroce_create_qp_resp *resp);
/* Returns the QPN. */
u32 ur_eqp_number(const struct ur_eqp *qp);
/* Modifies the queue pair as ur_qp_modify() does. mask: UR_QP_ATTR_*. attr->av
 * is ignored; path must not be NULL where mask has UR_QP_ATTR_AV. Returns 0,
 * -EINVAL, or -errno where the path leads nowhere. */
int ur_eqp_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask);
/* Fills *attr (av is NULL), *init, and *path as it was set last: zero, with
 * *have_path false, before that. */
void ur_eqp_query(struct ur_eqp *qp, struct ur_qp_attr *attr,
		  struct ur_eqp_init *init, struct ur_epath *path,
		  bool *have_path);
/* Puts another traffic class and hop limit (0: the host's default) into the
 * packets of a queue pair that has a path; what a query tells stays. */
void ur_eqp_set_class(struct ur_eqp *qp, u8 traffic_class, u8 hop_limit);
/* Fills values with the UR_QP_CNT_COUNT counters of the queue pair. */
void ur_eqp_counters(const struct ur_eqp *qp, u64 *values);
/* Fills *failure with what the queue pair failed of since it was in RESET: a
 * request of its own, or one of its peer. Returns false where it did not. */
bool ur_eqp_failure(struct ur_eqp *qp, bool peers, struct ur_failure *failure);
/* Returns the owner of the queue pair with that number, or NULL. */
void *ur_engine_qp_owner(struct ur_engine *engine, u32 qpn);
/* Destroys the queue pair. *async: what is left of its events. Returns 0, or
 * -EBUSY while it is attached to multicast groups. */
int ur_eqp_destroy(struct ur_eqp *qp, struct ur_events_left *async);
/* Attaches the queue pair to a group, or detaches it. Returns as
 * ur_mcast_attach() and ur_mcast_detach(), or -errno of the wire. */
int ur_eqp_mcast(struct ur_eqp *qp, const u8 *gid, bool attach);

/* Adds another opener of an XRC_TGT queue pair, in *ref, whose async gets its
 * events too. Returns 0 or -ENOMEM. */
int ur_eqp_open(struct ur_eqp *qp, struct ur_easync *async, u64 user_handle,
		struct ur_eqp_ref **ref);
/* Ends that; the queue pair stays. *async as for a destroy. */
void ur_eqp_close(struct ur_eqp_ref *ref, struct ur_events_left *async);

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

/* Registers a region, in *mr. Returns 0, -EAGAIN (the memory is not mapped, so
 * the caller calls ur_emr_look() first), -EFAULT, -EINVAL, -EOPNOTSUPP or
 * -ENOMEM. */
int ur_emr_reg(struct ur_ectx *ectx, const struct ur_emr_attr *attr,
	       struct ur_emr **mr);
/* What is to change, enum ibv_rereg_mr_flags; other fields of attr are
 * ignored. */
#define UR_REREG_TRANS	(1u << 0)
#define UR_REREG_PD	(1u << 1)
#define UR_REREG_ACCESS (1u << 2)
/* What a region had mapped; map NULL: nothing. Whoever gets it unmaps it and then
 * says so; the context lives until then. */
struct ur_emr_left {
	struct ur_ectx *ectx;
	void *map;
	size_t len;
};

/* Unmaps it, which takes as long as it has pages. Any thread, best without a
 * lock. */
void ur_emr_unmap(const struct ur_emr_left *left);
/* It is unmapped, and no longer counts. */
void ur_emr_unmapped(const struct ur_emr_left *left);

/* Registers the region anew. flags: UR_REREG_*. *left: what is no longer
 * needed, on failure too. Returns as ur_emr_reg(), or -EBUSY while windows are
 * bound to it. */
int ur_emr_rereg(struct ur_emr *mr, u32 flags, const struct ur_emr_attr *attr,
		 struct ur_emr_left *left);
/* Checks that the range is there, with the rights that its access needs. It may
 * take as long as the client's page faults, so the control lock must not be
 * held. Returns 0 or -EFAULT. */
int ur_emr_look(const struct ur_emr_attr *attr);
/* Fills *attr with where the region's memory is, and whose, for
 * ur_emr_look(). */
void ur_emr_place(const struct ur_emr *mr, struct ur_emr_attr *attr);
/* Returns the key of the region, which is its L_Key and its R_Key. */
u32 ur_emr_key(const struct ur_emr *mr);
/* Destroys the region. Returns 0 with *left, or -EBUSY while windows are bound
 * to it. */
int ur_emr_dereg(struct ur_emr *mr, struct ur_emr_left *left);
/* Carries out ADVISE_MR. advice, flags: enum ib_uverbs_advise_mr_advice and
 * _flag. Returns 0 or -errno. */
int ur_ectx_advise(struct ur_ectx *ectx, u32 pd, u32 advice, u32 flags,
		   const struct ur_sge *sge, u32 num_sge);

/* Makes a window of type 1 or 2 (enum ibv_mw_type) in *mw. Returns 0 or
 * -ENOMEM. */
int ur_emw_alloc(struct ur_ectx *ectx, u32 pd, int type, struct ur_emw **mw);
/* Returns the R_Key of the window. */
u32 ur_emw_rkey(const struct ur_emw *mw);
/* Destroys the window, bound or not. Returns 0. */
int ur_emw_dealloc(struct ur_emw *mw);

/* Makes an address handle for datagrams in *ah. Returns 0, -ENOMEM, or
 * -ENETUNREACH and the like where there is no way. */
int ur_eah_create(struct ur_ectx *ectx, u32 pd, const struct ur_epath *path,
		  struct ur_eah **ah);
/* Returns its number, for struct uroce_wqe_av. */
u32 ur_eah_number(const struct ur_eah *ah);
/* Destroys it. Packets that were sent to it stay sent. */
void ur_eah_destroy(struct ur_eah *ah);

/* Allocates length bytes of device memory, in the context's memfd; *resp says
 * where. Returns 0, -EINVAL (no length, or aligned to more than a page) or
 * -ENOMEM. */
int ur_edm_alloc(struct ur_ectx *ectx, u64 length, u32 log_align,
		 struct ur_edm **dm, struct uroce_alloc_dm_resp *resp);
/* Frees it. Returns 0, or -EBUSY while a region uses it. */
int ur_edm_free(struct ur_edm *dm);

#endif
