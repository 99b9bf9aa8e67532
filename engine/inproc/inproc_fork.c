// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fork of a program with an engine: stops it during the fork, pauses it in the parent, and continues
 * the child's copy. */
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/inproc/inproc_fork.h"
#include "util/os/clock.h"
#include "util/os/timed_lock.h"

/* Longest wait for the engine: the thread that runs it may wait for a page fault that the forking thread
 * has to serve. */
#define FREEZE_NS 100000000u

static int count(struct ur_engine *e, _Atomic u64 *acts)
{
	e->inproc.acts = acts;
	return 0;
}
UR_ENGINE_CALL(1, count, _Atomic u64 *);

void ur_engine_count_acts(struct ur_engine *e, _Atomic u64 *acts)
{
	call_count(e, acts);
}

/* Waits for events and bursts that are being sent: the child could not know which of them were sent. */
static bool freeze(struct ur_engine *e)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + FREEZE_NS;

	while (ur_lock_within(&e->mailbox.owner, FREEZE_NS)) {
		if (!e->events_away && !ur_asides_end(e))
			return true;
		pthread_mutex_unlock(&e->mailbox.owner);
		if (ur_clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		sched_yield();
	}
	return false;
}

bool ur_engine_freeze(struct ur_engine *e)
{
	bool frozen;

	if (ur_post_batch_is_left(&e->inproc.batch))
		ur_engine_drive(e, true);
	atomic_store(&e->asides.quiet, true);
	frozen = freeze(e);
	atomic_store(&e->asides.quiet, false);
	return frozen;
}

void ur_engine_thaw(struct ur_engine *e)
{
	pthread_mutex_unlock(&e->mailbox.owner);
}

/* Replaces the descriptor of an earlier fork. */
void ur_engine_pause(struct ur_engine *e, int fd)
{
	struct epoll_event ev = {.data.u32 = UR_NAP_CHILD};
	bool pauses = ur_fork_pause_begins(&e->inproc.pause);

	ur_inproc_end_pause(e);
	e->inproc.pause.on = pauses;
	if (!pauses) {
		if (fd >= 0)
			close(fd);
		ur_mailbox_wake(e);
		return;
	}
	e->inproc.pause_fd = fd;
	if (fd >= 0)
		epoll_ctl(e->inproc.nap_fd, EPOLL_CTL_ADD, fd, &ev);
}

int ur_engine_restart(struct ur_engine *e)
{
	ur_inproc_end_pause(e);
	ur_chores_restart(e);
	e->inproc.pause = (struct ur_fork_pause){0};
	atomic_store(&e->inproc.naps, false);
	atomic_store(&e->asleep, 0);
	return ur_inproc_start(e);
}
