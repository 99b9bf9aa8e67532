// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fork of a program with an engine: stops it during the fork, pauses it in the parent, and continues
 * the child's copy. */
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/inproc/guest_fork.h"
#include "util/os/clock.h"
#include "util/os/timed_lock.h"

/* Longest wait for the engine: the thread that runs it may wait for a page fault that the forking thread
 * has to serve. */
#define HOLD_NS 100000000u

static int count(struct ur_engine *e, _Atomic u64 *acts)
{
	e->guest.acts = acts;
	return 0;
}
UR_ENGINE_CALL(1, count, _Atomic u64 *);

void ur_engine_count_acts(struct ur_engine *e, _Atomic u64 *acts)
{
	call_count(e, acts);
}

/* Waits for events and bursts that are being sent: the child could not know which of them were sent. */
static bool hold(struct ur_engine *e)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + HOLD_NS;

	while (ur_lock_within(&e->mailbox.owner, HOLD_NS)) {
		if (!e->events_away && !ur_asides_end(e))
			return true;
		pthread_mutex_unlock(&e->mailbox.owner);
		if (ur_clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		sched_yield();
	}
	return false;
}

bool ur_engine_hold(struct ur_engine *e)
{
	bool holds;

	if (ur_post_batch_is_left(&e->guest.batch))
		ur_engine_drive(e, true);
	atomic_store(&e->asides.quiet, true);
	holds = hold(e);
	atomic_store(&e->asides.quiet, false);
	return holds;
}

void ur_engine_let_go(struct ur_engine *e)
{
	pthread_mutex_unlock(&e->mailbox.owner);
}

/* Replaces the descriptor of an earlier fork. */
void ur_engine_rest(struct ur_engine *e, int fd)
{
	struct epoll_event ev = {.data.u32 = UR_NAP_CHILD};
	bool rests = ur_fork_rest_begins(&e->guest.rest);

	ur_guest_rested(e);
	e->guest.rest.on = rests;
	if (!rests) {
		if (fd >= 0)
			close(fd);
		ur_mailbox_wake(e);
		return;
	}
	e->guest.rest_fd = fd;
	if (fd >= 0)
		epoll_ctl(e->guest.nap_fd, EPOLL_CTL_ADD, fd, &ev);
}

int ur_engine_resume(struct ur_engine *e)
{
	ur_guest_rested(e);
	ur_chores_resume(e);
	e->guest.rest = (struct ur_fork_rest){0};
	atomic_store(&e->guest.naps, false);
	atomic_store(&e->asleep, 0);
	return ur_guest_start(e);
}
