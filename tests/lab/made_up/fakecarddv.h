/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Functions of the made-up provider's own, as a vendor's header has them; two have
 * names of a real vendor's: they hand out the memory of queues, and open a device.
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
struct ibv_context *mlx5dv_open_device(struct ibv_device *device, void *attr);

#endif
