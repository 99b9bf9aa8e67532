/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The meaning of the duration of sched_yield(), in nanoseconds. */
#ifndef UR_UTIL_YIELD_H
#define UR_UTIL_YIELD_H

/* A shorter yield found no other thread. */
#define UR_YIELD_SHORT_NS 700u
/* A yield of this length went to a thread that does not yield itself. */
#define UR_YIELD_LONG_NS 500000u

#endif
