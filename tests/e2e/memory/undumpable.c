// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * undumpable HOW: a process that may not open its own /proc/self/mem has a device
 * all the same, as with /dev/infiniband of mode 0666.
 *
 * setuid: root gives up its user, then lists and opens; listed: it lists before;
 * opened: it opens before, so that the device has seen its memory; seteuid: for
 * the effective user; prctl: an ordinary user's process, by PR_SET_DUMPABLE.
 */
#include <fcntl.h>
#include <grp.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tests/e2e/verbs/bench.h"

#define BYTES 65536u

static void become(bool effective)
{
	CHECK(!setgroups(0, NULL));
	CHECK(!(effective ? setegid(65534) : setgid(65534)));
	CHECK(!(effective ? seteuid(65534) : setuid(65534)));
}

/* It is the case that this is about. */
static void check_closed(void)
{
	CHECK(open("/proc/self/mem", O_RDWR | O_CLOEXEC) < 0);
	CHECK_EQ(errno, EACCES);
}

/* Commands of rdma_cm with memory in and out, on the stack and off it. */
static void connections(void)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rdma_cm_id *id;

	CHECK(events);
	CHECK(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(id, (struct sockaddr *)&any));
	CHECK(!rdma_listen(id, 1));
	CHECK(rdma_get_src_port(id));
	CHECK(!rdma_destroy_id(id));
	rdma_destroy_event_channel(events);
}

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *p;
};

/* A file that the device can map. */
static struct ibv_mr *of_file(struct ibv_pd *pd, uint8_t **p)
{
	int fd = memfd_create("undumpable", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ibv_mr *mr;

	CHECK(fd >= 0 && !ftruncate(fd, BYTES));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	*p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(*p != MAP_FAILED);
	mr = ibv_reg_dmabuf_mr(pd, 0, BYTES, (uintptr_t)*p, fd,
			       ALL_ACCESS & ~IBV_ACCESS_MW_BIND);
	close(fd);
	return mr;
}

static void make_side(struct bench *t, struct side *s, bool seen)
{
	s->p = aligned_alloc(4096, BYTES);
	CHECK(s->p);
	memset(s->p, 0, BYTES);
	errno = 0;
	s->mr = ibv_reg_mr(t->pd, s->p, BYTES, ALL_ACCESS);
	if (!seen) {
		CHECK(!s->mr);
		CHECK_EQ(errno, EACCES);
		s->mr = of_file(t->pd, &s->p);
	}
	CHECK(s->mr);
	s->cq = ibv_create_cq(t->ctx, 16, NULL, NULL, 0);
	CHECK(s->cq);
	s->qp = make_qp(t, s->cq, NULL, IBV_QPT_RC, 16,
			&(struct ibv_qp_cap){0});
}

/* All bytes of one side to the other. */
static void transfer(struct bench *t, bool seen)
{
	struct side a, b;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	make_side(t, &a, seen);
	make_side(t, &b, seen);
	connect_qp(t, a.qp, b.qp->qp_num);
	connect_qp(t, b.qp, a.qp->qp_num);
	for (size_t i = 0; i < BYTES; i++)
		a.p[i] = (uint8_t)(i * 131 + (i >> 9));
	sge = (struct ibv_sge){(uintptr_t)a.p, BYTES, a.mr->lkey};
	wr.wr.rdma.remote_addr = (uintptr_t)b.p;
	wr.wr.rdma.rkey = b.mr->rkey;
	CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
	expect_wc(a.cq, IBV_WC_SUCCESS);
	CHECK(!memcmp(a.p, b.p, BYTES));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool opened = !strcmp(how, "opened");
	struct ibv_context *before = NULL;
	struct ibv_device_attr attr;
	struct bench t;
	sigset_t term;
	int n;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	CHECK(!sigprocmask(SIG_BLOCK, &term, NULL));
	if (opened)
		before = open_device();
	/* In a build tree, the provider is named by the environment, which
	 * libibverbs reads while both users are one. */
	if (!strcmp(how, "listed") || !strcmp(how, "seteuid"))
		CHECK(ibv_get_device_list(&n) && n);
	if (!strcmp(how, "prctl"))
		CHECK(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	else
		become(!strcmp(how, "seteuid"));
	check_closed();
	bench_bare(&t);
	CHECK(!ibv_query_device(t.ctx, &attr));
	CHECK(attr.max_qp > 0);
	transfer(&t, opened);
	connections();
	if (before) /* the first file is its own still */
		CHECK(ibv_alloc_pd(before));
	printf("%s: fine\n", how);
	/* Until somebody has asked about us. */
	fflush(stdout);
	return sigwait(&term, &n);
}
