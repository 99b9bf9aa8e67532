// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The handle of a deregistered region or of a destroyed queue pair is written to an eventfd (struct
 * uroce_engine_async), which the device reads before the context's next command. That halves the time
 * of a pair of ibv_reg_mr() and ibv_dereg_mr(). There is room for one handle; the next command that
 * makes or destroys an object may make it free.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "ectx.h"

/* The lowest bits of ctx->destroy_hint. */
#define FREE	0u
#define WRITING 1u
#define WRITTEN 2u
#define NEVER	3u
#define BITS	3u

static bool write_hint(struct uroce_context *ctx, u64 hint)
{
	u64 was = ur_ectx_hint_mark(ctx), now;

	/* The next uroced does not read this eventfd. */
	if (ctx->destroy_hint_fd < 0 || (was & BITS) != FREE ||
	    __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE) ||
	    !__atomic_compare_exchange_n(&ctx->destroy_hint, &was,
					 was + WRITING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	/* A raw system call, since write(2) is a cancellation point. */
	now = syscall(SYS_write, ctx->destroy_hint_fd, &hint, sizeof(hint)) ==
			      sizeof(hint)
		      ? was + WRITTEN
		      : was + FREE;
	was += WRITING;
	__atomic_compare_exchange_n(&ctx->destroy_hint, &was, now, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return (now & BITS) == WRITTEN;
}

bool ur_ectx_hint_dereg_mr(const struct uroce_mr *mr)
{
	return !mr->map && write_hint(ur_to_ctx(mr->vmr.ibv_mr.context),
				      mr->vmr.ibv_mr.handle);
}

bool ur_ectx_hint_destroy_qp(const struct uroce_qp *qp)
{
	struct uroce_context *ctx = ur_to_ctx(qp->ibv.context);

	/* Others may be members of groups or have openers elsewhere, and uroced would refuse. */
	return ctx->hints & UROCE_HINTS_QP && !qp->shared &&
	       (qp->ibv.qp_type == IBV_QPT_RC ||
		qp->ibv.qp_type == IBV_QPT_UC) &&
	       write_hint(ctx, qp->ibv.handle | UROCE_HINT_QP);
}

u64 ur_ectx_hint_mark(const struct uroce_context *ctx)
{
	return __atomic_load_n(&ctx->destroy_hint, __ATOMIC_ACQUIRE);
}

void ur_ectx_hint_taken(struct uroce_context *ctx, u64 mark)
{
	if ((mark & BITS) == WRITTEN)
		__atomic_compare_exchange_n(&ctx->destroy_hint, &mark,
					    mark - WRITTEN + BITS + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int ur_ectx_execute(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	u64 mark = ur_ectx_hint_mark(ur_to_ctx(context));
	int err = execute_ioctl(context, cmd);

	if (!err)
		ur_ectx_hint_taken(ur_to_ctx(context), mark);
	return err;
}

void ur_ectx_end_hints(struct uroce_context *ctx)
{
	__atomic_fetch_or(&ctx->destroy_hint, NEVER, __ATOMIC_ACQ_REL);
}
