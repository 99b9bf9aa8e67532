/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the stand-in share: the state of the library and of each thread. Numbers are those of cuda.h. */
#ifndef UR_TESTS_GPU_STANDIN_IMPL_H
#define UR_TESTS_GPU_STANDIN_IMPL_H

#include <pthread.h>
#include <sys/types.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/standin.h"

#define ARENA	 (64u << 20)
#define PAGE	 4096u
#define ALLOCS	 64
#define GPUS	 2
#define CONTEXTS 16
#define DEPTH	 16 /* of a thread's stack of contexts */

enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	NO_DEVICE = 100,
	INVALID_CONTEXT = 201,
	NOT_READY = 600,
	ILLEGAL_ADDRESS = 700,
	CONTEXT_IS_DESTROYED = 709,
	HOST_MEMORY_NOT_REGISTERED = 713,
	CAPTURE_UNSUPPORTED = 900,
	UNKNOWN = 999,
	MODE_RELAXED = 2,
};

struct CUctx_st {
	int device;
	bool there;
};

struct CUevent_st {
	struct CUevent_st *next;
	struct CUctx_st *context;
	unsigned long long
		due; /* that copy of its stream is the last before it */
	struct CUstream_st *stream;
};

struct copy {
	struct copy *next;
	uint8_t *to;
	const uint8_t *from;
	size_t bytes;
	bool fails;
};

struct CUstream_st {
	struct CUstream_st *next;
	pthread_t thread;
	struct copy *first, **last;
	unsigned long long asked, done;
	struct CUctx_st *context;
	bool stop;
};

struct host_memory {
	uint8_t *at; /* NULL: none */
	size_t bytes;
	struct CUctx_st *context;
};

struct allocation {
	uint64_t at;
	size_t bytes;
	unsigned long long id; /* 0: free */
	struct CUctx_st *context;
};

/* The library is loaded with the test's program, whose names are its own. */
#pragma GCC visibility push(hidden)

extern struct state {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint8_t *outside,
		*inside; /* the arena: as users know it, and as the processor reaches it */
	int file;
	pid_t owner; /* a child of fork has nothing of it */
	struct CUctx_st contexts
		[CONTEXTS]; /* the first ones are the GPUs' primary ones */
	struct allocation allocations[ALLOCS];
	struct host_memory host[ALLOCS];
	unsigned long long ids;
	struct CUstream_st *streams;
	struct CUevent_st *events;
	/* as tests ask for: standin.h */
	bool blocked, capturing, held, fail_late;
	int fail_in, lag, break_in, lie_about;
	unsigned long long lie;
	void (*then)(void), (*each)(void);
	/* what they are told */
	bool lost;
	int captured, under_way, most, waiting;
	struct standin_copies copies;
} gpu;

extern __thread struct own {
	struct CUctx_st *stack[DEPTH];
	int depth, mode;
	bool mine, in_each;
	unsigned int calls;
} me;

/* Each call of a user's begins with that. Returns what it is to return, or OK. */
CUresult begin_call(void);
/* Returns whether the library is initialized, in this process. */
bool is_ready(void);

/* The others are called with the lock. */

/* What a call may not do: copies by a thread of the program, without a context, while something is captured. Waits as long
 * as tests block what copies. */
CUresult check_call(bool copies);
struct allocation *find(uint64_t addr, size_t bytes);
struct host_memory *find_host(const uint8_t *p);
/* Returns where the processor finds that address. */
uint8_t *inside_of(uint64_t addr);
/* Returns whether all copies have ended. */
bool is_idle(void);
/* Drops those of the context, and that one. */
void drop_events(const struct CUctx_st *ctx, const struct CUevent_st *one);

#pragma GCC visibility pop

#endif
