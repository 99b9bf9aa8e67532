// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <pthread.h>
#include <unistd.h>
#include "engine/inproc/fork_pause.h"
#include "util/os/clock.h"
#include "util/os/task_stat.h"

/* A daemon's parent ends within UR_FORK_PAUSE_NS, even if it waits until its child has forked again. This
 * limit is for busy processors; the retries of a peer last longer. */
#define LATE_NS 40000000u
/* A program that forks again within this time is no daemon's parent. */
#define OFTEN_NS 100000000u

static bool read_clock(clockid_t clock, u64 *ns)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) < 0)
		return false;
	*ns = (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
	return true;
}

bool ur_fork_pause_begins(struct ur_fork_pause *r)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);
	bool often = r->on || (r->stayed && now - r->stayed < OFTEN_NS);

	r->on = !often && !pthread_getcpuclockid(pthread_self(), &r->clock) &&
		read_clock(r->clock, &r->clock_since);
	if (!r->on)
		r->stayed = now;
	r->since = now;
	r->forker = gettid();
	return r->on;
}

/* Returns whether the thread that forked has run since, sleeps, or has ended. */
static bool has_gone_on(const struct ur_fork_pause *r, u64 now)
{
	struct ur_task_stat st;
	u64 ran;

	if (now - r->since < UR_FORK_PAUSE_NS)
		return false;
	if (now - r->since >= LATE_NS || !read_clock(r->clock, &ran) ||
	    ran - r->clock_since >= UR_FORK_PAUSE_NS)
		return true;
	return !ur_task_stat(r->forker, &st) && st.state != 'R';
}

bool ur_fork_pause_is_over(struct ur_fork_pause *r)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	if (!has_gone_on(r, now))
		return false;
	ur_fork_pause_used(r, now);
	return true;
}

void ur_fork_pause_used(struct ur_fork_pause *r, u64 now)
{
	r->on = false;
	r->stayed = now;
}
