/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Send and receive queues and their owners: rq_ring.c, srq_ring.c, qp_ring.c,
 * eqp.c. The functions that the transport calls are in transport/host.h. */
#ifndef UR_ENGINE_CORE_QUEUES_H
#define UR_ENGINE_CORE_QUEUES_H

#include <pthread.h>
#include "engine/core/cq.h"
#include "engine/core/ectx.h"
#include "engine/core/ring_io.h"
#include "transport/host.h"

struct ur_adverse_qp;
struct ur_rss;

/* A receive queue: of a QP or an SRQ. */
struct ur_erq {
	struct ur_ring ring;
	struct ur_ectx *ectx; /* NULL: no ring */
	bool want_kick;
	struct ur_list kick_node; /* in engine->kicks */
	struct ur_esrq *srq;
	struct ur_eqp *qp;
};

/* Host callbacks, see transport/host.h; rq_ctx is a struct ur_erq. */
int ur_rq_next(void *rq_ctx, struct ur_recv_wr *wr);
u32 ur_rq_count(void *rq_ctx);
void ur_rq_want_kick(void *rq_ctx, bool on);
/* Initializes a receive queue without a ring. ectx NULL: it never gets one. */
void ur_rq_init(struct ur_erq *rq, struct ur_ectx *ectx);
/* Handles a doorbell of the receive queue: checks whether receives were posted. */
void ur_rq_ring(struct ur_erq *rq);

struct ur_esrq {
	struct ur_db_client db_client;
	struct ur_ectx *ectx;
	struct ur_srq *srq;
	struct ur_erq rq;
	struct ur_block block;
	u32 max_wr, max_sge, stride;
	struct ur_ecq *cq;
	struct ur_easync *async;
	struct ur_evsrc async_src;
};

void ur_host_srq_event(void *srq_ctx, enum ur_event ev);

/* A further receiver of the events of an XRC target QP. */
struct ur_eqp_ref {
	struct ur_list node;
	struct ur_eqp *qp;
	struct ur_easync *async;
	struct ur_evsrc src;
};

struct ur_eqp {
	struct ur_db_client db_client;
	struct ur_ectx *ectx; /* NULL: XRC_TGT */
	struct ur_engine *engine;
	struct ur_qp *qp;
	u32 qpn;
	u8 type;
	bool has_av; /* WQEs carry an address vector segment */
	bool has_rings;
	struct ur_ring sq;
	struct ur_erq rq;
	struct ur_block block;
	struct ur_eqp_init init;
	struct ur_eqp_ref self;
	struct ur_list refs; /* ur_eqp_ref, including self if it has async */
	bool have_path;
	struct ur_epath path;
	/* Failure of a request of its own; of one of its peer. at 0: none. */
	struct ur_failure failure[2];
	struct ur_rss *rss; /* spreads its frames; NULL: not spread */
	uid_t uid;	    /* creator */
	pid_t pid;
	/* record.c: PSN of the next work request, valid in that recording. */
	u32 record_psn, record_run;
	/* transmit.c: node in a list of the context; fills that this draining may still take. */
	struct ur_list rung;
	u32 drain_fills;
	struct ur_adverse_qp *adverse; /* NULL: an ordinary card */
};

/* Host callbacks, see transport/host.h; qp_ctx is a struct ur_eqp. */
int ur_sq_next(void *qp_ctx, struct ur_send_wr *wr);
void ur_sq_retire(void *qp_ctx, u32 ring_end);
/* Handles a doorbell of the queue pair: checks both of its rings. */
void ur_qp_doorbell(struct ur_db_client *db_client);
/* Puts another traffic class and hop limit into its packets; a query returns the program's
 * values as before. */
void ur_eqp_take_class(struct ur_engine *engine, struct ur_eqp *qp,
		       u8 traffic_class, u8 hop_limit);

/* The layout of a queue pair's rings in its block of memory. */
struct ur_qp_rings {
	u32 sq_bbs, rq_entries, rq_stride;
	u32 sq_hdr, sq_off, rq_hdr, rq_off;
	u64 bytes; /* 0: no rings */
};

/* Computes the layout for the capabilities of *init in *l, and raises these. Returns as
 * ur_qp_caps_grant(). */
int ur_qp_rings_plan(struct ur_eqp_init *init, struct ur_qp_rings *l);
/* Allocates the block and makes the rings in it. The engine must not know qp
 * yet. Returns 0 or -ENOMEM. */
int ur_qp_rings_place(struct ur_eqp *qp, struct ur_ectx *ectx,
		      const struct ur_qp_rings *l);
void ur_host_qp_event(void *qp_ctx, enum ur_event ev);
void ur_host_qp_failed(void *qp_ctx, const struct ur_failure *failure);
/* Clears the queue pair's failures, since it is in RESET again. */
void ur_eqp_forget_failures(struct ur_eqp *qp);

#endif
