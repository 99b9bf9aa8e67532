/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program, behind its door: the functions of struct uroce_door
 * (kernel-abi/uroce-engine.h), which has their comments.
 */
#ifndef UR_ENGINE_INPROC_DOOR_PROCESS_H
#define UR_ENGINE_INPROC_DOOR_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include "engine/engine.h"
#include "kernel-abi/uroce-engine.h"
#include "util/list.h"

struct ur_user_mem;

/* A child of fork takes the engine over by these: fork.c. */
struct ur_process_fork {
	int life; /* a file that the process with the engine has locked */
	_Atomic u64 *acts; /* of the engine, in that file; NULL: none */
	u64 seen;	   /* of them, when it forked */
	ino_t ino;	   /* of life */
	bool held;	   /* what the child has of it is whole */
	bool locked;	   /* the locks are, while it forks */
	bool waited;	   /* for the end of the parent */
	bool parents; /* the engine is that of a process which this was forked from */
};

/* An engine, which may have several contexts of other processes. */
struct uroce_home {
	struct ur_engine *engine;
	int life;		   /* hangs up with the device; -1: none yet */
	pthread_mutex_t lock;	   /* what control's lock is in the device */
	pthread_mutex_t withdraws; /* taken before lock, by who takes events
				    * back */
};

struct uroce_guest {
	struct ur_list node; /* fork.c: of this process's */
	struct uroce_home *home;
	struct ur_engine *engine; /* home's */
	struct ur_ectx *ectx;
	struct ur_user_mem *mem;
	int fd;
	/* 1, and 0 in a child of fork: its page is wiped. Behind it, whether the child may
	 * have the engine. */
	volatile u32 *own;
	u32 objects;
	bool apart; /* the context is another process's */
	int left_sender; /* then: of a channel that has no queue any more; -1: none */
	u64 ring_room;	  /* then: bytes that its rings may still have */
	u32 realm;	  /* then: of its queue pairs; 0: none */
	_Atomic u32 vain; /* others.c: polls */
	struct ur_process_fork fork;
	struct ur_list channels;     /* completion_queues.c */
	_Atomic bool channels_ended; /* those that no queue uses */
	struct ur_easync *async;     /* NULL: none yet */
};

/* A descriptor by which the program waits for this engine: fork.c. */
struct ur_process_wait {
	struct ur_list node;
	struct uroce_guest *guest;
	int fd, copy;
	dev_t dev;
	ino_t ino;
	ino_t end; /* what the number is in a child; 0: what it was */
};

/* Makes fd the end of a file in children of fork, for as long as it is the same file there and the
 * child has no engine. copy: another descriptor of that file. Returns 0 or -errno. */
int ur_process_wait_add(struct ur_process_wait *wait, struct uroce_guest *guest,
			int fd, int copy);
/* Ends that. */
void ur_process_wait_del(struct ur_process_wait *wait);

/* Prepare the engine for children of fork, and end that. The first returns 0 or -errno. */
int ur_process_fork_add(struct uroce_guest *guest);
void ur_process_fork_del(struct uroce_guest *guest);
/* The door's adopt. */
int ur_process_adopt(struct uroce_guest *guest, int wait);

/* others.c: its engine is one of the process's, and is none any more: waits for the threads that
 * run it, or are about to. */
void ur_process_others_add(struct uroce_guest *guest);
void ur_process_others_del(const struct uroce_guest *guest);
/* Takes a turn for each of the others that nobody polls, now and then. The caller has polled from's
 * queues in vain. */
void ur_process_visit_others(struct uroce_guest *from);
/* This is a child of fork. A handler may call it. */
void ur_process_others_forked(void);

struct uroce_guest_cq {
	struct uroce_guest *guest;
	struct ur_ecq *cq;
	struct ur_process_channel *channel; /* or NULL */
};

struct uroce_guest_srq {
	struct uroce_guest *guest;
	struct ur_esrq *srq;
};

/* An XRC target, which lasts as long as one of those who opened it. */
struct ur_process_target {
	struct ur_eqp *qp;
	u32 xrcdn;
	u32 openers;
};

struct uroce_guest_qp {
	struct uroce_guest *guest;
	struct ur_eqp *qp;
	struct ur_process_target *target; /* or NULL */
	struct ur_eqp_ref *ref; /* with target: whose events are its own */
	u32 users; /* raw.c: rules, and of a work queue those that spread to it */
	u32 wq_state;
	struct uroce_guest_qp **table; /* to which it spreads, or NULL */
	u32 table_size;
};

/* targets.c: make a target, or open one, as qp, whose guest is filled, and end what qp has of it. Return 0,
 * as ur_eqp_create(), or as the door's open_qp. guest->lock is held. */
int ur_process_make_target(struct uroce_guest_qp *qp,
			   const struct uroce_guest_qp_init *init,
			   struct uroce_create_qp_resp *resp);
int ur_process_open_target(struct uroce_guest_qp *qp,
			   const struct uroce_guest_qp_init *init);
void ur_process_close_target(struct uroce_guest_qp *qp,
			     struct ur_events_left *async);

int ur_process_create_cq(struct uroce_guest *guest,
			 const struct uroce_guest_cq_init *init,
			 struct uroce_guest_cq **cq,
			 struct uroce_create_cq_resp *resp);
int ur_process_modify_cq(struct uroce_guest_cq *cq, u16 count, u16 period_us);
int ur_process_resize_cq(struct uroce_guest_cq *cq, u32 entries,
			 struct uroce_resize_cq_resp *resp);
int ur_process_destroy_cq(struct uroce_guest_cq *cq, u32 read[2]);
/* Hangs up the guest's channels that no queue uses: the device has gone. Its engine calls it, in a turn. */
void ur_process_end_channels(void *guest);
/* Returns how many of a queue's events the program has read, and takes the others
 * back. Releases guest->lock meanwhile; withdraws is held. */
u32 ur_process_take_back(struct uroce_guest *guest,
			 const struct ur_events_left *left);
int ur_process_create_qp(struct uroce_guest *guest,
			 const struct uroce_guest_qp_init *init,
			 struct uroce_guest_qp **qp,
			 struct uroce_create_qp_resp *resp);
int ur_process_open_qp(struct uroce_guest *guest,
		       const struct uroce_guest_qp_init *init,
		       struct uroce_guest_qp **qp);
int ur_process_may_modify_qp(struct uroce_guest_qp *qp,
			     const struct uroce_engine_qp *attr, u32 mask);
int ur_process_modify_qp(struct uroce_guest_qp *qp,
			 const struct uroce_engine_qp *attr, u32 mask);
void ur_process_query_qp(struct uroce_guest_qp *qp,
			 struct uroce_engine_qp *attr);
int ur_process_mcast(struct uroce_guest_qp *qp, const u8 gid[16], u32 attach);
int ur_process_destroy_qp(struct uroce_guest_qp *qp, u32 *read);
int ur_process_create_srq(struct uroce_guest *guest,
			  const struct uroce_guest_srq_init *init,
			  struct uroce_guest_srq **srq,
			  struct uroce_create_srq_resp *resp);
int ur_process_resize_srq(struct uroce_guest_srq *srq, u32 max_wr,
			  struct uroce_create_srq_resp *resp);
int ur_process_limit_srq(struct uroce_guest_srq *srq, u32 limit);
u32 ur_process_query_srq(struct uroce_guest_srq *srq);
int ur_process_destroy_srq(struct uroce_guest_srq *srq, u32 *read);
int ur_process_create_ah(struct uroce_guest *guest, u32 pdn,
			 const struct uroce_engine_path *path,
			 struct uroce_guest_ah **ah, u32 *number);
void ur_process_destroy_ah(struct uroce_guest_ah *ah);
#if UROCE_WITH_RAW_PACKET
int ur_process_has_raw(struct uroce_guest *guest);
int ur_process_borrow_raw(struct uroce_guest *guest,
			  const struct uroce_engine_raw *raw);
int ur_process_modify_wq(struct uroce_guest_qp *wq, u32 state);
int ur_process_create_flow(struct uroce_guest_qp *qp,
			   const struct uroce_engine_flow *init,
			   struct uroce_guest_counts *counts,
			   struct uroce_guest_flow **flow);
void ur_process_destroy_flow(struct uroce_guest_flow *flow);
/* With guest->lock: makes a queue pair that was just made spread its frames, or destroys it; and one
 * that is destroyed has spread them. The first returns 0 or -errno. */
int ur_process_spread(struct uroce_guest_qp *qp,
		      const struct uroce_guest_rss *rss);
void ur_process_unspread(struct uroce_guest_qp *qp);
#else
static inline int ur_process_spread(struct uroce_guest_qp *qp,
				    const struct uroce_guest_rss *rss)
{
	return 0;
}
static inline void ur_process_unspread(struct uroce_guest_qp *qp)
{
}
#endif
int ur_process_reg_mr(struct uroce_guest *guest,
		      const struct uroce_guest_mr_init *init,
		      struct uroce_guest_mr **mr);
int ur_process_rereg_mr(struct uroce_guest_mr *mr, u32 flags,
			const struct uroce_guest_mr_init *init);
int ur_process_dereg_mr(struct uroce_guest_mr *mr);
int ur_process_alloc_mw(struct uroce_guest *guest, u32 pdn, u32 type, u32 rkey,
			struct uroce_guest_mw **mw);
void ur_process_dealloc_mw(struct uroce_guest_mw *mw);

#endif
