// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Functions of the made-up provider's own, in the manner of mlx5dv. */
#include "tests/lab/made_up/fakecarddv.h"

struct ibv_cq *(*made_new_cq)(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel);
struct ibv_qp *(*made_new_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

struct ibv_cq *fakecarddv_create_cq(struct ibv_context *context, int cqe)
{
	return made_new_cq(context, cqe, NULL);
}

struct ibv_qp *fakecarddv_create_qp(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr)
{
	return made_new_qp(pd, attr);
}

int fakecarddv_poll_memory(struct ibv_cq *cq, struct ibv_wc *wc)
{
	return made_poll_cq(cq, 1, wc);
}

struct ibv_context *(*made_new_context)(struct ibv_device *device);

struct ibv_context *mlx5dv_open_device(struct ibv_device *device, void *attr)
{
	return made_new_context(device);
}

int mlx5dv_init_obj(void *obj, uint64_t type)
{
	return 0;
}
