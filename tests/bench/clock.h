/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The common part of the measured programs. */
#ifndef UR_TESTS_BENCH_CLOCK_H
#define UR_TESTS_BENCH_CLOCK_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "util/bytes.h"

/* Returns the nanoseconds of CLOCK_MONOTONIC. */
static inline u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

/* Ends the program with what and errno, unless ok. */
static inline void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

#endif
