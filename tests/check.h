/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a C test needs: CHECK, CHECK_EQ, SKIP. A failed check says where and
 * exits 1; SKIP exits 77, which ctest reports as skipped with the reason.
 */
#ifndef UR_TESTS_CHECK_H
#define UR_TESTS_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, \
				__LINE__, #cond);                              \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define CHECK_EQ(a, b)                                                       \
	do {                                                                 \
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);             \
		if (a_ != b_) {                                              \
			fprintf(stderr,                                      \
				"%s:%d: %s is %" PRIu64 " (0x%" PRIx64       \
				"), not %" PRIu64 " (0x%" PRIx64 ") = %s\n", \
				__FILE__, __LINE__, #a, a_, a_, b_, b_, #b); \
			exit(1);                                             \
		}                                                            \
	} while (0)

#define SKIP(reason)                             \
	do {                                     \
		printf("skipped: %s\n", reason); \
		exit(77);                        \
	} while (0)

#endif
