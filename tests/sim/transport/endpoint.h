/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The objects of applications: queue pairs, receive queues, completion queues;
 * how they are made, connected, and how the transport reads and fills them. */
#ifndef UR_TESTS_SIM_TRANSPORT_ENDPOINT_H
#define UR_TESTS_SIM_TRANSPORT_ENDPOINT_H

#include "tests/sim/transport/world.h"

/* Callbacks of struct ur_host_ops; contexts are sim_qp, sim_rq, sim_cq. */
int endpoint_sq_next(void *qp_ctx, struct ur_send_wr *wr);
void endpoint_sq_retire(void *qp_ctx, u32 ring_end);
int endpoint_rq_next(void *rq_ctx, struct ur_recv_wr *wr);
u32 endpoint_rq_count(void *rq_ctx);
void endpoint_rq_want_kick(void *rq_ctx, bool on);
int endpoint_cq_push(void *cq_ctx, const struct ur_wc *wc);
void endpoint_qp_event(void *qp_ctx, enum ur_event ev);
void endpoint_srq_event(void *srq_ctx, enum ur_event ev);

/* A receive queue's memory and slots; open: registered, and made an SRQ, on
 * the host's present port; close: no more. Slots are all free then. */
struct sim_rq *endpoint_rq_new(struct sim_host *h);
void endpoint_rq_open(struct sim_rq *rq, bool srq, bool xrc);
void endpoint_rq_close(struct sim_rq *rq);
void endpoint_rq_free(struct sim_rq *rq);
/* All slots free, nothing posted. */
void endpoint_rq_reset(struct sim_rq *rq);
/* Give rq->want receives to the transport, as far as slots are free. */
void endpoint_rq_fill(struct sim_rq *rq, u32 count);

/* Queue pairs of a pair: made, then connected with fresh flows. */
void endpoint_pair_create(struct sim_world *w, u32 index);
void endpoint_pair_connect(struct sim_pair *p);
/* Make again what a restart of a host took. */
void endpoint_pair_recreate(struct sim_pair *p);
/* Flows of the epoch are over (checked before by the oracle). */
void endpoint_pair_disconnect(struct sim_pair *p);
void endpoint_pair_destroy(struct sim_pair *p);
void endpoint_pair_free(struct sim_pair *p);
/* Move one end to error, as an application may. */
void endpoint_qp_error(struct sim_qp *qp);
/* Moves it to RESET, whatever is outstanding: no completion of that may come
 * any more. */
void endpoint_qp_reset(struct sim_qp *qp);
/* To SQD and back to RTS. */
void endpoint_qp_drain(struct sim_qp *qp);
void endpoint_qp_resume(struct sim_qp *qp);

void endpoint_ud_create(struct sim_world *w, u32 index);
void endpoint_ud_destroy(struct sim_world *w, u32 index);
void endpoint_ud_free(struct sim_world *w, u32 index);

/* Name of a queue pair for messages: host and number. Static storage. */
const char *endpoint_name(const struct sim_qp *qp);

#endif
