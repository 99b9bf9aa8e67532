// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Polls that find nothing. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

#include "allowed.h"
#include "poller.h"
#include "util/os/clock.h"
#include "util/yield.h"

__thread struct ur_poller ur_poller __attribute__((tls_model("initial-exec")));

#define NAP_NS 20000 /* the system's slack makes 70 us of it */
/* Polls between two checks that the device exists: many enough that a check
 * costs nothing. */
#define ALIVE_POLLS 8192
/* Yields beside the device before this thread leaves its processor: initially,
 * and at most. */
#define PATIENCE      64u
#define MOST_PATIENCE 16384u
/* Polls between two yields of a poller that is alone. */
#define ALONE_POLLS 32u
/* Time to poll without yielding beside a thread that does not yield. Its turn
 * is a time slice of milliseconds, so little of it is lost. */
#define KEEP_NS 100000u
/* Reading the clock costs a tenth of a yield. So one yield in this many is
 * timed; after a long one, all of the next ones. */
#define TIMED_EVERY 16u
#define TIMED_AFTER 256u

/* The async event file ends with the device process; or, if that was killed, only without an engine
 * in this process. */
bool ur_poller_is_gone(const struct uroce_context *ctx)
{
	struct pollfd pfd = {.fd = ctx->ibv.async_fd};

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP | POLLERR));
}

/*
 * Moves the thread off the device's processor. When three threads have two
 * processors, two share one, and chance decides which. Two programs that talk
 * to each other take turns anyway, and lose nothing when they share; a device
 * that shares with one of them is in its way and late for the other. The
 * scheduler sees three that always run. So a thread that finds itself beside
 * the device moves away: for a moment it excludes the device's processor. If
 * the scheduler moves it back, it tries less and less often.
 */
static void leave_cpu(u32 cpu)
{
	cpu_set_t all, others;

	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all))
		return;
	others = all;
	CPU_CLR(cpu, &others);
	if (!CPU_COUNT(&others) ||
	    sched_setaffinity(0, sizeof(others), &others))
		return;
	sched_setaffinity(0, sizeof(all), &all);
}

static void make_room(struct ur_poller *p, u32 cpu)
{
	if (!p->patience)
		p->patience = PATIENCE;
	if (++p->beside < p->patience)
		return;
	p->beside = 0;
	p->patience = ur_min_u32(2 * p->patience, MOST_PATIENCE);
	leave_cpu(cpu);
}

/*
 * A yield to a computing thread gives it a whole slice, milliseconds, while the
 * device answers in a thousandth of that. So after such a yield this thread
 * keeps the processor for as long.
 */
static void yield(struct ur_poller *p)
{
	u64 before, after;

	if (p->timed) {
		p->timed--;
	} else if (!p->alone && ++p->yields % TIMED_EVERY) {
		sched_yield();
		return;
	}
	before = ur_clock_ns(CLOCK_MONOTONIC);
	sched_yield();
	after = ur_clock_ns(CLOCK_MONOTONIC);
	p->alone = after - before < UR_YIELD_SHORT_NS;
	p->looked = 0;
	if (after - before < UR_YIELD_LONG_NS)
		return;
	p->turn_until = after + (after - before);
	p->waits_since = after;
	p->timed = TIMED_AFTER;
}

static bool keeps(struct ur_poller *p, bool first)
{
	u64 now;

	if (!p->turn_until)
		return false;
	now = ur_clock_ns(CLOCK_MONOTONIC);
	if (first)
		p->waits_since = now;
	if (now < p->turn_until)
		return now - p->waits_since < KEEP_NS;
	p->turn_until = 0;
	return false;
}

/* Yields, possibly to the device. */
static void step_aside(const struct uroce_context *ctx, struct ur_poller *p)
{
	const struct uroce_db_page *db = ctx->db.page;
	u32 at = __atomic_load_n(&db->device_cpu, __ATOMIC_RELAXED);
	bool asleep = __atomic_load_n(&db->asleep, __ATOMIC_RELAXED);
	bool beside = at && !asleep && at == (u32)sched_getcpu() + 1;

	if (!beside && p->alone && ++p->looked < ALONE_POLLS)
		return;
	if (beside && ctx->few_cpus)
		make_room(p, at - 1);
	/* 0: the device does not report its processor, or this thread runs the
	 * engine. */
	if ((!at && (!ctx->engine || ctx->engine_apart)) || beside ||
	    !keeps(p, p->empty == ctx->yield_after))
		yield(p);
}

void ur_poller_wait(const struct uroce_context *ctx)
{
	struct ur_poller *p = &ur_poller;

	if (!ctx->yield_after || p->empty < ctx->yield_after ||
	    !ur_calls_allowed())
		return;
	if (p->naps) {
		p->naps--;
		ur_nap_ns(NAP_NS);
	} else {
		step_aside(ctx, p);
	}
}

int ur_poller_empty(const struct uroce_context *ctx)
{
	struct ur_poller *p = &ur_poller;

	if (++p->empty % ALIVE_POLLS || !ur_calls_allowed())
		return 0;
	return ur_poller_is_gone(ctx) ? EIO : 0;
}
