/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's descriptors. Engine thread only. */
#ifndef UR_ENGINE_CORE_DISPATCH_H
#define UR_ENGINE_CORE_DISPATCH_H

#include <sys/epoll.h>
#include <time.h>
#include "engine/core/engine_impl.h"

/* Waits up to timeout for the engine's descriptors, and serves them. Returns
 * whether any was ready. */
bool ur_dispatch(struct ur_engine *engine, const struct timespec *timeout);
/* Does what epoll_pwait2() does. On kernels before 5.11, and emulators without
 * that call, it rounds the timeout up to milliseconds. */
int ur_dispatch_wait(int epoll_fd, struct epoll_event *ev, int max,
		     const struct timespec *timeout);
/* Ends a round of received datagrams: does the work that is due once for each
 * round. */
void ur_dispatch_end_rx(struct ur_engine *engine);

#endif
