/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every flag of every verb: each bit of each word of flags, alone, beside
 * arguments that are right. Either it is in a table as one that is done (what it
 * does is shown by other tests), or it is refused: EINVAL or EOPNOTSUPP. None is
 * accepted and ignored.
 */
#ifndef UR_TESTS_VERBS_FLAGS_H
#define UR_TESTS_VERBS_FLAGS_H

#include "bench.h"

/* since rdma-core 46 */
#define FLUSH_GLOBAL	 (1u << 8)
#define FLUSH_PERSISTENT (1u << 9)

/* The flags that a region can be registered with. */
#define MEMORY_FLAGS                                            \
	((uint32_t)(ALL_ACCESS | IBV_ACCESS_ZERO_BASED |        \
		    IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | \
		    IBV_ACCESS_OPTIONAL_RANGE) |                \
	 FLUSH_GLOBAL | FLUSH_PERSISTENT)
/* The flags that a work request can be posted with. */
#define POSTED_FLAGS                                                          \
	((uint32_t)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | \
		    IBV_SEND_INLINE))

/* A verb with that bit beside what it needs. Returns 0, errno, or -1 where this
 * device or library has not the object at all. */
typedef int verb_fn(struct bench *t, uint32_t bit);

struct flags {
	const char *name;
	verb_fn *verb;
	uint32_t done;	/* bits that are taken */
	uint32_t later; /* bits that some libraries do not know */
};

/* Each ends with one without a name. */
extern const struct flags memory_flags[], queue_flags[], request_flags[];

/* Destroys what a verb has made. Returns 0, or errno where it has made nothing. */
#define MADE(object, destroy)                       \
	({                                          \
		__auto_type made = (object);        \
		int why = made ? 0 : errno;         \
                                                    \
		if (made)                           \
			CHECK_EQ(destroy(made), 0); \
		why;                                \
	})

#endif
