// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Chooses the processor that the engine runs on. */
#include "engine/core/place.h"

/* If programs got no completion event for this time, or for so many wake-ups, they
 * poll. */
#define TOLD_NS 2000000u
#define UNTOLD	8u

static void note_thread(struct ur_place *p)
{
	__atomic_store_n(&p->thread, ur_follow_thread(), __ATOMIC_RELAXED);
}

void ur_place_release(struct ur_place *p)
{
	u32 thread = __atomic_exchange_n(&p->thread, 0, __ATOMIC_RELAXED);

	if (thread)
		ur_follow_release(thread);
}

static void leave_processor(struct ur_place *p)
{
	if (!p->follow.cpu)
		return;
	p->follow = (struct ur_follow){0};
	ur_follow_nobody();
	note_thread(p);
}

/* Returns whether a completion event was sent since the last call. */
static bool take_told(struct ur_place *p, ur_time now)
{
	if (!p->told)
		return false;
	p->told = false;
	p->told_at = now;
	p->untold = 0;
	return true;
}

void ur_place_woken(struct ur_place *p, ur_time now)
{
	u32 cpu = p->cpu;

	p->cpu = 0;
	if (take_told(p, now)) {
		ur_follow(&p->follow, cpu);
		note_thread(p);
	} else if (++p->untold >= UNTOLD) {
		leave_processor(p);
	}
}

void ur_place_idle(struct ur_place *p, ur_time now)
{
	if (!take_told(p, now) && now - p->told_at > TOLD_NS)
		leave_processor(p);
}
