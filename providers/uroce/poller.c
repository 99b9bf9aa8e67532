// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Polls that find nothing. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "poller.h"

__thread struct ur_poller ur_poller __attribute__((tls_model("initial-exec")));

#define NAP_NS 20000 /* the system's slack makes 70 us of it */
/* A thread that only polls looks this often whether the device is still there:
 * seldom enough to cost nothing beside as many yields. */
#define ALIVE_POLLS 1024
/* Yields beside the device before its processor is left to it: the first time,
 * and at most. */
#define PATIENCE      64u
#define MOST_PATIENCE 16384u

/* The async event file ends when the device process has died. */
static bool is_gone(const struct ur_context *ctx)
{
	struct pollfd pfd = {.fd = ctx->ibv.async_fd};

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP | POLLERR));
}

/* A filter of system calls may end who asks for what it does not know. */
static bool may_ask(void)
{
	return prctl(PR_GET_SECCOMP) == 0;
}

/*
 * Of three threads for two processors two share one, and which is chance. Two
 * programs that talk to each other take turns anyway, and lose nothing when
 * they share; a device that shares with one of them is in that one's way and
 * late for the other. The scheduler sees three that always run. So who finds
 * himself beside the device moves away: for a moment its processor is none of
 * ours. Where the scheduler moves somebody back, it is tried less and less.
 */
static void leave_cpu(u32 cpu)
{
	cpu_set_t all, others;

	if (!may_ask() || cpu >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof(all), &all))
		return;
	others = all;
	CPU_CLR(cpu, &others);
	if (!CPU_COUNT(&others) ||
	    sched_setaffinity(0, sizeof(others), &others))
		return;
	sched_setaffinity(0, sizeof(all), &all);
}

static void make_room(const struct ur_context *ctx)
{
	const struct uroce_db_page *db = ctx->db.page;
	u32 at = __atomic_load_n(&db->device_cpu, __ATOMIC_RELAXED);
	struct ur_poller *p = &ur_poller;

	if (!at || at != (u32)sched_getcpu() + 1 ||
	    __atomic_load_n(&db->asleep, __ATOMIC_RELAXED))
		return;
	if (!p->patience)
		p->patience = PATIENCE;
	if (++p->beside < p->patience)
		return;
	p->beside = 0;
	p->patience = ur_min_u32(2 * p->patience, MOST_PATIENCE);
	leave_cpu(at - 1);
}

int ur_poller_empty(const struct ur_context *ctx)
{
	struct ur_poller *p = &ur_poller;

	p->empty++;
	if (ctx->yield_after && p->empty > ctx->yield_after) {
		if (p->naps) {
			p->naps--;
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		} else {
			if (ctx->few_cpus)
				make_room(ctx);
			sched_yield();
		}
	}
	if (p->empty % ALIVE_POLLS == 0 && is_gone(ctx))
		return EIO;
	return 0;
}
