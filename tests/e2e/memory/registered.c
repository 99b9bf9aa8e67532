// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * registered_memory ROUNDS [hooks]: memory from mmap and malloc is
 * registered, written to and read by the device, given back, and is at every
 * step what it should be, with threads that allocate beside it.
 *
 * hooks: UCX's memory hooks (libucm, preloaded) are switched on, and must hear of
 * nothing that happens to the memory while it is registered.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/e2e/verbs/bench.h"

#define ACCESS                                             \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_WRITE)

/* ---- libucm, ucm/api/ucm.h ---- */

#define UCM_EVENT_VM_UNMAPPED (1 << 17)

struct ucm_unmapped {
	void *address;
	size_t size;
};

typedef void (*ucm_handler)(int type, const struct ucm_unmapped *e, void *arg);

static struct {
	uintptr_t start, end; /* looked after; none: 0 */
	unsigned int heard;   /* of it */
	unsigned int all;
} watch;

static void unmapped(int type, const struct ucm_unmapped *e, void *arg)
{
	uintptr_t from = (uintptr_t)e->address;

	__atomic_fetch_add(&watch.all, 1, __ATOMIC_RELAXED);
	if (from < __atomic_load_n(&watch.end, __ATOMIC_RELAXED) &&
	    from + e->size > __atomic_load_n(&watch.start, __ATOMIC_RELAXED))
		__atomic_fetch_add(&watch.heard, 1, __ATOMIC_RELAXED);
}

static void hooks_on(void)
{
	int (*set)(int, int, ucm_handler, void *);
	void *p;

	*(void **)&set = dlsym(RTLD_DEFAULT, "ucm_set_event_handler");
	CHECK(set);
	CHECK_EQ(set(UCM_EVENT_VM_UNMAPPED, 1000, unmapped, NULL), 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED && !munmap(p, 4096));
	CHECK(watch.all);
}

static void watch_set(const uint8_t *p, size_t bytes)
{
	__atomic_store_n(&watch.end, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&watch.start, (uintptr_t)p, __ATOMIC_RELAXED);
	__atomic_store_n(&watch.end, p ? (uintptr_t)p + bytes : 0,
			 __ATOMIC_RELAXED);
}

/* ---- allocating beside it ---- */

static int stop;

static void *churn(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	uint8_t *p[64] = {0};
	size_t len[64];

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		unsigned int i = (seed = seed * 1103515245 + 12345) >> 16 & 63;

		if (p[i]) {
			for (size_t k = 0; k < len[i]; k++)
				CHECK_EQ(p[i][k], i + 1);
			free(p[i]);
			p[i] = NULL;
		} else {
			len[i] = 16 + (seed >> 8) % 9000;
			p[i] = calloc(1, len[i]);
			CHECK(p[i]);
			for (size_t k = 0; k < len[i]; k++)
				CHECK_EQ(p[i][k], 0);
			memset(p[i], (int)i + 1, len[i]);
		}
	}
	for (int i = 0; i < 64; i++)
		free(p[i]);
	return NULL;
}

/* ---- the rounds ---- */

static uint8_t byte(size_t i, unsigned int salt)
{
	return (uint8_t)(i * 131 + (i >> 9) + salt);
}

static void fill(uint8_t *p, size_t bytes, unsigned int salt)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = byte(i, salt);
}

static void check(const uint8_t *p, size_t bytes, unsigned int salt)
{
	for (size_t i = 0; i < bytes; i++)
		CHECK_EQ(p[i], byte(i, salt));
}

static void registered(struct bench *t, uint8_t *p, size_t bytes,
		       unsigned int salt)
{
	uint32_t some = bytes < 20000 ? (uint32_t)bytes : 20000;
	struct ibv_mr *mr;

	fill(p, bytes, salt);
	watch_set(p, bytes);
	mr = ibv_reg_mr(t->pd, p, bytes, ACCESS);
	CHECK(mr);
	check(p, bytes, salt);
	/* The device reads what the program wrote, and the other way. */
	fill(p, some, salt + 1);
	memset(t->a.buf, 0, some);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_READ, (uintptr_t)p, mr->rkey,
			   some),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	check(t->a.buf, some, salt + 1);
	fill(t->a.buf, some, salt);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)p, mr->rkey,
			   some),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	check(p, bytes, salt);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	check(p, bytes, salt);
	watch_set(NULL, 0);
	CHECK_EQ(watch.heard, 0);
}

static void from_mmap(struct bench *t, size_t bytes, unsigned int salt)
{
	uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	registered(t, p, bytes, salt);
	CHECK_EQ(munmap(p, bytes), 0);
}

static void from_malloc(struct bench *t, size_t bytes, unsigned int salt)
{
	uint8_t *p = malloc(bytes);

	CHECK(p);
	registered(t, p, bytes, salt);
	p = realloc(p, 2 * bytes);
	CHECK(p);
	check(p, bytes, salt);
	free(p);
}

int main(int argc, char **argv)
{
	const size_t sizes[] = {8192, 9000, 65536, 300000, 1 << 20};
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	bool hooks = false;
	pthread_t thread[2];
	struct bench t;

	CHECK(rounds > 0);
	if (argc > 2)
		hooks = !strcmp(argv[2], "hooks");
	bench_open(&t, 64);
	if (hooks)
		hooks_on();
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, churn,
				      (void *)(i + 1)));
	for (int i = 0; i < rounds; i++) {
		size_t bytes = sizes[i / 2 % 5];

		if (i & 1)
			from_malloc(&t, bytes, (unsigned int)i);
		else
			from_mmap(&t, bytes, (unsigned int)i);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	bench_close(&t);
	printf("%d rounds, %u events of others\n", rounds, watch.all);
	return 0;
}
