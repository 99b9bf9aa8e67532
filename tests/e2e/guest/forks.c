// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A server that forks again and again while its peer writes into its memory: forks.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "forks.h"

#define FORKS	 8
#define PAUSE_NS 50000000

struct place {
	uint64_t addr;
	uint32_t rkey;
};

/* Children that stay, and do nothing. The server does nothing either with its connection. */
static void fork_often(void)
{
	static const struct timespec ts = {.tv_nsec = PAUSE_NS};
	pid_t child[FORKS];

	for (int i = 0; i < FORKS; i++) {
		child[i] = fork();
		must(child[i] >= 0, "fork");
		if (!child[i]) {
			for (;;)
				pause();
		}
		nanosleep(&ts, NULL);
	}
	for (int i = 0; i < FORKS; i++) {
		kill(child[i], SIGKILL);
		must(waitpid(child[i], NULL, 0) == child[i], "waitpid");
	}
}

static void write_one(struct rounds *r, const struct place *to, uint64_t value)
{
	struct ibv_sge sge = {(uintptr_t)r->out, sizeof(value), r->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {to->addr, to->rkey}},
			   *bad;
	struct ibv_wc wc;
	int n;

	memcpy(r->out, &value, sizeof(value));
	must(!ibv_post_send(r->qp, &wr, &bad), "ibv_post_send");
	while (!(n = ibv_poll_cq(r->cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	if (wc.status)
		printf("write %d\n", (int)wc.status);
	must(!wc.status, "a WRITE");
}

static uint64_t write_until(struct rounds *r, const struct place *to, int sock)
{
	struct pollfd p = {sock, POLLIN, 0};
	uint64_t value = 0;

	while (!poll(&p, 1, 0))
		write_one(r, to, ++value);
	return value;
}

void serve_and_fork(struct ibv_context *context, const struct rounds_peer *peer)
{
	uint64_t word = 0, last = 0, theirs;
	struct place mine = {.addr = (uintptr_t)&word}, his;
	struct ibv_mr *mr;
	struct rounds r;

	rounds_connect(&r, context, peer, false);
	mr = ibv_reg_mr(r.pd, &word, sizeof(word),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(mr, "ibv_reg_mr");
	mine.rkey = mr->rkey;
	rounds_swap(peer, &mine, &his, sizeof(mine));
	if (peer->client)
		last = write_until(&r, &his, peer->sock);
	else
		fork_often();
	rounds_swap(peer, &last, &theirs, sizeof(last));
	must(peer->client || word == theirs, "the last WRITE");
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	rounds_end(&r);
}
