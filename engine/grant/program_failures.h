/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Why queue pairs of an engine in a program failed, in the memory of its counters
 * (program_counters.h), so that uroced can report it while the program runs and after. The
 * program may write anything there: codes and numbers about its own queue pairs only.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_FAILURES_H
#define UR_ENGINE_GRANT_PROGRAM_FAILURES_H

#include "transport/failure.h"

struct ur_counter_page;

/* In the program: publishes a failure of a queue pair that has a place in the page. Engine
 * thread. */
void ur_failures_show(struct ur_counter_page *page, u32 qpn,
		      const struct ur_failure *failure);
/* In the program: clears the failures of that number. Engine thread. */
void ur_failures_forget(struct ur_counter_page *page, u32 qpn);

#endif
