// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Wraps vendors' functions that expose the memory of queues. Posts and polls
 * there are not seen, so such an object is no longer checked.
 */
#include <errno.h>
#include <stdint.h>

#include "check/front.h"
#include "check/real.h"

static void forget(enum ur_kind kind, const void *handle)
{
	ur_table_lock();
	if (kind == UR_KIND_QP)
		ur_qp_unseen(ur_watched(kind, handle));
	else if (kind == UR_KIND_CQ)
		ur_cq_unseen(ur_watched(kind, handle));
	else
		ur_srq_unseen(ur_watched(kind, handle));
	ur_table_unlock();
}

/*
 * struct mlx5dv_obj of <infiniband/mlx5dv.h>, struct mlx4dv_obj and struct
 * manadv_obj are pairs of pointers: a verbs object, and a description of its
 * memory. Bit N of type means pair N. mana has no shared receive queues there.
 */
static int init_obj(int (*real)(void *, uint64_t), void *obj, uint64_t type,
		    bool srq)
{
	void *const *pairs = obj;
	int err;

	if (!real)
		return EOPNOTSUPP;
	err = real(obj, type);
	if (err)
		return err;
	if (type & 1)
		forget(UR_KIND_QP, pairs[0]);
	if (type & 2)
		forget(UR_KIND_CQ, pairs[2]);
	if (srq && type & 4)
		forget(UR_KIND_SRQ, pairs[4]);
	return 0;
}

/* Our declarations: vendors' headers need not be installed. */
typedef int (*init_obj_fn)(void *obj, uint64_t type);

#define INIT_OBJ(name, library, srq)                                           \
	UR_FRONT int name(void *obj, uint64_t type);                           \
	UR_FRONT int name(void *obj, uint64_t type)                            \
	{                                                                      \
		static void *found;                                            \
		return init_obj(                                               \
			(init_obj_fn)ur_real_try(library, #name, &found), obj, \
			type, srq);                                            \
	}

INIT_OBJ(mlx5dv_init_obj, "libmlx5.so.1", true)
INIT_OBJ(mlx4dv_init_obj, "libmlx4.so.1", true)
INIT_OBJ(manadv_init_obj, "libmana.so.1", false)

/* <infiniband/mlx5dv.h>'s variant of ibv_open_device(), with attributes of the
 * vendor. */
UR_FRONT struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						void *attr);
UR_FRONT struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						void *attr)
{
	static void *found;
	struct ibv_context *(*real)(struct ibv_device *, void *) =
		(struct ibv_context * (*)(struct ibv_device *, void *))
			ur_real_try("libmlx5.so.1", "mlx5dv_open_device",
				    &found);

	if (!real)
		errno = EOPNOTSUPP;
	return ur_front_context(real ? real(device, attr) : NULL);
}

/* In <infiniband/efadv.h> since rdma-core 59. */
UR_FRONT int efadv_query_qp_wqs(struct ibv_qp *ibqp, void *sq, void *rq,
				uint32_t length);
UR_FRONT int efadv_query_qp_wqs(struct ibv_qp *ibqp, void *sq, void *rq,
				uint32_t length)
{
	static void *found;
	int (*real)(struct ibv_qp *, void *, void *, uint32_t) =
		(int (*)(struct ibv_qp *, void *, void *, uint32_t))ur_real_try(
			"libefa.so.1", "efadv_query_qp_wqs", &found);
	int err = real ? real(ibqp, sq, rq, length) : EOPNOTSUPP;

	if (!err)
		forget(UR_KIND_QP, ibqp);
	return err;
}

UR_FRONT int efadv_query_cq(struct ibv_cq *ibcq, void *attr, uint32_t length);
UR_FRONT int efadv_query_cq(struct ibv_cq *ibcq, void *attr, uint32_t length)
{
	static void *found;
	int (*real)(struct ibv_cq *, void *, uint32_t) =
		(int (*)(struct ibv_cq *, void *, uint32_t))ur_real_try(
			"libefa.so.1", "efadv_query_cq", &found);
	int err = real ? real(ibcq, attr, length) : EOPNOTSUPP;

	if (!err)
		forget(UR_KIND_CQ, ibcq);
	return err;
}
