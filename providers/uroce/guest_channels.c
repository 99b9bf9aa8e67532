// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verbs library alone creates completion channels. The preload library keeps their sending ends
 * until an engine needs them for a channel's first queue.
 */
#include "guest.h"
#include "kernel-abi/uroce-resumes.h"

void ur_guest_keep_senders(const struct uroce_context *ctx, int number)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (preload)
		preload->has_engine(number, ctx->guest);
}
