// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion channels are made by the verbs library alone. Their sending ends, which the engine of this process needs
 * with the first queue, are kept by the preload library.
 */
#include "guest.h"
#include "kernel-abi/uroce-resumes.h"

void ur_guest_keep_senders(const struct uroce_context *ctx, int number)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (preload)
		preload->has_engine(number, ctx->guest);
}
