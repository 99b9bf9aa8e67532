/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Contexts whose engine is in this process (kernel-abi/uroce-engine.h), where the
 * environment asks for it: UROCE_ENGINE=process. The device still answers all
 * commands; what it answers is then made here too. A context without one pays
 * nothing but a look at a pointer. Functions return 0 or a positive errno.
 */
#ifndef UR_PROVIDER_GUEST_H
#define UR_PROVIDER_GUEST_H

#include "uroce.h"

/* Gives a new context its own engine, if that is asked for, and puts its doorbell
 * page into *resp. EINVAL: the environment asks for none that there is; EPERM,
 * EOPNOTSUPP: the device lends nothing to this process. */
int ur_guest_open(struct uroce_context *ctx,
		  struct uroce_alloc_ucontext_resp *resp);
/* Ends it. All its objects are gone, or will not be used any more. */
void ur_guest_close(struct uroce_context *ctx);
/* Returns the operation of a context with an engine of its own; NULL: it is not
 * supported. */
void *ur_guest_op(const struct uroce_context *ctx, enum ur_op op);

/* Make here too what the device has just made, and put the places of its rings
 * into *resp. */
int ur_guest_create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		       struct uroce_create_cq_resp *resp);
int ur_guest_create_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       const struct ibv_qp_init_attr_ex *attr,
		       struct uroce_create_qp_resp *resp);
/* The device has modified the queue pair: takes over what mask says. */
int ur_guest_modify_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       int mask);
void ur_guest_query_qp(const struct uroce_context *ctx,
		       const struct uroce_qp *qp, struct ibv_qp_attr *attr);
int ur_guest_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		    const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		    int access);

/* Returns whether there may be more completions than a poll has found: the
 * context's engine had a turn. */
static inline bool ur_guest_poll(const struct uroce_context *ctx)
{
	if (__builtin_expect(!ctx->guest, 1))
		return false;
	ctx->door->poll(ctx->guest);
	return true;
}

#endif
