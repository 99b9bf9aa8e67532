/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How a thread of this process is, as the kernel says in /proc. */
#ifndef UR_UTIL_OS_TASK_STAT_H
#define UR_UTIL_OS_TASK_STAT_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_task_stat {
	char state; /* 'R': runs, or waits for a processor; proc_pid_stat(5) has the others */
	u32 threads; /* of the process */
};

/* Fills *st for the thread of that number. Returns 0 or -errno. Any thread. */
int ur_task_stat(pid_t tid, struct ur_task_stat *st);

#endif
