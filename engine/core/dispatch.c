// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine's descriptors: waiting for them, and serving them. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/core/dispatch.h"
#include "util/os/clock.h"
#include "util/os/valgrind.h"

#define EVENTS 64

void ur_dispatch_end_rx(struct ur_engine *e)
{
	if (!e->rx_any)
		return;
	e->rx_any = false;
	e->last_rx = e->now;
	ur_idle_serve(&e->idle, &e->idle.wire);
	ur_refused_log(e);
}

int ur_dispatch_wait(int epoll_fd, struct epoll_event *ev, int max,
		     const struct timespec *timeout)
{
	static _Atomic bool is_older; /* Linux before 5.11 */
	int n;
	u64 ms;

	/* Valgrind may not know the call, and would report it. */
	if (!ur_is_under_valgrind() &&
	    !atomic_load_explicit(&is_older, memory_order_relaxed)) {
		n = epoll_pwait2(epoll_fd, ev, max, timeout, NULL);
		if (n >= 0 || errno != ENOSYS)
			return n;
		atomic_store_explicit(&is_older, true, memory_order_relaxed);
	}
	ms = (u64)timeout->tv_sec * 1000 +
	     ((u64)timeout->tv_nsec + 999999) / 1000000;
	/* Not through libc: a library may wrap epoll_wait() and fake the time. */
	return (int)syscall(SYS_epoll_pwait, epoll_fd, ev, max,
			    (int)ur_min_u64(ms, INT32_MAX), NULL, 0);
}

bool ur_dispatch(struct ur_engine *e, const struct timespec *timeout)
{
	struct epoll_event ev[EVENTS];
	static const struct timespec zero;
	bool sleeps = timeout->tv_sec + timeout->tv_nsec;
	u64 unwatched = e->unwatched;
	bool woken;
	int n;

	if (sleeps)
		ur_mailbox_release(e);
	n = ur_dispatch_wait(e->epoll_fd, ev, EVENTS, timeout);
	if (n < 0)
		ur_inproc_check_error(e, errno);
	woken = n > 0;
	if (sleeps)
		ur_mailbox_acquire(e);
	/* Another thread ran the engine and ended a watch, so fetch the events
	 * again. Edge-triggered events (eventfds) only had to end the sleep; the
	 * others are reported again. */
	if (unwatched != e->unwatched) {
		unwatched = e->unwatched;
		e->lost_events |= n > 0;
		n = ur_dispatch_wait(e->epoll_fd, ev, EVENTS, &zero);
	}
	if (e->inproc.pause.on)
		return false;
	if (n > 0 && e->config.inproc)
		ur_inproc_acted(e);
	if (woken && sleeps)
		e->now = ur_clock_ns(CLOCK_MONOTONIC);
	if (n > 0)
		ur_inproc_copies_begin(e);
	/* A function may end the watch of a later event. The remaining events are
	 * reported again. */
	for (int i = 0; i < n && unwatched == e->unwatched; i++) {
		struct ur_watch *w = ev[i].data.ptr;

		w->fn(w, ev[i].events);
	}
	e->lost_events |= n > 0 && unwatched != e->unwatched;
	if (n > 0)
		ur_inproc_turn_ends(e);
	ur_dispatch_end_rx(e);
	return woken || n > 0;
}
