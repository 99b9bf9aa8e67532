/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a slot in which an engine in a program publishes counters, failures and
 * fault counts (program_counters.h, program_failures.h, program_faults.h). The device makes and
 * reads it; the program writes it, word by word.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_PAGE_H
#define UR_ENGINE_GRANT_PROGRAM_PAGE_H

#include "engine/fault_rule.h"
#include "engine/grant/program_counters.h"
#include "engine/grant/program_settings.h"
#include "transport/failure.h"

#define UR_SHOWN_QPS	 2048u /* most queue pairs shown; a power of two */
#define UR_SHOWN_PLACES	 8u    /* possible places of a number */
#define UR_SHOWN_PORT	 128u
#define UR_SHOWN_QP	 16u /* words: the number, the values, and room */
#define UR_SHOWN_FAILURE 16u

_Static_assert(UR_CNT_COUNT <= UR_SHOWN_PORT, "a port's counters");
_Static_assert(1 + UR_QP_SHOWN <= UR_SHOWN_QP, "a queue pair's");

struct ur_shown_qp {
	u64 qpn; /* 0: free place */
	u64 shown[UR_SHOWN_QP - 1];
};

/* A failure stays after its queue pair was destroyed, until a failure of another one in
 * this place. */
struct ur_shown_failure {
	u64 generation; /* odd while it changes */
	u64 qpn;	/* 0: none */
	u64 word[UR_SHOWN_FAILURE];
};

struct ur_shown_fault {
	u64 id; /* 0: none */
	u64 matched, done;
};

struct ur_counter_page {
	u64 port[UR_SHOWN_PORT];
	struct ur_shown_qp qp[UR_SHOWN_QPS];
	/* [0]: of a request of its own; [1]: of a request of its peer */
	struct ur_shown_failure failure[UR_SHOWN_QPS][2];
	struct ur_shown_fault fault[UR_PROGRAM_FAULTS];
	u64 sl_refused; /* ur_engine_sl_refused() */
};

/* Returns the index of the i-th possible place of that number. */
static inline u32 ur_shown_place(u32 qpn, u32 i)
{
	return (qpn + i) % UR_SHOWN_QPS;
}

static inline u64 ur_shown_value(const u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* program_counters.c: returns the memory of that slot, or NULL if it is not granted.
 * Control. */
const struct ur_counter_page *ur_counters_page(const struct ur_engine *engine,
					       u32 slot);

#endif
