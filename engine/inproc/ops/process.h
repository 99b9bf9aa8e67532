/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The inside of liburoce-engine.so: the functions of struct uroce_engine_ops and the calls, whose comments are
 * in kernel-abi/uroce-engine.h, and their objects.
 */
#ifndef UR_ENGINE_INPROC_OPS_PROCESS_H
#define UR_ENGINE_INPROC_OPS_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include "engine/engine.h"
#include "kernel-abi/uroce-engine.h"
#include "util/list.h"

struct ur_user_mem;

/* State by which a child of fork takes over the engine: fork.c. */
struct ur_process_fork {
	int lock_fd; /* a file that the process with the engine has locked */
	_Atomic u64 *
		acts; /* the engine's count of actions, in that file; or NULL */
	u64 seen;     /* its value at the fork */
	ino_t ino;    /* inode of lock_fd */
	bool frozen; /* the engine was stopped at the fork, so the child's copy is consistent */
	bool locked;  /* the engine's locks are held during the fork */
	bool waited;  /* the child has waited for the end of the parent */
	bool parents; /* the engine belongs to an ancestor of this process */
};

/* An engine, which may have several contexts of other processes. */
struct uroce_home {
	struct ur_engine *engine;
	int liveness;	      /* hangs up with the device; -1: none yet */
	pthread_mutex_t lock; /* serves as the control lock of the device */
	/* Held while events are withdrawn; taken before lock. */
	pthread_mutex_t withdraws;
};

struct uroce_ectx {
	const struct uroce_engine_ops *ops;
	struct ur_list node; /* fork.c: in the list of this process */
	struct uroce_home *home;
	struct ur_engine *engine; /* home's */
	struct ur_ectx *ectx;
	struct ur_user_mem *mem;
	struct ur_user_mem *parents; /* memory of the parent, or NULL */
	int fd;
	/* 1, and 0 in a child of fork: its page is wiped. Behind it, whether the child may
	 * have the engine. */
	volatile u32 *own;
	u32 objects;
	bool apart; /* the context is another process's */
	/* With apart. ring_room: bytes of rings it was begun with. ring_bytes: those it has. realm: of its queue
	 * pairs; 0: none. */
	u64 ring_room, ring_bytes;
	u32 realm;
	_Atomic u32 vain; /* polls that found nothing (cross_poll.c) */
	struct ur_process_fork fork;
	struct ur_list channels;     /* completion_queues.c */
	_Atomic bool channels_ended; /* channels without queues were hung up */
	struct ur_easync *async;     /* NULL: none yet */
};

/* A descriptor by which the program waits for this engine: fork.c. */
struct ur_process_wait {
	struct ur_list node;
	struct uroce_ectx *ctx;
	int fd, copy;
	dev_t dev;
	ino_t ino;
	ino_t end; /* inode behind fd in a child; 0: the original file */
};

/* Replaces fd in children of fork by a file that has hung up, until the child takes the engine over. Does not touch fd where the
 * child has another file there. copy: another descriptor of the same file. Returns 0 or -errno. */
int ur_process_wait_add(struct ur_process_wait *wait, struct uroce_ectx *ctx,
			int fd, int copy);
/* Undoes that. */
void ur_process_wait_del(struct ur_process_wait *wait);

/* Prepare the engine for children of fork; undo that. The first returns 0 or -errno. */
int ur_process_fork_add(struct uroce_ectx *ctx);
void ur_process_fork_del(struct uroce_ectx *ctx);
/* The take_over() of the table. */
int ur_process_take_over(struct uroce_ectx *ctx, int wait);

/* cross_poll.c: add the engine to those of the process; remove it, and wait for threads that run it or are
 * about to. */
void ur_process_cross_poll_add(struct uroce_ectx *ctx);
void ur_process_cross_poll_del(const struct uroce_ectx *ctx);
/* After a poll in vain of a queue of "from": now and then takes a turn for each other engine that nobody
 * polls. */
void ur_process_cross_poll(struct uroce_ectx *from);
/* Records that this process is a child of fork. May be called in an atfork handler. */
void ur_process_cross_poll_forked(void);

struct uroce_ecq {
	struct uroce_ectx *ctx;
	struct ur_ecq *cq;
	struct ur_process_channel *channel; /* or NULL */
};

struct uroce_esrq {
	struct uroce_ectx *ctx;
	struct ur_esrq *srq;
};

/* An XRC target, which lives as long as one of its openers. */
struct ur_process_target {
	struct ur_eqp *qp;
	u32 xrcdn;
	u32 openers;
};

struct uroce_eqp {
	struct uroce_ectx *ctx;
	struct ur_eqp *qp;
	struct ur_process_target *target; /* or NULL */
	struct ur_eqp_ref *ref; /* with target: whose events are its own */
	u32 users; /* raw.c: rules, and of a work queue those that spread to it */
	u32 wq_state;
	struct uroce_eqp **table; /* to which it spreads, or NULL */
	u32 table_size;
};

/* targets.c: make an XRC target for qp, open an existing one for it, and close it. qp->ctx is set. Return 0, as
 * ur_eqp_create(), or as open_qp() of the table. ctx->home->lock is held. */
int ur_process_make_target(struct uroce_eqp *qp,
			   const struct uroce_eqp_init *init,
			   struct uroce_create_qp_resp *resp);
int ur_process_open_target(struct uroce_eqp *qp,
			   const struct uroce_eqp_init *init);
void ur_process_close_target(struct uroce_eqp *qp,
			     struct ur_events_left *async);

/* Hangs up the context's channels without queues, since the device was removed. Called by its engine in a turn. */
void ur_process_end_channels(void *ctx);
/* Withdraws the unread events of a queue, and returns how many the program has read.
 * ctx->home->withdraws and ctx->home->lock are held; releases the latter meanwhile. */
u32 ur_process_take_back(struct uroce_ectx *ctx,
			 const struct ur_events_left *left);

/* Calls (engine_ops.c). ctx->home->lock is held, and to destroy queues ctx->home->withdraws. */
typedef int ur_process_call(struct uroce_ectx *ctx, struct uroce_call *call);

/* Puts the object into *call, or frees it where err, the result of making it, is an error. Returns err. */
static inline int ur_process_made(struct uroce_call *call, void *object,
				  int err)
{
	if (err)
		free(object);
	else
		call->it = object;
	return err;
}

ur_process_call ur_process_create_cq, ur_process_modify_cq,
	ur_process_resize_cq, ur_process_destroy_cq, ur_process_create_srq,
	ur_process_resize_srq, ur_process_limit_srq, ur_process_query_srq,
	ur_process_destroy_srq, ur_process_create_ah, ur_process_destroy_ah,
	ur_process_create_qp, ur_process_open_qp, ur_process_may_modify_qp,
	ur_process_modify_qp, ur_process_query_qp, ur_process_mcast,
	ur_process_destroy_qp, ur_process_set_parent, ur_process_reg_mr,
	ur_process_rereg_mr, ur_process_dereg_mr, ur_process_alloc_mw,
	ur_process_dealloc_mw;
#if UROCE_WITH_RAW_PACKET
ur_process_call ur_process_has_raw, ur_process_use_raw, ur_process_modify_wq,
	ur_process_create_flow, ur_process_destroy_flow;
/* ur_process_spread() makes a new queue pair spread its frames; after an error it has destroyed the queue
 * pair. ur_process_unspread() ends that for a queue pair that is destroyed. ctx->home->lock is held. The first
 * returns 0 or -errno. */
int ur_process_spread(struct uroce_eqp *qp, const struct uroce_eqp_rss *rss);
void ur_process_unspread(struct uroce_eqp *qp);
#else
static inline int ur_process_spread(struct uroce_eqp *qp,
				    const struct uroce_eqp_rss *rss)
{
	return 0;
}
static inline void ur_process_unspread(struct uroce_eqp *qp)
{
}
#endif

#endif
