/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine in a program: the interface of liburoce-engine.so, which the provider loads if
 * the engine of a context is to run in its own process. Rings have the format of
 * uroce-ring.h, and lie in a file of the engine instead of the uverbs file.
 *
 * An engine is told what to do by calls (struct uroce_call), of the same form wherever it is: a call
 * of an engine process is a message over a socket (uroce-apart.h). Objects are made and destroyed by
 * one thread at a time; posted() and poll() may be called by any thread at any time.
 */
#ifndef UROCE_ENGINE_H
#define UROCE_ENGINE_H

#include <linux/types.h>
#include "kernel-abi/uroce-abi.h"

#define UROCE_ENGINE_OPS_VERSION 20
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

/* ---- calls ---- */

enum uroce_call_op {
	/* Only of an engine process: out: the file of rings and the wake-up eventfd. */
	UROCE_CALL_BEGIN = 1,
	/* Returns 1 if the engine has the socket for that entry of the GID table. */
	UROCE_CALL_HAS_GID,
	/* With the socket; without: packets come through the relay ring. -EALREADY: the engine has that
	 * socket. */
	UROCE_CALL_USE_GID,
	/* value: a slot of the device. Returns 1 if the engine has rings to the present engine there. */
	UROCE_CALL_HAS_RING,
	UROCE_CALL_USE_RING, /* with words, out, in; in place of others for that slot */
	/* With the end into which asynchronous events are sent, the end that the program reads, and
	 * a socket that hangs up with the device. Once, before the first queue. A shared engine uses
	 * the liveness socket of its first context only. */
	UROCE_CALL_SET_ASYNC,
	/* With a channel: with the end into which its events are sent, or -1 if the preload library may
	 * have it, and the end that the program reads. -ENOENT: the former is needed, since neither a
	 * queue with that channel exists nor has the preload library its sending end. An engine process
	 * gets both, if the channel is new. */
	UROCE_CALL_CREATE_CQ,
	UROCE_CALL_MODIFY_CQ, /* value: the count, and shifted by 16 the period in us */
	UROCE_CALL_RESIZE_CQ, /* value: the entries; fills new_ring */
	/* Fills read: how many of the queue's events the program has read, of the channel and
	 * asynchronous ones. No more follow. out, of a context of another process: the sending end of
	 * its channel, if it was the channel's last queue. */
	UROCE_CALL_DESTROY_CQ,
	/* value, of an engine process: the CQ of an XRC SRQ. -EEXIST: the engine has no room for this
	 * number of an XRC SRQ, as for a queue pair; another number may work. */
	UROCE_CALL_CREATE_SRQ,
	UROCE_CALL_RESIZE_SRQ,	/* value: the work requests; fills new_srq */
	UROCE_CALL_LIMIT_SRQ,	/* value: the limit */
	UROCE_CALL_QUERY_SRQ,	/* fills value: the limit */
	UROCE_CALL_DESTROY_SRQ, /* read[0]: as of DESTROY_CQ */
	UROCE_CALL_CREATE_AH, /* fills value, which identifies it in work requests */
	UROCE_CALL_DESTROY_AH,
	UROCE_CALL_CREATE_QP,
	/* Opens the XRC target qpn again, as another queue pair object with the same state. The target
	 * ends with its last object. Only type, qpn, xrcdn and user_handle are used. -ENOENT: the domain
	 * has no such target. */
	UROCE_CALL_OPEN_QP,
	/* -EINVAL: the transition from the current state to attr.state is not allowed with the
	 * attributes in mask, whose values it does not check. */
	UROCE_CALL_MAY_MODIFY_QP,
	UROCE_CALL_MODIFY_QP,
	/* Fills now with the attributes of creation and modification and with the current state; not
	 * peer_slot. */
	UROCE_CALL_QUERY_QP,
	UROCE_CALL_MCAST,
	/* read[0]: as of DESTROY_CQ. -EBUSY: it is attached to multicast groups, has rules, or is a work
	 * queue in use by a queue pair. */
	UROCE_CALL_DESTROY_QP,
	UROCE_CALL_REG_MR, /* an engine process gets the file of UROCE_EMR_FILE */
	UROCE_CALL_REREG_MR,
	UROCE_CALL_DEREG_MR,
	UROCE_CALL_ALLOC_MW,
	UROCE_CALL_DEALLOC_MW,
	/* Only of an engine process: ends the regions that uroced registered in the program's place and
	 * that the program has not registered since. */
	UROCE_CALL_CLAIMED,
	/* Shows the memory of the program's parent. With its /proc/PID/mem; value: the process. Once. */
	UROCE_CALL_SET_PARENT,
	UROCE_CALL_HAS_RAW, /* returns 1 if the engine has packet sockets */
	/* With the receiving socket and the sending one, before the first raw packet queue pair or work
	 * queue. -EALREADY: the engine has some. */
	UROCE_CALL_USE_RAW,
	/* value: enum ibv_wq_state. The device has checked the transition, except from a state that the
	 * queue entered by itself. */
	UROCE_CALL_MODIFY_WQ,
	UROCE_CALL_CREATE_FLOW, /* it: the queue pair */
	/* Only of an engine process: fills counts with what the rule has counted. */
	UROCE_CALL_READ_FLOW,
	UROCE_CALL_DESTROY_FLOW, /* an engine process fills counts, as above */
	/* Only of a context of another process: fetches what the program has posted, and sends what needs
	 * no answer. Takes 0.2 s at most, in pieces between which calls of other contexts come. Afterwards
	 * the program's memory may go. */
	UROCE_CALL_DRAIN,
	UROCE_CALL_OPS
};

/* Maximum number of descriptors that go with a call. */
#define UROCE_CALL_FDS 3
/* Maximum number of work queues that a queue pair spreads frames over. */
#define UROCE_CALL_WQS 256

struct uroce_call_gid {
	__u8 gid[16];
	__u32 index; /* MCAST: 1 attaches, 0 detaches */
	__u32 rsv;
};

struct uroce_call_cq {
	__u32 entries;
	__u32 flags; /* UROCE_ECQ_* */
	__u64 user_handle;
	__u64 channel; /* identifies the completion channel; 0: none */
};

/* An engine process ignores the pointers of init, and all others what follows it. n_wqs: number of work
 * queues that a queue pair spreads frames over; 0: it does not. Their object numbers, each a __u32, follow
 * the message. */
struct uroce_call_qp {
	struct uroce_eqp_init init;
	__u32 send_cq, recv_cq, srq; /* object numbers; 0: none */
	__u32 n_wqs;
	__u8 rss_key[UROCE_RX_HASH_KEY_BYTES];
	__u32 rss_fields; /* enum ibv_rx_hash_fields */
	__u32 rsv;
};

struct uroce_call_modify {
	struct uroce_engine_qp attr;
	__u32 mask; /* enum ib_qp_attr_mask of the kernel */
	__u32 rsv;
};

struct uroce_call_ah {
	struct uroce_engine_path path;
	__u32 pdn;
};

struct uroce_call_mr {
	struct uroce_emr_init init;
	__u32 flags; /* REREG_MR: enum ibv_rereg_mr_flags */
	__u32 rsv;
};

struct uroce_call_mw {
	__u32 pdn, type, rkey; /* type: enum ibv_mw_type */
	__u32 rsv;
};

struct uroce_call_begun {
	__u64 db_map_off;
	__u32 db_map_len;
	__u32 rsv;
};

struct uroce_call_msg {
	__u32 op;
	__s32 ret; /* of a reply of an engine process: result of the call */
	/* for an engine process: an object of this context; in its reply: the new object */
	__u32 number;
	__u32 value; /* an argument, or a result */
	union {
		struct uroce_call_gid gid;
		struct uroce_engine_ring ring;
		struct uroce_call_cq cq;
		struct uroce_esrq_init srq;
		struct uroce_call_ah ah;
		struct uroce_call_qp qp;
		struct uroce_call_modify modify;
		struct uroce_call_mr mr;
		struct uroce_call_mw mw;
		struct uroce_engine_flow flow;
		/* replies */
		struct uroce_call_begun begun;
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

struct uroce_call {
	struct uroce_call_msg msg, reply;
	/* The object that the call is about; then the one that it has made. Each begins with the pointer
	 * that open() put into *ctx. */
	void *it;
	__u32 n_fds; /* descriptors that go with the call, which stay the caller's */
	__s32 fds[UROCE_CALL_FDS];
	__s32 out
		[2]; /* descriptors that come with the reply, which become the caller's; -1: none */
	/* CREATE_FLOW: counters, the caller's, valid until the rule is destroyed; or NULL */
	struct uroce_eflow_counts *counts;
};

/* Returns how many objects a call adds to those of its context. */
static inline int uroce_call_makes(__u32 op)
{
	switch (op) {
	case UROCE_CALL_CREATE_CQ:
	case UROCE_CALL_CREATE_SRQ:
	case UROCE_CALL_CREATE_AH:
	case UROCE_CALL_CREATE_QP:
	case UROCE_CALL_OPEN_QP:
	case UROCE_CALL_CREATE_FLOW:
	case UROCE_CALL_REG_MR:
	case UROCE_CALL_ALLOC_MW:
		return 1;
	case UROCE_CALL_DESTROY_CQ:
	case UROCE_CALL_DESTROY_SRQ:
	case UROCE_CALL_DESTROY_AH:
	case UROCE_CALL_DESTROY_QP:
	case UROCE_CALL_DESTROY_FLOW:
	case UROCE_CALL_DEREG_MR:
	case UROCE_CALL_DEALLOC_MW:
		return -1;
	default:
		return 0;
	}
}

struct uroce_engine_ops {
	__u32 version;
	/* Opens an engine. file: the uverbs file, which the caller keeps open as long as
	 * the engine. The descriptors in open stay the caller's. *ctx begins with a pointer to this
	 * table. */
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
	/* Returns 0, for HAS_* 1, or a negative errno: -EOPNOTSUPP for a call that the engine does not
	 * know, which those of raw packets may be. */
	int (*call)(struct uroce_ectx *ctx, struct uroce_call *call);
	/* Returns 0 if the whole range is GPU memory that can be registered, else -EFAULT.
	 * length 0: whether such memory can exist. NULL: not supported. */
	int (*has_gpu)(__u64 addr, __u64 length);

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
