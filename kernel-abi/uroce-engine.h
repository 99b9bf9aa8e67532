/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine in a program: the interface of liburoce-engine.so, which the
 * provider loads when a context is to have its engine in its own process. Rings
 * are those of uroce-ring.h, in a file of the engine's in place of the uverbs
 * file.
 *
 * Results are 0 or a negative errno. Objects are made and destroyed by one thread at
 * a time; posted and poll may be called by any thread at any time.
 */
#ifndef UROCE_ENGINE_H
#define UROCE_ENGINE_H

#include <linux/types.h>
#include "kernel-abi/uroce-abi.h"

#define UROCE_DOOR_VERSION 16
#define UROCE_DOOR_SYMBOL  "uroce_door"
#define UROCE_DOOR_LIBRARY "liburoce-engine.so"

struct uroce_home;
struct uroce_guest;
struct uroce_guest_cq;
struct uroce_guest_qp;
struct uroce_guest_mr;
struct uroce_guest_srq;
struct uroce_guest_ah;
struct uroce_guest_mw;
struct uroce_guest_flow;

/* Its file of rings, sparse. A process whose limit of file sizes is lower has no
 * engine. */
#define UROCE_GUEST_FILE_BYTES (1ull << 40)

struct uroce_guest_info {
	int fd; /* of the rings; stays the engine's */
	/* 1; 0 in a child of fork, or once the program has closed its descriptors,
	 * where nothing but close may be called. */
	const volatile __u32 *own;
	__u64 db_map_off;
	__u32 db_map_len;
	__s32 wake_fd; /* wakes it where the page says asleep; stays the engine's */
};

/* Another process, whose context an engine is to have. open_apart() takes the descriptors
 * over. */
struct uroce_guest_client {
	__s32 mem;  /* its /proc/PID/mem, open for reading and writing */
	__s32 maps; /* its /proc/PID/maps, or -1 */
	__s32 pid;
	/* Most bytes that its rings may have. */
	__u64 ring_bytes;
	__u32 adverse; /* UROCE_ADVERSE_* that its engine does */
	__u32 adverse_seed;
	__u32 realm; /* of its queue pairs: transport/attr.h; 0: none */
	__u32 rsv;
};

/* How a raw packet queue pair spreads frames over size work queues, a power of two. */
struct uroce_guest_rss {
	__u8 key[UROCE_RX_HASH_KEY_BYTES];
	__u32 fields; /* enum ibv_rx_hash_fields */
	__u32 size;
	struct uroce_guest_qp *const *wq;
};

/* type: RC, UC, UD, RAW_PACKET, XRC_INI or XRC_TGT, of enum ib_uverbs_qp_type. The sizes are those that the
 * device has given. A completion queue is NULL where the queue is not there: XRC_INI has no receive
 * queue, XRC_TGT has no queues and no pdn. */
struct uroce_guest_qp_init {
	__u32 type;
	__u32 qpn, pdn;
	__u32 max_send_wr, max_recv_wr;
	__u32 max_send_sge, max_recv_sge;
	__u32 max_inline;
	__u32 sq_sig_all;
	__u32 block_self_mcast; /* what it sends to its groups does not come back */
	__u32 xrcdn;		/* XRC_TGT */
	__u32 wq; /* of RAW_PACKET: a work queue; it only receives */
	__u32 rsv;
	__u64 user_handle; /* of its events */
	struct uroce_guest_cq *send_cq, *recv_cq;
	struct uroce_guest_srq *srq;	   /* or NULL */
	const struct uroce_guest_rss *rss; /* or NULL */
};

/* Frames that flow rules have matched. The engine adds; any thread reads, atomically. */
struct uroce_guest_counts {
	__u64 packets, bytes;
};

/* The sizes are those that the device has given. xrcdn 0: a basic one; else an XRC one, with the number and
 * completion queue of XRC. */
struct uroce_guest_srq_init {
	__u32 pdn, max_wr, max_sge;
	__u32 xrcdn;
	__u64 user_handle;
	struct uroce_guest_cq *cq;
	__u32 srqn;
	__u32 rsv;
};

#define UROCE_GUEST_CQ_IGNORE_OVERRUN (1u << 0)
#define UROCE_GUEST_CQ_STAMPED	      (1u << 1) /* completions have timestamps */

/* channel: NULL, or what stands for the completion channel. tx is the end into
 * which its events are sent, or -1: the preload library may have it. rx is the end that the program reads. */
struct uroce_guest_cq_init {
	__u32 entries;
	__s32 tx, rx;
	__u32 flags; /* UROCE_GUEST_CQ_* */
	__u64 user_handle;
	const void *channel;
};

#define UROCE_GUEST_MR_ON_DEMAND (1u << 0)
#define UROCE_GUEST_MR_IMPLICIT	 (1u << 1) /* the whole address space */
#define UROCE_GUEST_MR_NULL	 (1u << 2)
#define UROCE_GUEST_MR_GPU \
	(1u << 3) /* addr is what a GPU's runtime has for it */

struct uroce_guest_mr_init {
	__u32 key, pdn;
	__u32 access;
	__u32 flags; /* UROCE_GUEST_MR_* */
	__u64 addr, length, iova;
};

struct uroce_door {
	__u32 version;
	/* file: the uverbs file, which the caller has open as long as the engine. The
	 * descriptors in open stay the caller's. */
	int (*open)(const struct uroce_engine_open *open, int file,
		    struct uroce_guest **guest, struct uroce_guest_info *info);
	/* For contexts of other processes, which may be several: makes an engine, which ends with file. isolated: its contexts have
	 * realms. The descriptors in open and file stay the caller's, file as long as the engine. */
	int (*make_home)(const struct uroce_engine_open *open, __u32 isolated,
			 int file, struct uroce_home **home);
	/* All its contexts have been closed. */
	void (*end_home)(struct uroce_home *home);
	/* Opens a context of another process: info->own is NULL, and its rings are all that the client touches. It is not for
	 * programs that fork. What contexts of one engine have may meet by numbers: domains, keys, queue pairs. */
	int (*open_apart)(struct uroce_home *home,
			  const struct uroce_guest_client *client,
			  struct uroce_guest **guest,
			  struct uroce_guest_info *info);
	/* Returns the sending end of a channel that the queue which was destroyed last was the last one of, or -1. It is the
	 * caller's. Only after open_apart(). */
	int (*left_sender)(struct uroce_guest *guest);
	/* All objects have been destroyed. In a child of fork it does nothing. */
	void (*close)(struct uroce_guest *guest);
	/* In a child of fork, where own is 0: takes the engine over, so that own is 1, if the process
	 * that had it has ended and its engine has done nothing since it forked. Where wait is not 0
	 * that end is waited for, for a short time and once. Else the child says that it does without:
	 * it is refused from then on. Returns 0, -ENOENT where there is no object, and the context needs
	 * no engine of its own, -ESRCH where it is the parent's still, or -EIO. */
	int (*adopt)(struct uroce_guest *guest, int wait);
	/* Whether it has the socket for that entry of the GID table; takes one
	 * over where that succeeds. */
	int (*has_gid)(struct uroce_guest *guest, __u32 index,
		       const __u8 gid[16]);
	/* fd: -1 where packets come through a ring. -EALREADY: it has that one. */
	int (*borrow)(struct uroce_guest *guest, __u32 index,
		      const __u8 gid[16], int fd);

	/* Whether it has the rings with the engine that is in that slot of the device now; and
	 * takes them, in place of others with that slot: the descriptors stay the caller's. */
	int (*has_ring)(struct uroce_guest *guest, __u32 slot);
	int (*borrow_ring)(struct uroce_guest *guest,
			   const struct uroce_engine_ring *ring);

	/* The end into which asynchronous events are sent, the file that the program
	 * reads, and a socket that hangs up with the device: the descriptors
	 * stay the caller's. Before the first queue, once. An engine takes the socket of the first context alone. */
	int (*set_async)(struct uroce_guest *guest, int tx, int rx, int life);

	/* The descriptors stay the caller's. -ENOENT: there is no queue with that
	 * channel yet, nor has the preload library its other end, and tx is needed. */
	int (*create_cq)(struct uroce_guest *guest,
			 const struct uroce_guest_cq_init *init,
			 struct uroce_guest_cq **cq,
			 struct uroce_create_cq_resp *resp);
	int (*modify_cq)(struct uroce_guest_cq *cq, __u16 count,
			 __u16 period_us);
	int (*resize_cq)(struct uroce_guest_cq *cq, __u32 entries,
			 struct uroce_resize_cq_resp *resp);
	/* *read: how many of its events the program has read, those of the channel
	 * and the asynchronous ones; there are no others any more. */
	int (*destroy_cq)(struct uroce_guest_cq *cq, __u32 read[2]);
	/* -EEXIST: the engine has no place for the number of an XRC one, as of a queue pair; with another one it
	 * may work. */
	int (*create_srq)(struct uroce_guest *guest,
			  const struct uroce_guest_srq_init *init,
			  struct uroce_guest_srq **srq,
			  struct uroce_create_srq_resp *resp);
	int (*resize_srq)(struct uroce_guest_srq *srq, __u32 max_wr,
			  struct uroce_create_srq_resp *resp);
	int (*limit_srq)(struct uroce_guest_srq *srq, __u32 limit);
	__u32 (*query_srq)(struct uroce_guest_srq *srq); /* the limit */
	/* *read: as of a completion queue. */
	int (*destroy_srq)(struct uroce_guest_srq *srq, __u32 *read);
	/* *number is what work requests name it by. */
	int (*create_ah)(struct uroce_guest *guest, __u32 pdn,
			 const struct uroce_engine_path *path,
			 struct uroce_guest_ah **ah, __u32 *number);
	void (*destroy_ah)(struct uroce_guest_ah *ah);
	int (*create_qp)(struct uroce_guest *guest,
			 const struct uroce_guest_qp_init *init,
			 struct uroce_guest_qp **qp,
			 struct uroce_create_qp_resp *resp);
	/* Opens the XRC target with that number once more: for all functions it is another queue pair, with
	 * the same state. The last that is destroyed ends it. Only type, qpn, xrcdn and user_handle count.
	 * -ENOENT: there is none in the domain. */
	int (*open_qp)(struct uroce_guest *guest,
		       const struct uroce_guest_qp_init *init,
		       struct uroce_guest_qp **qp);
	/* Returns whether it may go from the state that it has now to attr->state with the attributes that
	 * mask names: 0 or -EINVAL. The values stay to be seen. mask: enum ib_qp_attr_mask of the
	 * kernel. */
	int (*may_modify_qp)(struct uroce_guest_qp *qp,
			     const struct uroce_engine_qp *attr, __u32 mask);
	int (*modify_qp)(struct uroce_guest_qp *qp,
			 const struct uroce_engine_qp *attr, __u32 mask);
	/* Fills what it was made and modified with, and the numbers that change as it runs; not
	 * peer_slot. */
	void (*query_qp)(struct uroce_guest_qp *qp,
			 struct uroce_engine_qp *attr);
	/* Attaches it to a multicast group, or detaches it. */
	int (*mcast)(struct uroce_guest_qp *qp, const __u8 gid[16],
		     __u32 attach);
	/* -EBUSY: it is in groups. */
	int (*destroy_qp)(struct uroce_guest_qp *qp, __u32 *read);

	/* Whether it has packet sockets; and takes them, before the first queue pair or work queue of
	 * raw packets: the descriptors stay the caller's. -EALREADY: it has some. All of these
	 * are NULL in a library without raw packets. */
	int (*has_raw)(struct uroce_guest *guest);
	int (*borrow_raw)(struct uroce_guest *guest,
			  const struct uroce_engine_raw *raw);
	/* state: enum ibv_wq_state. It has been checked but for what the queue has become by itself. */
	int (*modify_wq)(struct uroce_guest_qp *wq, __u32 state);
	/* counts: NULL, or what is the caller's until the rule ends. A queue pair with rules is not
	 * destroyed (-EBUSY), nor is a work queue that another one spreads frames to. */
	int (*create_flow)(struct uroce_guest_qp *qp,
			   const struct uroce_engine_flow *init,
			   struct uroce_guest_counts *counts,
			   struct uroce_guest_flow **flow);
	void (*destroy_flow)(struct uroce_guest_flow *flow);

	int (*reg_mr)(struct uroce_guest *guest,
		      const struct uroce_guest_mr_init *init,
		      struct uroce_guest_mr **mr);
	/* flags: enum ibv_rereg_mr_flags. */
	int (*rereg_mr)(struct uroce_guest_mr *mr, __u32 flags,
			const struct uroce_guest_mr_init *init);
	int (*dereg_mr)(struct uroce_guest_mr *mr);
	/* Returns 0 where all of the range is memory of a GPU that can be registered, else -EFAULT. length 0: whether there can be
	 * such memory. NULL: there is none. */
	int (*has_gpu)(__u64 addr, __u64 length);
	/* type: enum ibv_mw_type. */
	int (*alloc_mw)(struct uroce_guest *guest, __u32 pdn, __u32 type,
			__u32 rkey, struct uroce_guest_mw **mw);
	void (*dealloc_mw)(struct uroce_guest_mw *mw);

	/* Sends what was just posted. */
	void (*posted)(struct uroce_guest *guest);
	/* The same of datagrams, of which several may leave together: at the latest when a poll
	 * finds nothing, or after a fraction of a millisecond. */
	void (*datagram)(struct uroce_guest *guest);
	/* A queue with a channel was armed: somebody is about to sleep. */
	void (*armed)(struct uroce_guest *guest);
	/* Runs a turn, since a queue was found empty. */
	void (*poll)(struct uroce_guest *guest);
};

#endif
