/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Descriptors that the engine's epoll watches. Engine thread only. */
#ifndef UR_ENGINE_CORE_WATCH_H
#define UR_ENGINE_CORE_WATCH_H

#include "util/bytes.h"

struct ur_engine;

/* The object that epoll returns: embedded in the owner of the descriptor. */
struct ur_watch {
	void (*fn)(struct ur_watch *watch, u32 events);
};

/* Makes the engine thread call watch->fn when fd has one of events (EPOLL*). fd
 * and watch stay the caller's. Call ur_engine_unwatch() before closing fd. Returns
 * 0 or -errno. */
int ur_engine_watch(struct ur_engine *engine, int fd, u32 events,
		    struct ur_watch *watch);
/* Ends the watch of fd. */
void ur_engine_unwatch(struct ur_engine *engine, int fd);

#endif
