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

/* Gives a new context its own engine, if that is asked for and the device lends
 * one, and puts its doorbell page into *resp. EINVAL: the environment asks for none
 * that there is; EOPNOTSUPP: it cannot be in this process. */
int ur_guest_open(struct uroce_context *ctx,
		  struct uroce_alloc_ucontext_resp *resp);
/* Calls a driver method with one attribute in, or none (in_id 0), and one out. */
int ur_guest_call(struct ibv_context *context, u16 object, u16 method,
		  u16 in_id, u32 in_len, u64 in, u16 out_id, void *out,
		  u16 out_len);
/* Ends it. All its objects are gone, or will not be used any more. */
void ur_guest_close(struct uroce_context *ctx);
/* Returns the operation of a context with an engine of its own; NULL: it is not
 * supported. */
void *ur_guest_op(const struct uroce_context *ctx, enum ur_op op);

/* Make here too what the device has just made, and put the places of its rings
 * into *resp. */
int ur_guest_create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		       const struct ibv_comp_channel *channel, u32 flags,
		       struct uroce_create_cq_resp *resp);
/* Resizes it to the entries in *resp, where the device has put them, and puts the place of its ring there. */
int ur_guest_resize_cq(struct uroce_cq *cq, struct uroce_resize_cq_resp *resp);
int ur_guest_modify_cq(struct uroce_cq *cq,
		       const struct ibv_modify_cq_attr *attr);
/* Destroys what is here of it, and waits until the program has acknowledged the events that it has
 * read. EBUSY: a queue uses it. */
int ur_guest_destroy_cq(struct uroce_cq *cq);
int ur_guest_destroy_srq(struct uroce_srq *srq);
void ur_guest_destroy_qp(struct uroce_qp *qp);
int ur_guest_create_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       const struct ibv_qp_init_attr_ex *attr,
		       struct uroce_create_qp_resp *resp);
/* max_sge: as the device has given it. */
int ur_guest_create_srq(struct uroce_context *ctx, struct uroce_srq *srq,
			const struct ibv_pd *pd, u32 max_sge,
			struct uroce_create_srq_resp *resp);
/* The device has modified it as mask (enum ibv_srq_attr_mask) says, and put its own new ring into *moved. */
int ur_guest_modify_srq(struct uroce_srq *srq, const struct ibv_srq_attr *attr,
			int mask, struct uroce_create_srq_resp *moved);
int ur_guest_create_ah(struct uroce_context *ctx, struct uroce_ah *ah,
		       const struct ibv_pd *pd);
/* The device has modified the queue pair: takes over what mask says. state: the
 * one asked for, where mask has it. */
int ur_guest_modify_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       enum ibv_qp_state state, int mask);
void ur_guest_query_qp(const struct uroce_context *ctx,
		       const struct uroce_qp *qp, struct ibv_qp_attr *attr);
int ur_guest_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		    const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		    int access);
int ur_guest_reg_null_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			 const struct ibv_pd *pd);
int ur_guest_reg_dm_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		       const struct ibv_pd *pd, const struct uroce_dm *dm,
		       u64 offset, u64 length, int access);
/* flags: enum ibv_rereg_mr_flags. */
int ur_guest_rereg_mr(struct uroce_mr *mr, int flags, const struct ibv_pd *pd,
		      u64 addr, u64 length, int access);
/* Before the device does: EBUSY where windows are bound to it. */
int ur_guest_dereg_mr(struct uroce_mr *mr);
int ur_guest_alloc_mw(struct uroce_context *ctx, struct uroce_mw *mw);
void ur_guest_dealloc_mw(struct uroce_mw *mw);
int ur_guest_alloc_dm(struct uroce_context *ctx, struct uroce_dm *dm,
		      const struct ibv_alloc_dm_attr *attr,
		      struct uroce_alloc_dm_resp *resp);
/* Before the device does. EBUSY: a region uses it. */
int ur_guest_free_dm(struct uroce_dm *dm, struct ibv_context *context);

/* Returns whether there is an engine of this process that the caller may use:
 * not in a child of fork. */
static inline bool ur_guest_is_here(const struct uroce_context *ctx)
{
	return ctx->guest && *ctx->db.own;
}

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
