// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Descriptors that the engine's thread sleeps on. */
#include <errno.h>
#include <sys/epoll.h>
#include "engine/core/engine_impl.h"

int ur_engine_watch(struct ur_engine *engine, int fd, u32 events,
		    struct ur_watch *watch)
{
	struct epoll_event ev = {.events = events, .data.ptr = watch};

	return epoll_ctl(engine->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno
								       : 0;
}

void ur_engine_unwatch(struct ur_engine *engine, int fd)
{
	epoll_ctl(engine->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	engine->unwatched++;
}
