/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of a thread of this process, from /proc. */
#ifndef UR_UTIL_OS_TASK_STAT_H
#define UR_UTIL_OS_TASK_STAT_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_task_stat {
	char state;  /* 'R': running or runnable; others in proc_pid_stat(5) */
	u32 threads; /* threads of the process */
};

/* Fills *st for thread tid. Returns 0 or -errno. Any thread. */
int ur_task_stat(pid_t tid, struct ur_task_stat *st);

#endif
