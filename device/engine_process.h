/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine processes that this uroced has had started (device/apart/). A user's contexts
 * have one together, on all devices; a uid that may be several users' has one for each
 * context. One that nobody uses ends after a moment. All under the control lock.
 */
#ifndef UR_DEVICE_ENGINE_PROCESS_H
#define UR_DEVICE_ENGINE_PROCESS_H

#include <stdbool.h>
#include "kernel-abi/uroce-apart.h"

struct ur_daemon;
struct ur_engine_process;
struct ur_session;

/* The process has ended, and its contexts with it. */
typedef void ur_engine_process_ended(const struct ur_daemon *daemon,
				     const struct ur_engine_process *process);

/* Finds the engine process of the session's user, or has one started, in *process, which counts one more context until
 * ur_engine_process_put(). ended is called when it ends before. Returns 0 or -errno. */
int ur_engine_process_get(struct ur_session *s, ur_engine_process_ended *ended,
			  struct ur_engine_process **process);
bool ur_engine_process_has_ended(const struct ur_engine_process *process);
void ur_engine_process_put(struct ur_engine_process *process);
/* Gives it a context. fds: UROCE_APART_FDS of them, -1 for none, which stay the caller's. Returns 0 or -errno. Waits
 * for nobody. */
int ur_engine_process_give(const struct ur_engine_process *process,
			   struct uroce_apart_context *context, const int *fds);

#endif
