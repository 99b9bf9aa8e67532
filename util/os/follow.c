// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Moves a connection's thread to its client's processor. */
#include "util/os/follow.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define LEAST 2u
#define MOST  64u

/* This thread's number, and its processor plus one, while it follows; else
 * 0. */
static _Thread_local u32 thread, bound_to;

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

u32 ur_follow_thread(void)
{
	/* Elsewhere: ur_follow_release() made this thread leave. */
	if (thread && (u32)sched_getcpu() + 1 != bound_to)
		thread = 0;
	return thread;
}

void ur_follow(struct ur_follow *f, u32 cpu)
{
	cpu_set_t set;

	if (f->cpu && !ur_follow_thread())
		*f = (struct ur_follow){.patience = MOST};
	if (cpu > CPU_SETSIZE || !ur_follow_look(f, cpu))
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu - 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return;
	thread = (u32)gettid();
	bound_to = cpu;
}

void ur_follow_nobody(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	thread = 0;
	sched_setaffinity(0, sizeof(all), &all);
}

void ur_follow_release(u32 which)
{
	cpu_set_t there, others, all;

	if (sched_getaffinity((pid_t)which, sizeof(there), &there) ||
	    CPU_COUNT(&there) != 1)
		return;
	memset(&all, 0xff, sizeof(all));
	CPU_XOR(&others, &all, &there);
	/* The kernel moves the thread now, and then as it likes. */
	if (!sched_setaffinity((pid_t)which, sizeof(others), &others))
		sched_setaffinity((pid_t)which, sizeof(all), &all);
}
