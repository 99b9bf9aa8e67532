/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counters of an engine in a program, and states of its queue pairs, in memory that
 * the device's engine lends and reads: true while the program runs and after it has
 * been killed. The program may write there whatever it likes: what is read is that
 * program's word about itself, and no counter of the device ever falls by it.
 */
#ifndef UR_ENGINE_GRANT_LEND_COUNTERS_H
#define UR_ENGINE_GRANT_LEND_COUNTERS_H

#include "transport/counters.h"
#include "util/bytes.h"

struct ur_engine;
struct ur_counter_loans; /* the device's: of all slots */
struct ur_counter_page;	 /* what both map */

/* ---- the device; control ---- */

/* Makes the memory of a slot, in place of what it had, and puts its descriptor, which
 * stays the engine's, in *fd. Returns 0 or -errno. */
int ur_counters_lend(struct ur_engine *engine, u32 slot, int *fd);
/* Goes on with the memory that an earlier uroced has lent. Returns 0 or -errno. */
int ur_counters_inherit(struct ur_engine *engine, u32 slot);
/* Ends that: what was counted stays in the device's counters. */
void ur_counters_lend_end(struct ur_engine *engine, u32 slot);
/* Fills values with UR_CNT_COUNT counters: what all programs have counted, now and
 * before. */
void ur_counters_lent(struct ur_engine *engine, u64 *values);
/* Fills UR_QP_SHOWN values of the queue pair in a program. Returns whether the program
 * shows it. */
bool ur_counters_lent_qp(const struct ur_engine *engine, u32 qpn, u64 *values);
/* Returns whether a program has shown that it was refused the priority of service
 * level 7. */
bool ur_counters_lent_sl(const struct ur_engine *engine);
void ur_counters_lend_fini(struct ur_engine *engine);

/* ---- the program ---- */

/* Maps what was lent, in *page. fd stays the caller's. Returns 0 or -errno. */
int ur_counters_borrow(int fd, struct ur_counter_page **page);
/* Returns the UR_CNT_COUNT counters of a port there. */
u64 *ur_counters_of_port(struct ur_counter_page *page);
/* Returns the UR_QP_SHOWN values of that queue pair there, zeroed, or NULL: there is no
 * room. To be given back by the next. Engine thread. */
u64 *ur_counters_of_qp(struct ur_counter_page *page, u32 qpn);
void ur_counters_qp_gone(struct ur_counter_page *page, u32 qpn);
/* Returns the word there that shows, once it is not 0, that it was refused that
 * priority. */
u64 *ur_counters_sl(struct ur_counter_page *page);
void ur_counters_unmap(struct ur_counter_page *page);

#endif
