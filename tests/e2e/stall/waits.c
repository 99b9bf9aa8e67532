// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 *	waits exit|destroy|modify|dereg|create|settle UID
 *
 * A program of that user's whose engine waits for a page of its memory, which is of a
 * file system that does not answer. Then it ends, or calls what needs the engine.
 * Prints JSON when the engine waits, with the id of another process that has the file
 * system: once that has been ended, all goes on. Prints "done" when the call has
 * returned. To be started by root.
 */
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "tests/device/stuck.h"
#include "tests/e2e/verbs/bench.h"

static void become(uid_t uid)
{
	CHECK(!setgroups(0, NULL) && !setresgid(uid, uid, uid) &&
	      !setresuid(uid, uid, uid));
	CHECK(!prctl(PR_SET_DUMPABLE, 1));
}

static void create(struct bench *t)
{
	struct ibv_qp_cap cap;

	for (int i = 0; i < 4; i++)
		make_qp(t, t->a.cq, NULL, IBV_QPT_RC, 4, &cap);
}

static void act(struct bench *t, const char *what)
{
	if (!strcmp(what, "destroy"))
		CHECK(!ibv_destroy_qp(t->a.qp));
	else if (!strcmp(what, "modify"))
		to_state(t->a.qp, IBV_QPS_ERR);
	else if (!strcmp(what, "dereg"))
		CHECK(!ibv_dereg_mr(t->a.mr));
	else if (!strcmp(what, "create"))
		create(t);
	else if (!strcmp(what, "settle"))
		exit(0); /* what was posted is to leave */
	else
		_exit(strcmp(what, "exit") ? 2 : 0);
	puts("done");
	fflush(stdout);
	_exit(0);
}

static _Noreturn void be_held_up(const char *what, void *page)
{
	struct ibv_mr *mr;
	struct bench t;

	bench_open(&t, 16);
	mr = ibv_reg_mr(t.pd, page, 4096, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	CHECK(mr);
	CHECK(!post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)page, mr->rkey,
			 8));
	stuck_wait();
	printf("{\"other\": %d}\n", (int)getppid());
	fflush(stdout);
	act(&t, what);
	exit(2);
}

int main(int argc, char **argv)
{
	void *page;
	pid_t pid;

	CHECK_EQ(argc, 3);
	page = stuck_map();
	if (!page) {
		puts("skipped");
		return 0;
	}
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		become((uid_t)atoi(argv[2]));
		be_held_up(argv[1], page);
	}
	for (;;)
		pause();
}
