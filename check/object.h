/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of the program's objects: one struct ur_watched for each verbs and
 * rdma_cm object, with the stack of its creation. It is found by its handle
 * (the program's pointer) or its number (QPN, lkey).
 *
 * One lock guards the table. It is never held across a call into the libraries
 * underneath or into the program.
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

/* Most objects that one object needs. */
#define UR_NEEDS 5

struct ur_watched {
	enum ur_kind kind;
	const void *handle;
	const void *context; /* struct ibv_context *, or NULL */
	uint32_t number;     /* QPN, lkey */
	struct ur_stack made;
	/* objects that this one needs, or NULL */
	struct ur_watched *needs[UR_NEEDS];
	unsigned int users; /* how many objects need this one */
	/* events received and not yet acknowledged */
	unsigned int async_unacked;
	/* created by the parent of this forked child */
	bool inherited;
	struct ur_watched *same_handle, *same_number; /* chains of the table */
	/* list of all of the kind */
	struct ur_watched *older, *newer;
};

/* A request that the program posted, and whose end it does not know. */
struct ur_request {
	uint64_t wr_id;
	struct ur_code_place place; /* where it was posted */
	enum ibv_wr_opcode opcode;
	bool receive, signaled, inlined, fenced, has_sum, done;
	uint32_t length, rkey, sum;
	uint64_t remote_addr;
	int sges; /* elements; UR_REQUEST_SGES of them are kept */
	struct ibv_sge sge[4];
};

#define UR_REQUEST_SGES 4

/* Requests in the order of their posting. */
struct ur_queue {
	struct ur_request *ring;
	uint32_t size, head, used; /* the oldest is ring[head] */
	uint32_t count;		   /* those of used that are not done */
	uint32_t signaled;	   /* those of count that make completions */
	/* those of count that are READs or atomics */
	uint32_t fetches;
};

struct ur_watched_context {
	struct ur_watched o;
	struct ibv_context_ops ops; /* as the provider set them */
	struct verbs_context verbs; /* likewise, where the context has one */
	char provider[32];	    /* such as "mlx5"; "" if unknown */
};

struct ur_watched_mr {
	struct ur_watched o;
	uint64_t iova;
	void *addr; /* NULL: not memory of this process */
	size_t length;
	uint32_t rkey;
	unsigned int access;
	bool readable; /* its bytes may be read */
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
	/* Held during a poll: the kept completion comes before those in the
	 * queue. */
	pthread_mutex_t poll;
	struct ibv_wc kept;
	bool has_kept;	 /* kept was polled, and the program has not got it */
	uint64_t poller; /* thread between start_poll and end_poll, or 0 */
	bool unseen;	 /* the program may poll it in unseen ways */
	uint64_t failed_thread; /* thread whose last ibv_start_poll() failed */
	/* The current completion is of an empty message, after others with
	 * bytes, and its length was not read yet. */
	bool empty_unread;
	uint32_t empty_qpn;
};

struct ur_watched_srq {
	struct ur_watched o;
	uint32_t max_wr, max_sge;
	struct ur_queue recv;
	bool unseen; /* its receives may complete in unseen ways */
};

struct ur_watched_qp {
	struct ur_watched o;
	enum ibv_qp_type type;
	struct ur_watched_cq *send_cq, *recv_cq; /* NULL: none, or unknown */
	struct ur_watched_srq *srq;
	struct ibv_qp_cap cap;
	bool sq_sig_all, of_cm;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr; /* as set by ibv_modify_qp() */
	int attr_mask;		 /* valid fields of attr */
	struct ur_queue send, recv;
	bool unseen;	      /* the program may post and poll in unseen ways */
	bool not_empty;	      /* has received a message with bytes */
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
	bool removed, seen_param;
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

/* Notes that @object needs @needed. Either may be NULL. */
void ur_watch_needs(struct ur_watched *object, struct ur_watched *needed);
/* Notes that the object no longer needs objects of that kind. */
void ur_watch_needs_no(struct ur_watched *object, enum ur_kind kind);

/* Takes an object out of the table before its destruction, since its handle may
 * be reused at once. ur_watch_gone() or ur_watch_back() follows. */
void ur_watch_out(struct ur_watched *object);
/* Frees an object after its destruction. */
void ur_watch_gone(struct ur_watched *object);
/* Puts the object back after its destruction failed. */
void ur_watch_back(struct ur_watched *object);

/* Does as ur_watch(), for the caller of the program, and notes that the object needs the
 * other one. Without the lock. */
void *ur_watch_made(enum ur_kind kind, size_t size, const void *handle,
		    const struct ibv_context *context, enum ur_kind needed_kind,
		    const void *needed);
/* Does as ur_watch_out() for the object with that handle. Returns it, or NULL. Without the
 * lock. */
struct ur_watched *ur_watch_ending(enum ur_kind kind, const void *handle);

/* Returns the newest object of a kind, or NULL; ->older leads on. */
struct ur_watched *ur_watched_newest(enum ur_kind kind);

/* Returns the newest destroyed memory region of @context with this key, or
 * NULL. The last few hundred are kept. */
const struct ur_watched_mr *ur_dead_mr(const void *context, uint32_t lkey);

/* Marks all objects as the parent's. In the child after fork(). */
void ur_watch_inherited(void);

/* Prints "queue pair 17 (0x55...), created at main (a.c:3)". */
void ur_watched_print(FILE *out, const struct ur_watched *object, bool whole);

#endif
