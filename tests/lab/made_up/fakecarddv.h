/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Functions of the made-up provider's own, as a vendor's header has them; one has
 * the name of a real vendor's, whose caller polls the queue's memory himself.
 */
#ifndef UR_TESTS_LAB_FAKECARDDV_H
#define UR_TESTS_LAB_FAKECARDDV_H

#include "tests/lab/made_up/made_up.h"

struct ibv_cq *fakecarddv_create_cq(struct ibv_context *context, int cqe);
struct ibv_qp *fakecarddv_create_qp(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
/* Takes a completion as a program does that knows where completions lie. */
int fakecarddv_poll_memory(struct ibv_cq *cq, struct ibv_wc *wc);
int mlx5dv_init_obj(void *obj, uint64_t type);

#endif
