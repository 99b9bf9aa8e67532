/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The provider's part of a legal but hostile card (doc/adverse.md): undefined
 * fields of completions, and small limits. A context that asked for neither has
 * the ordinary operations, and pays nothing.
 */
#ifndef UR_PROVIDERS_UROCE_ADVERSE_H
#define UR_PROVIDERS_UROCE_ADVERSE_H

#include "uroce.h"

/* The limits of a context with UROCE_ADVERSE_LIMITS. */
#define UR_ADVERSE_SGE	     1
#define UR_ADVERSE_WR	     16
#define UR_ADVERSE_RD_ATOMIC 1

/* Fills *req with the settings of UROCE_ADVERSE (`uroce run --adverse`).
 * Returns 0, or EINVAL for a setting without a meaning. */
int ur_adverse_ask(struct uroce_alloc_ucontext_req *req);
/* Stores in ctx which settings the device granted. req is NULL for an imported
 * context. Returns 0, or EOPNOTSUPP where an older device granted none of those
 * requested. */
int ur_adverse_take(struct uroce_context *ctx,
		    const struct uroce_alloc_ucontext_req *req,
		    const struct uroce_alloc_ucontext_resp *resp);
/* Returns the context's implementation of op, which may be the ordinary one. */
void *ur_adverse_op(const struct uroce_context *ctx, enum ur_op op);

#endif
