// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The processor of a connection's thread. */
#include "util/os/follow.h"

#include <sched.h>
#include <string.h>

#define LEAST 2u
#define MOST  64u

bool ur_follow_look(struct ur_follow *f, u32 cpu)
{
	if (!cpu)
		return false;
	if (!f->patience)
		f->patience = LEAST;
	if (cpu == f->cpu) {
		f->missed = 0;
		if (f->patience > LEAST)
			f->patience--;
		return false;
	}
	if (++f->missed < f->patience)
		return false;
	f->cpu = cpu;
	f->missed = 0;
	f->patience = ur_min_u32(2 * f->patience, MOST);
	return true;
}

void ur_follow(struct ur_follow *f, u32 cpu)
{
	cpu_set_t set;

	if (cpu > CPU_SETSIZE || !ur_follow_look(f, cpu))
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void ur_follow_nobody(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}
