/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of what the program has: one struct ur_watched for each verbs and
 * rdma_cm object, with the stack of its creation. It is found by its handle (the
 * pointer that the program has) or its number (QPN, lkey).
 *
 * One lock guards all of it. It is never held across a call into the libraries
 * underneath, nor across code of the program.
 */
#ifndef UR_CHECK_OBJECT_H
#define UR_CHECK_OBJECT_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/stack.h"

enum ur_kind {
	UR_KIND_CONTEXT,
	UR_KIND_PD,
	UR_KIND_MR,
	UR_KIND_MW,
	UR_KIND_CQ,
	UR_KIND_CHANNEL,
	UR_KIND_QP,
	UR_KIND_SRQ,
	UR_KIND_AH,
	UR_KIND_CM_CHANNEL,
	UR_KIND_CM_ID,
	UR_KINDS
};

/* How many other objects one needs. */
#define UR_NEEDS 5

struct ur_watched {
	enum ur_kind kind;
	const void *handle;
	const void *context; /* struct ibv_context *, or NULL */
	uint32_t number;     /* QPN, lkey */
	struct ur_stack made;
	struct ur_watched *needs[UR_NEEDS]; /* NULL: nothing */
	unsigned int users;		    /* how many objects need this one */
	unsigned int async_unacked; /* events got and not acknowledged */
	bool inherited;		    /* a forked child's parent made it */
	struct ur_watched *same_handle, *same_number; /* chains of the table */
	struct ur_watched *older, *newer;	      /* all of the kind */
};

/* A request that the program posted and knows no end of. */
struct ur_request {
	uint64_t wr_id;
	struct ur_code_place place; /* of the posting */
	enum ibv_wr_opcode opcode;
	bool receive, signaled, inlined, fenced, has_sum, done;
	uint32_t length, rkey, sum;
	uint64_t remote_addr;
	int sges; /* of which UR_REQUEST_SGES are kept */
	struct ibv_sge sge[4];
};

#define UR_REQUEST_SGES 4

/* Requests in the order of their posting. */
struct ur_queue {
	struct ur_request *ring;
	uint32_t size, head, used; /* the oldest is ring[head] */
	uint32_t count;		   /* of used: not done */
	uint32_t signaled;	   /* of count: those that make completions */
	uint32_t fetches;	   /* of count: READs and atomics */
};

struct ur_watched_context {
	struct ur_watched o;
	struct ibv_context_ops ops; /* as the provider set them */
	struct verbs_context verbs; /* the same, where there is one */
	char provider[32];	    /* "mlx5", "uroce"; "" where not known */
};

struct ur_watched_mr {
	struct ur_watched o;
	uint64_t iova;
	void *addr; /* NULL: not memory of this process */
	size_t length;
	uint32_t rkey;
	unsigned int access;
	bool readable; /* its bytes may be looked at */
};

struct ur_watched_cq {
	struct ur_watched o;
	int cqe;
	struct ibv_cq_ex *ex; /* NULL: not extended */
	struct ibv_cq_ex real;
	const void *channel; /* struct ibv_comp_channel *, or NULL */
	unsigned int events_unacked;
	bool armed, armed_solicited, polled_since;
	struct ur_stack arm_place;
	uint32_t expected; /* completions that posted requests will make */
	/* Held while the queue is polled: kept comes before what is in it. */
	pthread_mutex_t poll;
	struct ibv_wc kept;
	bool has_kept;	 /* taken from the queue, not yet given */
	uint64_t poller; /* thread between start_poll and end_poll, or 0 */
	bool started;
	bool unseen;		/* the program may poll it unseen */
	uint64_t failed_thread; /* whose last ibv_start_poll() failed */
	/* of the completion that is read: it is an empty message's, after
	 * others that were not, and nobody asked for its length yet */
	bool empty_unread;
	uint32_t empty_qpn;
};

struct ur_watched_srq {
	struct ur_watched o;
	uint32_t max_wr, max_sge;
	struct ur_queue recv;
	bool unseen; /* receives of it may complete unseen */
};

struct ur_watched_qp {
	struct ur_watched o;
	enum ibv_qp_type type;
	struct ur_watched_cq *send_cq, *recv_cq; /* NULL: none that is known */
	struct ur_watched_srq *srq;
	struct ibv_qp_cap cap;
	bool sq_sig_all, of_cm;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr; /* what was set by ibv_modify_qp() */
	int attr_mask;		 /* of what is in attr */
	struct ur_queue send, recv;
	bool unseen;	      /* the program may post and poll unseen */
	bool not_empty;	      /* a message that had bytes was received */
	struct ibv_qp_ex *ex; /* NULL: no ibv_wr_*() */
	struct ibv_qp_ex real;
	uint64_t builder; /* thread between wr_start and its end, or 0 */
	struct ur_request *build;
	uint32_t built, build_room;
	struct ur_code_place build_place;
};

struct ur_watched_cm {
	struct ur_watched o;
	unsigned int events_unacked;
	bool removed, has_qp, seen_param;
	uint8_t initiator_depth; /* of the request */
};

void ur_table_lock(void);
void ur_table_unlock(void);
/* Takes the lock if it is free. Returns whether it did. */
bool ur_table_trylock(void);

/* Returns a name for people: "queue pair". */
const char *ur_kind_name(enum ur_kind kind);

/*
 * Makes and enters an object of @size bytes, zeroed, that begins with a struct
 * ur_watched. Returns NULL without memory: then it is not watched.
 */
void *ur_watch(enum ur_kind kind, size_t size, const void *handle,
	       const struct ibv_context *context, uint32_t number,
	       const struct ur_stack *made);

/* Return the object with that handle, or with that number (context NULL: in any
 * context), or NULL. */
void *ur_watched(enum ur_kind kind, const void *handle);
void *ur_watched_number(enum ur_kind kind, const void *context,
			uint32_t number);

/* Gives the object another number. */
void ur_watch_number(struct ur_watched *object, uint32_t number);

/* Notes that @object needs @needed (either may be NULL). */
void ur_watch_needs(struct ur_watched *object, struct ur_watched *needed);
/* Notes that it needs no object of that kind any more. */
void ur_watch_needs_no(struct ur_watched *object, enum ur_kind kind);

/* Takes an object out of the table before it is destroyed, since its handle may
 * be another's at once. One of the next two follows. */
void ur_watch_out(struct ur_watched *object);
/* Frees the object: it was destroyed. */
void ur_watch_gone(struct ur_watched *object);
/* Puts the object back: its destruction failed. */
void ur_watch_back(struct ur_watched *object);

/* Returns the newest object of a kind, or NULL; ->older leads on. */
struct ur_watched *ur_watched_newest(enum ur_kind kind);

/* Returns the newest memory region of @context with this key that is gone, or
 * NULL: the last some hundred are remembered. */
const struct ur_watched_mr *ur_dead_mr(const void *context, uint32_t lkey);

/* Marks all objects as the parent's: after fork(), in the child. */
void ur_watch_inherited(void);

/* Prints "queue pair 17 (0x55...), created at main (a.c:3)". */
void ur_watched_print(FILE *out, const struct ur_watched *object, bool whole);

#endif
