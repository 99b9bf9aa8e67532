/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine in a program: the interface of liburoce-engine.so, which the provider loads if
 * the engine of a context is to run in its own process. Rings have the format of
 * uroce-ring.h, and lie in a file of the engine instead of the uverbs file.
 *
 * Results are 0 or a negative errno. Objects are made and destroyed by one thread at a
 * time; posted() and poll() may be called by any thread at any time.
 */
#ifndef UROCE_ENGINE_H
#define UROCE_ENGINE_H

#include <linux/types.h>
#include "kernel-abi/uroce-abi.h"

#define UROCE_ENGINE_OPS_VERSION 19
#define UROCE_ENGINE_OPS_SYMBOL	 "uroce_engine_ops"
#define UROCE_ENGINE_LIBRARY	 "liburoce-engine.so"

struct uroce_home;
struct uroce_ectx;
struct uroce_ecq;
struct uroce_eqp;
struct uroce_emr;
struct uroce_esrq;
struct uroce_eah;
struct uroce_emw;
struct uroce_eflow;

/* Size of the sparse file of rings. A process with a lower limit of file sizes
 * (RLIMIT_FSIZE) has no engine. */
#define UROCE_ECTX_FILE_BYTES (1ull << 40)

struct uroce_ectx_info {
	int fd; /* of the rings; stays the engine's */
	/* 1; 0 in a child of fork, or after the program has closed its descriptors: then
	 * only close() may be called. */
	const volatile __u32 *own;
	__u64 db_map_off;
	__u32 db_map_len;
	/* wakes the engine if the page says asleep; stays the engine's */
	__s32 wake_fd;
};

/* Descriptors for RoCEv1: packet sockets, and one of rtnetlink. */
#define UROCE_V1_FDS 6

/* Another process whose context is to be opened. open_apart() takes the descriptors over. mem is
 * -1 for a process that shows no memory: it registers files alone. */
struct uroce_ectx_client {
	__s32 mem;  /* its /proc/PID/mem, open for reading and writing */
	__s32 maps; /* its /proc/PID/maps, or -1 */
	__s32 pid;
	/* Maximum bytes of its rings. */
	__u64 ring_bytes;
	__u32 adverse; /* UROCE_ADVERSE_* of its engine */
	__u32 adverse_seed;
	__u32 realm; /* of its queue pairs: transport/attr.h; 0: none */
	__u32 rsv;
};

/* How a raw packet queue pair spreads frames over work queues. size: their number, a power
 * of two. */
struct uroce_eqp_rss {
	__u8 key[UROCE_RX_HASH_KEY_BYTES];
	__u32 fields; /* enum ibv_rx_hash_fields */
	__u32 size;
	struct uroce_eqp *const *wq;
};

/* type: RC, UC, UD, RAW_PACKET, XRC_INI or XRC_TGT of enum ib_uverbs_qp_type. The sizes are
 * those that the device returned. The completion queue of a missing queue is NULL: XRC_INI
 * has no receive queue, XRC_TGT neither queues nor a pdn. */
struct uroce_eqp_init {
	__u32 type;
	__u32 qpn, pdn;
	__u32 max_send_wr, max_recv_wr;
	__u32 max_send_sge, max_recv_sge;
	__u32 max_inline;
	__u32 sq_sig_all;
	__u32 block_self_mcast; /* no loopback of its own multicast packets */
	__u32 xrcdn;		/* XRC_TGT */
	__u32 wq; /* 1: a work queue of type RAW_PACKET; it only receives */
	__u32 rsv;
	__u64 user_handle; /* in its events */
	struct uroce_ecq *send_cq, *recv_cq;
	struct uroce_esrq *srq;		 /* or NULL */
	const struct uroce_eqp_rss *rss; /* or NULL */
};

/* Frames matched by flow rules. The engine adds; any thread reads atomically. */
struct uroce_eflow_counts {
	__u64 packets, bytes;
};

/* The sizes are those that the device returned. xrcdn 0: a basic SRQ. Otherwise an XRC SRQ,
 * with srqn and cq. */
struct uroce_esrq_init {
	__u32 pdn, max_wr, max_sge;
	__u32 xrcdn;
	__u64 user_handle;
	struct uroce_ecq *cq;
	__u32 srqn;
	__u32 rsv;
};

#define UROCE_ECQ_IGNORE_OVERRUN (1u << 0)
#define UROCE_ECQ_STAMPED	 (1u << 1) /* completions have timestamps */

/* channel: identifies the completion channel; NULL: none. tx: the end into which its events
 * are sent, or -1 if the preload library may have it. rx: the end that the program reads. */
struct uroce_ecq_init {
	__u32 entries;
	__s32 tx, rx;
	__u32 flags; /* UROCE_ECQ_* */
	__u64 user_handle;
	const void *channel;
};

#define UROCE_EMR_ON_DEMAND (1u << 0)
#define UROCE_EMR_IMPLICIT  (1u << 1) /* the whole address space */
#define UROCE_EMR_NULL	    (1u << 2)
#define UROCE_EMR_GPU	    (1u << 3) /* addr is a GPU address */
/* addr is in a mapping of the dma-buf whose descriptor is dmabuf. Both last as long as the region. */
#define UROCE_EMR_DMABUF (1u << 4)
/* The memory is the one of set_parent(). While that process has the region, its key is at key_at
 * there. */
#define UROCE_EMR_PARENTS (1u << 5)
/* addr is a place in the file whose descriptor is dmabuf, which stays the caller's: a memfd that does not
 * shrink. Only after open_apart(), and not for rereg_mr(). */
#define UROCE_EMR_FILE (1u << 6)

struct uroce_emr_init {
	__u32 key, pdn;
	__u32 access;
	__u32 flags; /* UROCE_EMR_* */
	__u64 addr, length, iova;
	__s32 dmabuf;
	__u32 reserved;
	__u64 key_at;
};

/* Each object begins with the pointer that open() put into *ctx. */
struct uroce_engine_ops {
	__u32 version;
	/* Opens an engine. file: the uverbs file, which the caller keeps open as long as
	 * the engine. The descriptors in open stay the caller's. */
	int (*open)(const struct uroce_engine_open *open, int file,
		    struct uroce_ectx **ctx, struct uroce_ectx_info *info);
	/* Makes an engine for contexts of other processes, one or several. v1: UROCE_V1_FDS
	 * descriptors, all -1 without RoCEv1. isolated: its contexts have realms. file: the engine ends when it hangs up; the caller keeps it
	 * open as long as the engine. The descriptors in open and v1 stay the caller's. */
	int (*make_home)(const struct uroce_engine_open *open, const int *v1,
			 __u32 isolated, int file, struct uroce_home **home);
	/* Ends the engine. All its contexts have been closed. */
	void (*end_home)(struct uroce_home *home);
	/* Opens a context of another process. info->own is NULL; the client accesses
	 * nothing but the rings. The client does not fork. Contexts of one engine share the
	 * numbers of domains, keys and queue pairs. */
	int (*open_apart)(struct uroce_home *home,
			  const struct uroce_ectx_client *client,
			  struct uroce_ectx **ctx,
			  struct uroce_ectx_info *info);
	/* Returns the bytes of rings, and as many of objects, that uroced has added to those of the
	 * client (UROCE_METHOD_ENGINE_ROOM). Only after open_apart(). */
	__u64 (*room)(struct uroce_ectx *ctx);
	/* Returns the sending end of a channel, which becomes the caller's, if the last
	 * destroyed CQ was the channel's last one; otherwise -1. Only after open_apart(). */
	int (*left_sender)(struct uroce_ectx *ctx);
	/* Fetches what the program has posted, and sends what needs no answer. Takes 0.2 s at
	 * most, in pieces between which calls of other contexts come. Afterwards the program's
	 * memory may go. Only after open_apart(). */
	void (*drain)(struct uroce_ectx *ctx);
	/* Closes the context. All objects have been destroyed. In a child of fork it does
	 * nothing. */
	void (*close)(struct uroce_ectx *ctx);
	/* In a child of fork, where own is 0: takes the engine over and sets own to 1, if
	 * the former process has ended and its engine has done nothing since the fork.
	 * wait: if not 0, waits once and briefly for the end of that process; if 0, the
	 * child renounces the engine and is refused from then on. Returns 0, -ENOENT (there
	 * is no object, so the context needs no engine), -ESRCH (the engine is still the
	 * parent's) or -EIO. */
	int (*take_over)(struct uroce_ectx *ctx, int wait);
	/* Shows the memory of the program's parent: mem is its /proc/PID/mem, which stays the
	 * caller's. Once. Returns 0 or -errno. */
	int (*set_parent)(struct uroce_ectx *ctx, int mem, __u32 pid);
	/* has_gid() returns whether the engine has the socket for that entry of the GID
	 * table. use_gid() takes over fd, unless it fails; fd -1: packets come through the
	 * relay ring. It returns -EALREADY if the engine has that socket. */
	int (*has_gid)(struct uroce_ectx *ctx, __u32 index, const __u8 gid[16]);
	int (*use_gid)(struct uroce_ectx *ctx, __u32 index, const __u8 gid[16],
		       int fd);

	/* has_ring() returns whether the engine has rings to the present engine in that
	 * slot of the device. use_ring() takes rings, in place of others for that slot;
	 * the descriptors stay the caller's. */
	int (*has_ring)(struct uroce_ectx *ctx, __u32 slot);
	int (*use_ring)(struct uroce_ectx *ctx,
			const struct uroce_engine_ring *ring);

	/* Sets the end into which asynchronous events are sent, the end that the program
	 * reads, and a socket that hangs up with the device. The descriptors stay the
	 * caller's. Called once, before the first queue. A shared engine uses the liveness
	 * socket of its first context only. */
	int (*set_async)(struct uroce_ectx *ctx, int tx, int rx, int liveness);

	/* The descriptors stay the caller's. -ENOENT: tx is needed, since neither a queue
	 * with that channel exists nor has the preload library its sending end. */
	int (*create_cq)(struct uroce_ectx *ctx,
			 const struct uroce_ecq_init *init,
			 struct uroce_ecq **cq,
			 struct uroce_create_cq_resp *resp);
	int (*modify_cq)(struct uroce_ecq *cq, __u16 count, __u16 period_us);
	int (*resize_cq)(struct uroce_ecq *cq, __u32 entries,
			 struct uroce_resize_cq_resp *resp);
	/* *read: how many of the queue's events the program has read, of the channel and
	 * asynchronous ones. No more follow. */
	int (*destroy_cq)(struct uroce_ecq *cq, __u32 read[2]);
	/* -EEXIST: the engine has no room for this number of an XRC SRQ, as for a queue
	 * pair; another number may work. */
	int (*create_srq)(struct uroce_ectx *ctx,
			  const struct uroce_esrq_init *init,
			  struct uroce_esrq **srq,
			  struct uroce_create_srq_resp *resp);
	int (*resize_srq)(struct uroce_esrq *srq, __u32 max_wr,
			  struct uroce_create_srq_resp *resp);
	int (*limit_srq)(struct uroce_esrq *srq, __u32 limit);
	__u32 (*query_srq)(struct uroce_esrq *srq); /* the limit */
	/* *read: as of destroy_cq(). */
	int (*destroy_srq)(struct uroce_esrq *srq, __u32 *read);
	/* *number: identifies the address handle in work requests. */
	int (*create_ah)(struct uroce_ectx *ctx, __u32 pdn,
			 const struct uroce_engine_path *path,
			 struct uroce_eah **ah, __u32 *number);
	void (*destroy_ah)(struct uroce_eah *ah);
	int (*create_qp)(struct uroce_ectx *ctx,
			 const struct uroce_eqp_init *init,
			 struct uroce_eqp **qp,
			 struct uroce_create_qp_resp *resp);
	/* Opens the XRC target qpn again, as another queue pair object with the same state.
	 * The target ends with its last object. Only type, qpn, xrcdn and user_handle are
	 * used. -ENOENT: the domain has no such target. */
	int (*open_qp)(struct uroce_ectx *ctx,
		       const struct uroce_eqp_init *init,
		       struct uroce_eqp **qp);
	/* Returns 0 if the transition from the current state to attr->state is allowed with
	 * the attributes in mask, else -EINVAL. Does not check their values. mask: enum
	 * ib_qp_attr_mask of the kernel. */
	int (*may_modify_qp)(struct uroce_eqp *qp,
			     const struct uroce_engine_qp *attr, __u32 mask);
	int (*modify_qp)(struct uroce_eqp *qp,
			 const struct uroce_engine_qp *attr, __u32 mask);
	/* Fills *attr with the attributes of creation and modification and with the current
	 * state; not peer_slot. */
	void (*query_qp)(struct uroce_eqp *qp, struct uroce_engine_qp *attr);
	/* Attaches the queue pair to a multicast group, or detaches it. */
	int (*mcast)(struct uroce_eqp *qp, const __u8 gid[16], __u32 attach);
	/* -EBUSY: it is attached to multicast groups. */
	int (*destroy_qp)(struct uroce_eqp *qp, __u32 *read);

	/* has_raw() returns whether the engine has packet sockets. use_raw() takes them,
	 * before the first raw packet queue pair or work queue; the descriptors stay the
	 * caller's. It returns -EALREADY if the engine has some. These and the next three
	 * are NULL in a library without raw packets. */
	int (*has_raw)(struct uroce_ectx *ctx);
	int (*use_raw)(struct uroce_ectx *ctx,
		       const struct uroce_engine_raw *raw);
	/* state: enum ibv_wq_state. The device has checked the transition, except from a
	 * state that the queue entered by itself. */
	int (*modify_wq)(struct uroce_eqp *wq, __u32 state);
	/* counts: counters, the caller's, valid until the rule is destroyed; or NULL. A
	 * queue pair with rules, or a work queue in use by a queue pair, cannot be
	 * destroyed (-EBUSY). */
	int (*create_flow)(struct uroce_eqp *qp,
			   const struct uroce_engine_flow *init,
			   struct uroce_eflow_counts *counts,
			   struct uroce_eflow **flow);
	void (*destroy_flow)(struct uroce_eflow *flow);

	int (*reg_mr)(struct uroce_ectx *ctx, const struct uroce_emr_init *init,
		      struct uroce_emr **mr);
	/* flags: enum ibv_rereg_mr_flags. */
	int (*rereg_mr)(struct uroce_emr *mr, __u32 flags,
			const struct uroce_emr_init *init);
	int (*dereg_mr)(struct uroce_emr *mr);
	/* Returns 0 if the whole range is GPU memory that can be registered, else -EFAULT.
	 * length 0: whether such memory can exist. NULL: not supported. */
	int (*has_gpu)(__u64 addr, __u64 length);
	/* type: enum ibv_mw_type. */
	int (*alloc_mw)(struct uroce_ectx *ctx, __u32 pdn, __u32 type,
			__u32 rkey, struct uroce_emw **mw);
	void (*dealloc_mw)(struct uroce_emw *mw);

	/* Sends what was just posted. */
	void (*posted)(struct uroce_ectx *ctx);
	/* Does the same for datagrams, which may be sent in groups: at the latest when a
	 * poll finds nothing, or after a fraction of a millisecond. */
	void (*datagram)(struct uroce_ectx *ctx);
	/* Called after a CQ with a channel was armed: a thread is about to sleep. */
	void (*armed)(struct uroce_ectx *ctx);
	/* Runs a turn of the engine, after a CQ was found empty. */
	void (*poll)(struct uroce_ectx *ctx);
};

#endif
