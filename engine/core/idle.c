// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Decides what the engine does after iterations that found nothing, by the cost
 * of past waits: see idle.h. */
#include "engine/core/idle.h"
#include "util/yield.h"

/* The cost of two thread switches. */
#define HOLD_NS 1500u
/* The same if processors are contended: the cost of a sleep and a wake-up. */
#define CONTENDED_HOLD_NS 4000u
/* An engine that is alone on its processor need not yield again at once. */
#define ALONE_NS 1000u
/* If long yields lose LOST_LIMIT_NS within LOST_WINDOW_NS, the processors are
 * contended. */
#define LOST_LIMIT_NS  12000000u
#define LOST_WINDOW_NS 20000000u
/* How long they then count as contended. */
#define CONTENDED_NS 200000000u

void ur_idle_init(struct ur_idle *i, bool hold, u64 spin_ns, u64 now)
{
	*i = (struct ur_idle){
		.hold = hold, .spin_ns = spin_ns, .last_work = now};
	i->served = &i->wire;
}

void ur_idle_forget(struct ur_idle *i, struct ur_spin_predictor *predictor)
{
	if (i->served == predictor)
		i->served = &i->wire;
	if (i->holding == predictor)
		i->holding = NULL;
}

static void end_hold(struct ur_idle *i, bool work)
{
	if (i->holding)
		ur_spin_learn(i->holding, work);
	i->holding = NULL;
}

void ur_idle_work(struct ur_idle *i, u64 now)
{
	i->last_work = now;
	i->waiting = false;
	end_hold(i, true);
}

/* Returns whether to go on waiting with the processor held. */
static bool hold(struct ur_idle *i, u64 now, u64 ns)
{
	if (!i->waiting) {
		i->waiting = true;
		i->hold_until = now + ns;
		if (ur_spin_predict(i->served))
			i->holding = i->served;
	}
	if (!i->holding)
		return false;
	if (now < i->hold_until)
		return true;
	end_hold(i, false);
	return false;
}

enum ur_idle_mode ur_idle_wait(struct ur_idle *i, u64 now)
{
	bool contended = now < i->contended_until;

	if (i->hold) {
		if (hold(i, now, contended ? CONTENDED_HOLD_NS : HOLD_NS))
			return UR_IDLE_HOLD;
	} else if (contended && now - i->last_work < CONTENDED_HOLD_NS) {
		return UR_IDLE_HOLD; /* work comes in batches */
	}
	if (contended || now - i->last_work >= i->spin_ns)
		return UR_IDLE_SLEEP;
	return now < i->yield_at ? UR_IDLE_HOLD : UR_IDLE_YIELD;
}

/*
 * If yields take long time and again, another thread does not yield: a program that
 * spins on its memory. Yielding to it costs its whole slice, while a thread that
 * wakes runs before it. So for a while the engine sleeps almost at once.
 */
void ur_idle_yielded(struct ur_idle *i, u64 before, u64 after)
{
	u64 lost = after - before;

	i->yield_at =
		i->hold && lost < UR_YIELD_SHORT_NS ? after + ALONE_NS : 0;
	if (lost < UR_YIELD_LONG_NS)
		return;
	if (after - i->lost_since > LOST_WINDOW_NS) {
		i->lost_since = before;
		i->lost_ns = 0;
	}
	i->lost_ns += lost;
	if (i->lost_ns > LOST_LIMIT_NS) {
		i->contended_until = after + CONTENDED_NS;
		i->lost_ns = 0;
	}
}
