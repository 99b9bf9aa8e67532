// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Moves an engine's thread to its program's processor. */
#include "engine/core/cpu_placement.h"

#include <sched.h>
#include "util/os/filtered.h"

/* Length of a yield in which another thread has run. */
#define SHARED_NS 1500u
/* Number of such yields in a row that is no accident. */
#define APART 4u
/* Least time between two moves. A move costs 10 us, caches aside. */
#define AGAIN_NS 1000000u

void ur_cpu_placement_armed(struct ur_cpu_placement *b)
{
	int cpu = sched_getcpu();

	atomic_store_explicit(&b->cpu, cpu < 0 ? 0 : (u32)cpu + 1,
			      memory_order_relaxed);
}

/* Moves the calling thread by binding it for a moment. Its allowed processors may differ from the
 * program's: it moves only to an allowed one. */
static void move_to(u32 cpu)
{
	cpu_set_t before, there;

	if (cpu >= CPU_SETSIZE || ur_is_filtered() ||
	    sched_getaffinity(0, sizeof(before), &before) ||
	    !CPU_ISSET(cpu, &before))
		return;
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (!sched_setaffinity(0, sizeof(there), &there))
		sched_setaffinity(0, sizeof(before), &before);
}

bool ur_cpu_placement_check(struct ur_cpu_placement *b, u32 here, ur_time now,
			    u64 ns)
{
	u32 cpu = atomic_load_explicit(&b->cpu, memory_order_relaxed);

	if (ns < SHARED_NS || !cpu)
		return false;
	if (here + 1 == cpu) {
		b->away = 0;
		return false;
	}
	if (++b->away < APART || now - b->moved_at < AGAIN_NS)
		return false;
	b->away = 0;
	b->moved_at = now;
	return true;
}

void ur_cpu_placement_yielded(struct ur_cpu_placement *b, ur_time now, u64 ns)
{
	if (ur_cpu_placement_check(b, (u32)sched_getcpu(), now, ns))
		move_to(atomic_load_explicit(&b->cpu, memory_order_relaxed) -
			1);
}
