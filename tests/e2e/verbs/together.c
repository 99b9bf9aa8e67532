// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Threads that do the same for the first time together. Each asks the device for
 * the socket that an engine in the program needs then, and all answers are there
 * before one of them is used: ioctl() here holds them back.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "kernel-abi/uroce-abi.h"
#include "kernel-abi/uroce-engine.h"
#include "tests/verbs_pair.h"

#define THREADS 4

static uint32_t held, to_hold;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Where they wait for each other before they ask, not all of them come. */
static void hold(void)
{
	uint64_t until = now_ns() + 1000000000;

	__atomic_fetch_add(&held, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&held, __ATOMIC_SEQ_CST) < to_hold &&
	       now_ns() < until)
		sched_yield();
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request,
						 ...)
{
	static int (*next)(int, unsigned long, ...);
	const struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!next)
		next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT,
							       "ioctl");
	ret = next(fd, request, arg);
	hdr = arg;
	if (to_hold && request == RDMA_VERBS_IOCTL &&
	    hdr->object_id == UVERBS_OBJECT_DEVICE &&
	    hdr->method_id == UROCE_METHOD_ENGINE_SOCKET)
		hold();
	return ret;
}

struct one {
	struct bench *t;
	struct ibv_ah *ah;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int err;
};

static void *first_ah(void *arg)
{
	struct one *o = arg;
	struct ibv_qp_attr a = pair_attr(&o->t->gid, 0);

	o->ah = ibv_create_ah(o->t->pd, &a.ah_attr);
	o->err = o->ah ? 0 : errno;
	return NULL;
}

static void *first_rtr(void *arg)
{
	struct one *o = arg;
	struct ibv_qp_attr a = pair_attr(&o->t->gid, o->qp->qp_num);

	o->err = pair_to(o->qp, &a, IBV_QPS_RTR);
	return NULL;
}

static void run(struct one *o, void *(*body)(void *))
{
	pthread_t th[THREADS];

	held = 0;
	to_hold = THREADS;
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&th[i], NULL, body, &o[i]));
	for (int i = 0; i < THREADS; i++)
		pthread_join(th[i], NULL);
	to_hold = 0;
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(o[i].err, 0);
}

/* The address that they have all got is good. */
static void use(struct bench *t)
{
	bench_ends(t, 64);
	t->a.buf[7] = 9;
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)t->b.buf,
			   t->b.mr->rkey, 8),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t->b.buf[7], 9);
	bench_close(t);
}

static void together_ah(void)
{
	struct one o[THREADS] = {0};
	struct bench t;

	bench_bare(&t);
	for (int i = 0; i < THREADS; i++)
		o[i].t = &t;
	run(o, first_ah);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(ibv_destroy_ah(o[i].ah), 0);
	use(&t);
}

static void to_rtr(enum ibv_qp_type type)
{
	struct one o[THREADS] = {0};
	struct bench t;

	bench_bare(&t);
	for (int i = 0; i < THREADS; i++) {
		struct ibv_qp_attr a = pair_attr(&t.gid, 0);

		o[i].t = &t;
		o[i].cq = ibv_create_cq(t.ctx, 8, NULL, NULL, 0);
		CHECK(o[i].cq);
		o[i].qp = make_qp(&t, o[i].cq, NULL, type, 8, NULL);
		CHECK_EQ(pair_to(o[i].qp, &a, IBV_QPS_INIT), 0);
	}
	run(o, first_rtr);
	for (int i = 0; i < THREADS; i++) {
		CHECK_EQ(ibv_destroy_qp(o[i].qp), 0);
		CHECK_EQ(ibv_destroy_cq(o[i].cq), 0);
	}
	use(&t);
}

static void together_rc(void)
{
	to_rtr(IBV_QPT_RC);
}

static void together_ud(void)
{
	to_rtr(IBV_QPT_UD);
}

const struct verbs_test together_tests[] = {
	{"together_ah", together_ah},
	{"together_rc", together_rc},
	{"together_ud", together_ud},
	{0},
};
