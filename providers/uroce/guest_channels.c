// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion channels are made by the verbs library alone. Their sending ends, which the engine of this process needs
 * with the first queue, are kept by the preload library.
 */
#include "guest.h"
#include "kernel-abi/uroce-resumes.h"

void ur_guest_keep_senders(int number)
{
	if (&uroce_resumes && uroce_resumes.version == UROCE_RESUMES_VERSION)
		uroce_resumes.has_engine(number);
}
