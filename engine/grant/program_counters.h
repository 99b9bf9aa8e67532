/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counters of an engine in a program, and states of its queue pairs, in shared memory
 * that the device makes and reads, also after the program was killed. The program may
 * write anything there: the values are its claim about itself, and never make a
 * counter of the device fall.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_COUNTERS_H
#define UR_ENGINE_GRANT_PROGRAM_COUNTERS_H

#include "transport/counters.h"
#include "util/bytes.h"

struct ur_engine;
struct ur_counter_grants; /* the device's memories of all slots */
struct ur_counter_page;	  /* the shared memory of one slot */

/* ---- the device; control ---- */

/* Makes the memory of a slot, in place of an earlier one, and puts its descriptor in
 * *fd. The descriptor stays the engine's. Returns 0 or -errno. */
int ur_counters_grant(struct ur_engine *engine, u32 slot, int *fd);
/* Takes over the slot's memory from an earlier uroced. Returns 0 or -errno. */
int ur_counters_inherit(struct ur_engine *engine, u32 slot);
/* Frees the slot's memory. Its counts stay in the device's counters. */
void ur_counters_grant_end(struct ur_engine *engine, u32 slot);
/* Fills values with UR_CNT_COUNT counters: the sums of all programs, including ended
 * ones. */
void ur_counters_programs(struct ur_engine *engine, u64 *values);
/* Returns whether any program reports that the kernel refused it the priority of
 * service level 7. */
bool ur_counters_programs_sl(const struct ur_engine *engine);
void ur_counters_grant_fini(struct ur_engine *engine);

/* ---- the program ---- */

/* Maps the granted memory in *page. fd stays the caller's. Returns 0 or -errno. */
int ur_counters_map(int fd, struct ur_counter_page **page);
/* Returns the UR_CNT_COUNT counters of the port in the page. */
u64 *ur_counters_of_port(struct ur_counter_page *page);
/* Takes a place in the page for a queue pair. Returns its UR_QP_SHOWN values, zeroed, or
 * NULL if there is no room. ur_counters_qp_gone() frees it. Engine thread. */
u64 *ur_counters_of_qp(struct ur_counter_page *page, u32 qpn);
void ur_counters_qp_gone(struct ur_counter_page *page, u32 qpn);
/* Returns the word of the page that reports, if not 0, that the kernel refused the
 * priority of service level 7. */
u64 *ur_counters_sl(struct ur_counter_page *page);
void ur_counters_unmap(struct ur_counter_page *page);

#endif
