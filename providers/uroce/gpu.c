// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions of GPU memory. The posting thread copies inline data, and cannot copy these. Contexts
 * without such a region do not check. */
#include "uroce.h"

static struct uroce_mr *regions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool ur_gpu_has(const struct ibv_context *context, u64 addr, u64 length)
{
	bool any = false;

	pthread_mutex_lock(&lock);
	for (const struct uroce_mr *mr = regions; mr && !any;
	     mr = mr->next_gpu) {
		u64 first = mr->engine_init.addr;

		any = mr->vmr.ibv_mr.context == context &&
		      addr < first + mr->engine_init.length &&
		      addr + length > first;
	}
	pthread_mutex_unlock(&lock);
	return any;
}

static bool is_refused(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	bool any = false;

	if (!(wr->send_flags & IBV_SEND_INLINE) &&
	    wr->opcode != IBV_WR_ATOMIC_WRITE)
		return false;
	for (int i = 0; i < wr->num_sge && !any; i++)
		any = ur_gpu_has(qp->context, wr->sg_list[i].addr,
				 wr->sg_list[i].length);
	return any;
}

/* Posts the requests before such a one, which fails, as any request that cannot
 * be posted. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad_wr)
{
	struct ibv_send_wr **at = &wr, *bad;
	int err = 0;

	while (*at && !is_refused(qp, *at))
		at = &(*at)->next;
	bad = *at;
	*at = NULL;
	if (wr)
		err = uroce_post_send(qp, wr, bad_wr);
	*at = bad;
	if (err || !bad)
		return err;
	*bad_wr = bad;
	return EINVAL;
}

void ur_gpu_add(struct uroce_mr *mr)
{
	struct ibv_context *context = mr->vmr.ibv_mr.context;

	pthread_mutex_lock(&lock);
	mr->next_gpu = regions;
	regions = mr;
	pthread_mutex_unlock(&lock);
	__atomic_store_n(&ur_to_ctx(context)->has_gpu, true, __ATOMIC_RELAXED);
	__atomic_store_n(&context->ops.post_send, post_send, __ATOMIC_RELAXED);
}

void ur_gpu_del(const struct uroce_mr *mr)
{
	pthread_mutex_lock(&lock);
	for (struct uroce_mr **p = &regions; *p; p = &(*p)->next_gpu) {
		if (*p == mr) {
			*p = mr->next_gpu;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}
