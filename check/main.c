// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Start, fork and end of a process that is checked. */
#include <pthread.h>

#include "check/front.h"
#include "check/real.h"
#include "check/report.h"
#include "check/touch.h"

static void judge_fork(void)
{
	struct ur_watched *mr = ur_watched_newest(UR_KIND_MR);
	static void *found;
	enum ibv_fork_status (*status)(void);

	if (!mr || mr->inherited)
		return;
	/* rdma-core 34 lacks the function, so nothing is known. */
	status = (enum ibv_fork_status(*)(void))ur_real_try(
		UR_VERBS, "ibv_is_fork_initialized", &found);
	if (!status || status() != IBV_FORK_DISABLED)
		return;
	ur_report(UR_CHECK_FORK, mr,
		  "the child gets copies of pages, and a device that pins "
		  "pages may keep the ones that the parent loses");
}

static void before_fork(void)
{
	ur_summary_forked();
	ur_table_lock();
	judge_fork();
}

static void in_child(void)
{
	ur_watch_inherited();
	ur_touch_inherited();
	ur_table_unlock();
}

static __attribute__((constructor)) void begin(void)
{
	ur_report_init();
	/* Looked up early, before munmap() is called in a place where a lookup
	 * is risky. */
	ur_unmap_find();
	pthread_atfork(before_fork, ur_table_unlock, in_child);
}

static __attribute__((destructor)) void end(void)
{
	ur_summary();
}
