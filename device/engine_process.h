/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine processes (device/apart/) of this uroced. The contexts of a user share one
 * process, on all devices; those of clients that may not open their own memory share another
 * one, which runs as uroced's user. A uid that may stand for several users has one process per
 * context. An unused process ends after a moment. Control lock held.
 */
#ifndef UR_DEVICE_ENGINE_PROCESS_H
#define UR_DEVICE_ENGINE_PROCESS_H

#include <stdbool.h>
#include "kernel-abi/uroce-apart.h"

struct ur_daemon;
struct ur_engine_process;
struct ur_session;

/* Called when the process, and so every context in it, has ended. */
typedef void ur_engine_process_ended(const struct ur_daemon *daemon,
				     const struct ur_engine_process *process);

/* Finds or starts the engine process of the session's user, in *process, and counts one
 * context in it until ur_engine_process_put(). ended is called if the process ends before
 * that. Returns 0 or -errno. */
int ur_engine_process_get(struct ur_session *s, ur_engine_process_ended *ended,
			  struct ur_engine_process **process);
bool ur_engine_process_has_ended(const struct ur_engine_process *process);
void ur_engine_process_put(struct ur_engine_process *process);
/* Sends a context to the process. fds: UROCE_APART_FDS descriptors, -1 for none; they stay
 * the caller's. Returns 0 or -errno. Does not block. */
int ur_engine_process_give(const struct ur_engine_process *process,
			   struct uroce_apart_context *context, const int *fds);

#endif
