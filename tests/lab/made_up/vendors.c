// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * usage: lab_vendors CASE
 *
 * Programs that the checker does not see all of, functions that are newer than
 * rdma-core 44, and programs that are hard on somebody who is in their process. Prints
 * "done" at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lab/made_up/fakecarddv.h"
#include "tests/verbs_pair.h"

#define MUST(what) ((what) ? (void)0 : fail(__LINE__, #what))

static void fail(int line, const char *what)
{
	printf("vendors.c:%d: %s\n", line, what);
	exit(1);
}

struct pair {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /* connected to itself */
	struct ibv_mr *mr;
	char bytes[4096];
};

static struct pair pair;

/* Whether a function of the vendor's opens the device. */
static bool opens;

static void open_pair(bool vendors_cq, bool vendors_qp)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = 4,
						.max_recv_wr = 16,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr to;
	union ibv_gid gid;

	pair.context = opens ? mlx5dv_open_device(list[0], NULL)
			     : ibv_open_device(list[0]);
	ibv_free_device_list(list);
	MUST(pair.context);
	MUST(!ibv_query_gid(pair.context, 1, 0, &gid));
	pair.pd = ibv_alloc_pd(pair.context);
	pair.cq = vendors_cq ? fakecarddv_create_cq(pair.context, 64)
			     : ibv_create_cq(pair.context, 64, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = pair.cq;
	pair.qp = vendors_qp ? fakecarddv_create_qp(pair.pd, &attr)
			     : ibv_create_qp(pair.pd, &attr);
	to = pair_attr(&gid, pair.qp->qp_num);
	MUST(!pair_connect(pair.qp, &to));
	pair.mr = ibv_reg_mr(pair.pd, pair.bytes, sizeof(pair.bytes),
			     IBV_ACCESS_LOCAL_WRITE);
	MUST(pair.mr);
}

static void close_pair(void)
{
	MUST(!ibv_destroy_qp(pair.qp));
	MUST(!ibv_destroy_cq(pair.cq));
	if (pair.mr)
		MUST(!ibv_dereg_mr(pair.mr));
	MUST(!ibv_dealloc_pd(pair.pd));
	MUST(!ibv_close_device(pair.context));
}

static int post(bool receive, uint32_t lkey, unsigned int flags)
{
	struct ibv_sge sge = {.addr = (uintptr_t)pair.bytes + 2048u * receive,
			      .length = 64,
			      .lkey = lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = flags},
			   *bad;

	return receive ? ibv_post_recv(pair.qp, &recv, &bad_recv)
		       : ibv_post_send(pair.qp, &send, &bad);
}

static void exchange(void)
{
	MUST(!post(true, pair.mr->lkey, 0));
	MUST(!post(false, pair.mr->lkey, IBV_SEND_SIGNALED));
}

/* More messages than the queues have room for, each polled for in memory. */
static void unseen(void)
{
	struct ibv_wc wc;

	for (int i = 0; i < 20; i++) {
		exchange();
		MUST(fakecarddv_poll_memory(pair.cq, &wc) == 1);
		MUST(fakecarddv_poll_memory(pair.cq, &wc) == 1);
	}
}

static void case_vendors_cq(void)
{
	open_pair(true, false);
	unseen();
	MUST(!ibv_dereg_mr(pair.mr));
	pair.mr = NULL;
	close_pair();
}

static void case_vendors_qp(void)
{
	struct ibv_wc wc;

	open_pair(false, true);
	for (int i = 0; i < 20; i++) {
		exchange();
		while (ibv_poll_cq(pair.cq, 1, &wc) == 1)
			MUST(wc.status == IBV_WC_SUCCESS);
	}
	close_pair();
}

static void case_init_obj(void)
{
	void *pairs[4] = {NULL};

	open_pair(false, false);
	pairs[0] = pair.qp;
	pairs[2] = pair.cq;
	/* MLX5DV_OBJ_QP, MLX5DV_OBJ_CQ */
	MUST(!mlx5dv_init_obj(pairs, 3));
	unseen();
	close_pair();
}

/* The checker sees the work on a device that the vendor's function has opened. */
static void case_open(void)
{
	opens = true;
	open_pair(false, false);
	exchange();
	close_pair();
}

/* A key of a region that is gone, given again by a function of the vendor's. */
static void case_key(void)
{
	uint32_t lkey;

	open_pair(false, false);
	lkey = pair.mr->lkey;
	MUST(!ibv_dereg_mr(pair.mr));
	pair.mr = NULL;
	MUST(!post(true, lkey, 0));
	close_pair();
}

/* Returns whether the library has the function: then region has a new key. */
static bool reg_mr_ex(struct ibv_mr **region)
{
	struct {
		size_t length;
		int access;
		uint64_t comp_mask, iova;
		void *addr;
		int fd;
		uint64_t fd_offset;
		void *dmah, *buf;
	} attr = {.length = sizeof(pair.bytes),
		  .access = IBV_ACCESS_LOCAL_WRITE,
		  .comp_mask = 2, /* IBV_REG_MR_MASK_ADDR */
		  .addr = pair.bytes};
	struct ibv_mr *(*reg)(struct ibv_pd *, void *) =
		(struct ibv_mr * (*)(struct ibv_pd *, void *))
			dlsym(RTLD_DEFAULT, "ibv_reg_mr_ex");

	errno = 0;
	*region = reg ? reg(pair.pd, &attr) : NULL;
	MUST(*region || !reg || errno == EOPNOTSUPP);
	return *region;
}

static void case_reg_mr_ex(void)
{
	struct ibv_mr *region;

	open_pair(false, false);
	if (!reg_mr_ex(&region)) {
		puts("no ibv_reg_mr_ex");
	} else {
		MUST(!ibv_dereg_mr(region));
		/* Its key is gone: named. */
		MUST(!post(true, region->lkey, 0));
	}
	close_pair();
}

static void case_comp_cntr(void)
{
	int (*attach)(struct ibv_qp *, void *, void *) =
		(int (*)(struct ibv_qp *, void *, void *))dlsym(
			RTLD_DEFAULT, "ibv_qp_attach_comp_cntr");

	open_pair(false, false);
	if (!attach || attach(pair.qp, NULL, NULL)) {
		puts("no ibv_qp_attach_comp_cntr");
	} else {
		for (int i = 0; i < 4; i++) {
			MUST(!post(true, pair.mr->lkey, 0));
			MUST(!post(false, pair.mr->lkey, IBV_SEND_SIGNALED));
		}
	}
	close_pair();
}

/* A mistake that is named: access flags. */
static void mistake(void)
{
	MUST(!ibv_reg_mr(pair.pd, pair.bytes, 64, IBV_ACCESS_REMOTE_WRITE));
}

/* Everything is closed, and what the program opens then is its own: a connection under
 * the number of standard error, a file wherever the checker's was. */
static void case_descriptors(void)
{
	char name[] = "/tmp/lab-XXXXXX", got;
	int file, ends[2];

	open_pair(false, false);
	close_range(2, 2, 0);
	close_range(900, ~0u, 0);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
	MUST(ends[0] == 2);
	file = mkstemp(name);
	MUST(file >= 0 && !unlink(name));
	for (int fd = 900; fd < 910; fd++)
		MUST(dup2(file, fd) == fd);
	mistake();
	MUST(recv(ends[1], &got, 1, 0) == -1 && errno == EAGAIN);
	MUST(lseek(file, 0, SEEK_END) == 0);
	close_pair();
}

/* Nobody reads standard error any more. */
static void case_broken_pipe(void)
{
	int ends[2];

	open_pair(false, false);
	MUST(!pipe(ends) && dup2(ends[1], 2) == 2 && !close(ends[0]));
	mistake();
	close_pair();
}

/* Threads that post and poll while others fork and make the same mistake. */
static void *stir(void *unused)
{
	for (int i = 0; i < 5; i++) {
		pid_t child;

		mistake();
		child = fork();
		if (!child)
			_exit(ibv_reg_mr(pair.pd, pair.bytes, 64,
					 IBV_ACCESS_REMOTE_WRITE) != NULL);
		MUST(child > 0 && waitpid(child, NULL, 0) == child);
	}
	return NULL;
}

static void case_threads(void)
{
	pthread_t threads[4];

	MUST(!ibv_fork_init());
	open_pair(false, false);
	for (int i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, stir, NULL));
	for (int i = 0; i < 2000; i++) {
		struct ibv_wc wc;

		exchange();
		while (ibv_poll_cq(pair.cq, 1, &wc) == 1)
			MUST(wc.status == IBV_WC_SUCCESS);
	}
	for (int i = 0; i < 4; i++)
		MUST(!pthread_join(threads[i], NULL));
	close_pair();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"vendors-cq", case_vendors_cq},
		     {"vendors-qp", case_vendors_qp},
		     {"init-obj", case_init_obj},
		     {"key", case_key},
		     {"reg-mr-ex", case_reg_mr_ex},
		     {"comp-cntr", case_comp_cntr},
		     {"open", case_open},
		     {"descriptors", case_descriptors},
		     {"broken-pipe", case_broken_pipe},
		     {"threads", case_threads}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc == 2 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			puts("done");
			return 0;
		}
	}
	return 2;
}
