// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programs under a filter that ends them at a system call that a card's provider
 * would not make: posts and polls make none of those, long waits included.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "bench.h"

#define BYTES 64
/* More than the empty polls between two looks whether the device is there. */
#define EMPTY_POLLS 20000

#define LOAD_NR	   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)
#define DO(action) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##action)
#define IF(nr)	   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1)

static void install(struct sock_filter *filter, unsigned short n)
{
	struct sock_fprog prog = {n, filter};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

/* write() wakes a device that sleeps; the rest is for the C library's time and
 * the test's end. */
static void allow_few(void)
{
	struct sock_filter filter[] = {
		LOAD_NR,   IF(write),	   DO(ALLOW), IF(clock_gettime),
		DO(ALLOW), IF(exit_group), DO(ALLOW), DO(KILL_PROCESS),
	};

	install(filter, sizeof(filter) / sizeof(*filter));
}

static void forbid_yield(void)
{
	struct sock_filter filter[] = {LOAD_NR, IF(sched_yield),
				       DO(KILL_PROCESS), DO(ALLOW)};

	install(filter, sizeof(filter) / sizeof(*filter));
}

static void poll_for_nothing(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	for (int i = 0; i < EMPTY_POLLS; i++)
		CHECK_EQ(ibv_poll_cq(cq, 1, &wc), 0);
}

static bool write_and_poll(struct bench *t)
{
	struct ibv_wc wc = {0};
	int n;

	memset(t->a.buf, 'a', BYTES);
	if (post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)t->b.buf,
		      t->b.mr->rkey, BYTES))
		return false;
	do
		n = ibv_poll_cq(t->a.cq, 1, &wc);
	while (!n);
	return n == 1 && wc.status == IBV_WC_SUCCESS &&
	       !memcmp(t->a.buf, t->b.buf, BYTES);
}

/* It connects, then forbids itself all else. */
static void own(void)
{
	struct bench t;
	bool good = true;

	bench_open(&t, 16);
	CHECK(write_and_poll(&t)); /* code is found, pages are there */
	fflush(NULL);
	allow_few();
	for (int i = 0; i < 100 && good; i++)
		good = write_and_poll(&t);
	for (int i = 0; i < EMPTY_POLLS && good; i++) {
		struct ibv_wc wc;

		good = ibv_poll_cq(t.b.cq, 1, &wc) == 0;
	}
	syscall(SYS_exit_group, !good);
}

static void opens_and_polls(void)
{
	struct bench t;

	bench_open(&t, 16);
	poll_for_nothing(t.b.cq);
	CHECK(write_and_poll(&t));
	bench_close(&t);
}

/* The filter is there before the device is opened. */
static void before_open(void)
{
	forbid_yield();
	opens_and_polls();
}

static void inherit(void (*forbid)(void), const char *name)
{
	if (prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER) {
		opens_and_polls();
		return;
	}
	forbid();
	execl("/proc/self/exe", "verbs_corners", name, (char *)NULL);
	CHECK(!"exec");
}

/* It is whoever started the program that made the filter. */
static void inherited(void)
{
	inherit(forbid_yield, "filter_inherited");
}

/* An engine makes these calls, and no card's provider. */
static void forbid_engines(void)
{
	struct sock_filter filter[] = {
		LOAD_NR,      IF(epoll_create1), DO(KILL_PROCESS),
		IF(sendmmsg), DO(KILL_PROCESS),	 DO(ALLOW),
	};

	install(filter, sizeof(filter) / sizeof(*filter));
}

static void no_engine(void)
{
	inherit(forbid_engines, "filter_no_engine");
}

/* Nor any other address family than the tunnel's. */
static void forbid_network(void)
{
	struct sock_filter filter[] = {
		LOAD_NR,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		DO(ALLOW),
	};

	install(filter, sizeof(filter) / sizeof(*filter));
}

static void no_network(void)
{
	inherit(forbid_network, "filter_no_network");
}

const struct verbs_test filter_tests[] = {
	{"filter_own", own},
	{"filter_before_open", before_open},
	{"filter_inherited", inherited},
	{"filter_no_engine", no_engine},
	{"filter_no_network", no_network},
	{0},
};
