/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engines in a process of their own: a struct uroce_engine_ops whose calls are
 * messages (kernel-abi/uroce-apart.h). The provider posts and polls in shared
 * memory; the engine's thread does the work. Once the engine process has ended,
 * each call returns -EIO.
 */
#ifndef UR_PROVIDERS_UROCE_APART_H
#define UR_PROVIDERS_UROCE_APART_H

#include <stdbool.h>
#include "kernel-abi/uroce-apart.h"

/* open() takes the socket to the engine process, which it then owns, in place of the uverbs file;
 * its argument "open" is NULL. posted() and datagram() do nothing, since the doorbell's wake_fd is
 * info->wake_fd. */
extern const struct uroce_engine_ops ur_apart_ops;
/* Makes the functions call more_room(arg) where the context's memory limit is reached, and try again if it returns
 * true. Without it, or if it returns false, they return -ENOMEM. Call it once, before there are objects. */
void ur_apart_set_room(struct uroce_ectx *ctx, bool (*more_room)(void *arg),
		       void *arg);
/* Adds to *counts, which flow rules name, what those have counted. Any thread. */
void ur_apart_update_counts(struct uroce_ectx *ctx,
			    const struct uroce_eflow_counts *counts);

#endif
