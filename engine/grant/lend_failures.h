/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Why queue pairs of an engine in a program failed, in the memory that it counts in
 * (lend_counters.h), so that uroced knows it while the program runs and after. The
 * program may write there whatever it likes: codes and numbers, which say something of
 * its own queue pairs alone.
 */
#ifndef UR_ENGINE_GRANT_LEND_FAILURES_H
#define UR_ENGINE_GRANT_LEND_FAILURES_H

#include "transport/failure.h"

struct ur_engine;
struct ur_counter_page;

/* Fills *failure with what the queue pair in a program failed of: a request of its own, or
 * of its peer. Returns whether there is one. Control. */
bool ur_failures_lent(const struct ur_engine *engine, u32 qpn, bool peers,
		      struct ur_failure *failure);

/* The program: shows it, for a queue pair that has a place there. Engine thread. */
void ur_failures_show(struct ur_counter_page *page, u32 qpn,
		      const struct ur_failure *failure);
/* Forgets those of the number. Engine thread. */
void ur_failures_forget(struct ur_counter_page *page, u32 qpn);

#endif
