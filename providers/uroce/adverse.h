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

/* Fills what the environment (UROCE_ADVERSE, from `uroce run --adverse`) asks
 * of the device. Returns 0, or EINVAL where it makes no sense. */
int ur_adverse_ask(struct uroce_alloc_ucontext_req *req);
/* Takes what the device gave. Returns 0, or EOPNOTSUPP where it is older and
 * gave nothing of what was asked for. req NULL: of an imported context. */
int ur_adverse_take(struct uroce_context *ctx,
		    const struct uroce_alloc_ucontext_req *req,
		    const struct uroce_alloc_ucontext_resp *resp);
/* Returns the operation of the context in place of the ordinary one, which may
 * be the same. */
void *ur_adverse_op(const struct uroce_context *ctx, enum ur_op op);

#endif
