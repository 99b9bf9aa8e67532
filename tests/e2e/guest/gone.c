// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Registered memory that goes away under traffic: the server's, which the client writes
 * and reads, and the client's own. The requests fail, and neither program's handlers of
 * faults are called for it. Between them each has a fault of its own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rounds.h"

#define BYTES	(1u << 20)
#define BEFORE	20 /* operations that succeed */
#define BY_THEN 1000000
#define ACCESS                                             \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_WRITE)

struct memory {
	uint8_t *at;
	int fd;
	struct ibv_mr *mr;
};

struct named {
	uint64_t addr;
	uint32_t rkey;
};

static sigjmp_buf back;
static volatile sig_atomic_t expected;

static void on_fault(int sig)
{
	if (!expected) {
		static const char text[] = "failed: a fault of the engine's\n";

		syscall(SYS_write, 1, text, sizeof(text) - 1);
		_exit(1);
	}
	expected = 0;
	siglongjmp(back, 1);
}

static void fault(void)
{
	void *none = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	must(none != MAP_FAILED, "mmap");
	expected = 1;
	if (!sigsetjmp(back, 1))
		*(volatile uint8_t *)none = 1;
	must(!expected, "a fault of its own");
	munmap(none, BYTES);
}

static void make(struct memory *m, struct ibv_pd *pd)
{
	m->fd = memfd_create("gone", 0);
	must(m->fd >= 0 && !ftruncate(m->fd, BYTES), "memfd_create");
	m->at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	must(m->at != MAP_FAILED, "mmap");
	m->mr = ibv_reg_mr(pd, m->at, BYTES, ACCESS);
	must(m->mr, "ibv_reg_mr");
}

static void lose(struct memory *m, int way)
{
	switch (way) {
	case 0:
		must(mmap(m->at, BYTES, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			  0) == m->at,
		     "mmap");
		break;
	case 1:
		must(!munmap(m->at + BYTES / 2, BYTES / 2), "munmap");
		break;
	default:
		must(!ftruncate(m->fd, BYTES / 2), "ftruncate");
	}
}

static void end(struct memory *m)
{
	must(!ibv_dereg_mr(m->mr), "ibv_dereg_mr");
	munmap(m->at, BYTES);
	close(m->fd);
}

/* Returns the status of one operation. */
static int run_one(struct rounds *r, const struct memory *m,
		   const struct named *there, enum ibv_wr_opcode op)
{
	struct ibv_sge sge = {(uintptr_t)m->at, BYTES, m->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = op,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {there->addr, there->rkey}},
			   *bad;
	struct ibv_wc wc;
	int n;

	must(!ibv_post_send(r->qp, &wr, &bad), "ibv_post_send");
	while (!(n = ibv_poll_cq(r->cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return (int)wc.status;
}

static void tell(const struct rounds_peer *peer)
{
	must(send(peer->sock, "", 1, 0) == 1, "send");
}

static void hear(const struct rounds_peer *peer)
{
	char byte;

	must(recv(peer->sock, &byte, 1, 0) == 1, "recv");
}

static void serve(struct rounds *r, const struct rounds_peer *peer, int way,
		  bool own)
{
	struct ibv_qp_attr attr = {.qp_access_flags = ACCESS};
	struct memory m;
	struct named name;

	must(!ibv_modify_qp(r->qp, &attr, IBV_QP_ACCESS_FLAGS),
	     "ibv_modify_qp");
	make(&m, r->pd);
	name = (struct named){(uintptr_t)m.at, m.mr->rkey};
	must(send(peer->sock, &name, sizeof(name), 0) == sizeof(name), "send");
	hear(peer);
	if (!own)
		lose(&m, way);
	hear(peer);
	end(&m);
}

static void use(struct rounds *r, const struct rounds_peer *peer, int way,
		bool own, enum ibv_wr_opcode op)
{
	struct memory m;
	struct named there;
	int status = 0;

	make(&m, r->pd);
	must(recv(peer->sock, &there, sizeof(there), MSG_WAITALL) ==
		     sizeof(there),
	     "recv");
	for (int i = 0; i < BEFORE; i++)
		must(!run_one(r, &m, &there, op), "before");
	tell(peer);
	if (own)
		lose(&m, way);
	for (int i = 0; !status && i < BY_THEN; i++)
		status = run_one(r, &m, &there, op);
	must(status == (own ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_OP_ERR) ||
		     (!own && status == IBV_WC_REM_ACCESS_ERR),
	     "the status");
	tell(peer);
	end(&m);
}

/* Returns whether another handler stands before ours. */
static bool is_behind(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags, restorer, mask;
	} is;

	must(!syscall(SYS_rt_sigaction, SIGSEGV, NULL, &is, 8), "rt_sigaction");
	return is.handler != on_fault;
}

bool lose_memory(struct ibv_context *context, const struct rounds_peer *peer)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE,
						 IBV_WR_RDMA_READ};
	struct rounds r;

	must(signal(SIGSEGV, on_fault) != SIG_ERR &&
		     signal(SIGBUS, on_fault) != SIG_ERR,
	     "signal");
	for (int i = 0; i < 12; i++) {
		int way = i % 3;
		bool own = i / 3 % 2;

		rounds_connect(&r, context, peer, false);
		if (peer->client)
			use(&r, peer, way, own, ops[i / 6]);
		else
			serve(&r, peer, way, own);
		fault();
		rounds_end(&r);
	}
	return is_behind();
}
