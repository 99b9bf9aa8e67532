// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Yield and sleep. kernel-abi/uroce-ring.h explains the sleep race;
 * ur_wait_begins() is the device's half, for all its contexts at once and for
 * the mailbox. */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/core/dispatch.h"
#include "engine/faults/faults.h"
#include "engine/inproc/inproc_end.h"
#include "engine/core/ringing.h"
#include "engine/core/engine_impl.h"
#include "engine/core/wait.h"
#include "engine/wire/wire.h"
#include "util/os/first_thread.h"

/* Retry interval when the system has no memory for packets. */
#define RETRY_NS 1000000u
#define HOUR_NS	 (3600ull * 1000000000ull)

/*
 * Asks for slices a little shorter than the system's (kernel 6.12 and later, no
 * privilege). A waking thread with a shorter slice preempts one with a longer
 * slice, however small the difference. Not much shorter, since a yield forfeits a
 * slice: of two threads that yield to each other, the one with a slice of a
 * fourteenth gets fourteen turns for one of the other's.
 */
static void ask_short_slices(u32 slice_us)
{
	struct {
		u32 size, policy;
		u64 flags;
		s32 nice;
		u32 priority;
		u64 runtime, deadline, period;
	} attr = {0};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0 ||
	    attr.policy != SCHED_OTHER || !attr.runtime)
		return;
	attr.runtime =
		slice_us ? slice_us * 1000ull : attr.runtime - attr.runtime / 8;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

void ur_wait_init(struct ur_engine *e)
{
	ask_short_slices(e->opt.slice_us);
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul,
	      0ul); /* RNR timers are microseconds */
	ur_idle_init(&e->idle, e->opt.hold, e->opt.spin_us * 1000ull,
		     ur_clock_ns(CLOCK_MONOTONIC));
}

/* Returns whether threads that post run the engine themselves, and need not wake
 * it. */
static bool is_driven(const struct ur_engine *e)
{
	return e->config.inproc && !e->config.apart;
}

static void publish_asleep(struct ur_engine *e, bool asleep)
{
	if (e->config.inproc || e->forwards)
		ur_wire_sleeps(e, asleep);
	if (!is_driven(e))
		ur_list_for_each(it, &e->ringing)
			ur_doorbell_sleep(
				ur_list_entry(it, struct ur_ectx, ring_node)
					->db,
				asleep);
	atomic_store_explicit(&e->asleep, asleep, memory_order_relaxed);
}

bool ur_doorbells_rung(const struct ur_engine *e)
{
	ur_list_for_each(it, &e->ectxs)
		if (ur_doorbell_any(
			    ur_list_entry(it, struct ur_ectx, node)->db))
			return true;
	return false;
}

bool ur_work_waits(struct ur_engine *e)
{
	return atomic_load(&e->mailbox.pending) || ur_asides_wait(&e->asides) ||
	       !ur_list_empty(&e->kicks) || ur_ringing_waits(e) ||
	       ur_chores_wait(e) ||
	       ((e->config.inproc || e->forwards) && ur_wire_waits(e));
}

bool ur_wait_begins(struct ur_engine *e)
{
	ur_time until = e->kind->deadline(e);

	until = ur_min_u64(until,
			   ur_min_u64(ur_faults_deadline(e), e->wire_retry_at));
	if (e->tx_blocked)
		until = ur_min_u64(until, e->now + RETRY_NS);
	if (e->config.inproc && ur_first_thread_ends())
		until = ur_min_u64(until, e->now + UR_INPROC_END_NS);
	e->asleep_until = until;
	publish_asleep(e, true);
	atomic_thread_fence(memory_order_seq_cst);
	return !ur_work_waits(e);
}

void ur_wait_ends(struct ur_engine *e, const struct timespec *timeout)
{
	if (ur_dispatch(e, timeout))
		ur_idle_work(&e->idle, e->now);
	publish_asleep(e, false);
	ur_engine_woken(e);
	e->last_epoll = e->now;
}

struct timespec ur_wait_until(u64 until)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);
	u64 ns = until > now ? ur_min_u64(until - now, HOUR_NS) : 0;

	return (struct timespec){
		.tv_sec = (time_t)(ns / 1000000000ull),
		.tv_nsec = (long)(ns % 1000000000ull),
	};
}

void ur_wait_sleep(struct ur_engine *e)
{
	struct timespec ts = {0};

	if (ur_wait_begins(e)) {
		ts = ur_wait_until(e->asleep_until);
		e->sleeps++;
	}
	ur_wait_ends(e, &ts);
}

void ur_wait_show_cpu(struct ur_engine *e)
{
	u32 cpu = (u32)sched_getcpu() + 1;

	if (cpu == e->cpu)
		return;
	e->cpu = cpu;
	ur_list_for_each(it, &e->ringing)
		ur_doorbell_at(ur_list_entry(it, struct ur_ectx, ring_node)->db,
			       cpu);
}

void ur_wait_ring(struct ur_engine *e, struct ur_ectx *x)
{
	ur_doorbell_sleep(x->db, !is_driven(e) && atomic_load(&e->asleep));
	ur_doorbell_at(x->db, e->cpu);
	ur_ringing_add(e, x);
}

void ur_wait_add(struct ur_engine *e, struct ur_ectx *x)
{
	ur_list_add_tail(&e->ectxs, &x->node);
	ur_wait_ring(e, x);
}

static void yield(struct ur_engine *e)
{
	u64 before = ur_clock_ns(CLOCK_MONOTONIC), after;

	if (!is_driven(e))
		ur_wait_show_cpu(e);
	sched_yield();
	after = ur_clock_ns(CLOCK_MONOTONIC);
	ur_idle_yielded(&e->idle, before, after);
	if (e->inproc.armed_at)
		ur_cpu_placement_yielded(&e->inproc.placement, after,
					 after - before);
}

bool ur_wait(struct ur_engine *e)
{
	switch (ur_idle_wait(&e->idle, e->now)) {
	case UR_IDLE_HOLD:
		return false;
	case UR_IDLE_YIELD:
		yield(e);
		return false;
	case UR_IDLE_SLEEP:
		break;
	}
	ur_wait_sleep(e);
	return true;
}
