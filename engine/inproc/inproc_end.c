// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks whether a process has only threads of engines left. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include "engine/inproc/inproc_end.h"
#include "util/os/first_thread.h"
#include "util/os/task_stat.h"

/* The process (a child of fork is another one), and the number of its threads of engines. Each
 * thread counts itself, so there are never fewer. */
static _Atomic u64 threads;

static void count(int by)
{
	u64 was = atomic_load(&threads), is, pid = (u64)syscall(SYS_getpid);

	do
		is = (was >> 32 == pid ? was : pid << 32) + (u64)by;
	while (!atomic_compare_exchange_weak(&threads, &was, is));
}

void ur_inproc_end_begins(void)
{
	count(1);
}

void ur_inproc_end_ends(void)
{
	count(-1);
}

/* Returns the number of threads including the first one, if that has ended; else, or if it is not
 * known, 0. */
static u32 threads_left(void)
{
	struct ur_task_stat st;

	return !ur_task_stat((pid_t)syscall(SYS_getpid), &st) && st.state == 'Z'
		       ? st.threads
		       : 0;
}

bool ur_inproc_end_is(u64 now, u64 *checked)
{
	if (!ur_first_thread_ends() || now - *checked < UR_INPROC_END_NS)
		return false;
	*checked = now;
	return threads_left() == (u32)atomic_load(&threads) + 1;
}
