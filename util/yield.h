/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The meaning of the time that sched_yield() takes, in nanoseconds. */
#ifndef UR_UTIL_YIELD_H
#define UR_UTIL_YIELD_H

/* A shorter one found nobody to yield to. */
#define UR_YIELD_SHORT_NS 700u
/* One of this length was to somebody who does not yield. */
#define UR_YIELD_LONG_NS 500000u

#endif
