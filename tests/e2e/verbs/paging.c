// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* On-demand memory, and access flags. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "bench.h"

enum { PAGES = 32, PAGE = 4096 };

static uint8_t *untouched(void)
{
	uint8_t *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK(!madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE));
	return p;
}

static int present(uint8_t *p, int first, int n)
{
	unsigned char vec[PAGES];
	int count = 0;

	CHECK(!mincore(p, PAGES * PAGE, vec));
	for (int i = first; i < first + n; i++)
		count += vec[i] & 1;
	return count;
}

static struct ibv_mr *on_demand(struct bench *t, uint8_t *p, uint64_t iova,
				unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr_iova2(t->pd, p, PAGES * PAGE, iova,
					     access | IBV_ACCESS_ON_DEMAND);

	CHECK(mr);
	return mr;
}

/* A prefetched page is in memory before anybody touched it, and only that. */
static void prefetch(void)
{
	const enum ibv_advise_mr_advice write =
		IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const uint64_t iova = 0x10000;
	struct ibv_pd *other;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct bench t;
	uint8_t *p;

	bench_bare(&t);
	p = untouched();
	mr = on_demand(&t, p, (uintptr_t)p, ALL_ACCESS);
	CHECK_EQ(present(p, 0, PAGES), 0);
	sge = (struct ibv_sge){(uintptr_t)p + 8 * PAGE + 5, 4 * PAGE, mr->lkey};
	CHECK_EQ(ibv_advise_mr(t.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
			       IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		 0);
	CHECK_EQ(present(p, 0, PAGES), 0);
	CHECK_EQ(ibv_advise_mr(t.pd, write, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		 0);
	CHECK_EQ(present(p, 8, 5), 5);
	CHECK_EQ(present(p, 0, PAGES), 5);
	sge.addr = (uintptr_t)p + 20 * PAGE;
	sge.length = PAGE;
	CHECK_EQ(ibv_advise_mr(t.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1),
		 0);
	/* To the very end, and a byte further. */
	sge.addr = (uintptr_t)p + (PAGES - 1) * PAGE;
	CHECK_EQ(ibv_advise_mr(t.pd, write, 0, &sge, 1), 0);
	sge.length = PAGE + 1;
	CHECK_EQ(ibv_advise_mr(t.pd, write, 0, &sge, 1), EINVAL);
	sge.addr = (uintptr_t)p - 1;
	CHECK_EQ(ibv_advise_mr(t.pd, write, 0, &sge, 1), EINVAL);
	sge.addr = (uintptr_t)p;
	sge.length = PAGE;
	other = ibv_alloc_pd(t.ctx);
	CHECK(other);
	CHECK(ibv_advise_mr(other, write, 0, &sge, 1));
	CHECK_EQ(ibv_dealloc_pd(other), 0);
	sge.lkey ^= 0x100;
	CHECK(ibv_advise_mr(t.pd, write, 0, &sge, 1));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK(!munmap(p, PAGES * PAGE));

	/* At an I/O address of its own. */
	p = untouched();
	mr = on_demand(&t, p, iova, ALL_ACCESS);
	sge = (struct ibv_sge){iova + 2 * PAGE, 3 * PAGE, mr->lkey};
	CHECK_EQ(ibv_advise_mr(t.pd, write, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		 0);
	CHECK_EQ(present(p, 2, 3), 3);
	CHECK_EQ(present(p, 0, PAGES), 3);
	/* Memory that went away is an error to who waits for it. */
	CHECK(!munmap(p, PAGES * PAGE));
	CHECK_EQ(ibv_advise_mr(t.pd, write, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		 EFAULT);
	CHECK_EQ(ibv_advise_mr(t.pd, write, 0, &sge, 1), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);

	p = untouched();
	mr = on_demand(&t, p, (uintptr_t)p, IBV_ACCESS_REMOTE_READ);
	sge = (struct ibv_sge){(uintptr_t)p, PAGE, mr->lkey};
	CHECK_EQ(ibv_advise_mr(t.pd, write, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		 EPERM);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK(!munmap(p, PAGES * PAGE));
	bench_close(&t);
}

/* TSan has memory of its own for what it watches, and that has faults, too. */
__attribute__((no_sanitize_thread)) static long faults_of_writing(uint8_t *p,
								  int pages)
{
	struct rusage before, after;

	CHECK(!getrusage(RUSAGE_THREAD, &before));
	for (int i = 0; i < pages; i++)
		((volatile uint8_t *)p)[i * PAGE] = 1;
	CHECK(!getrusage(RUSAGE_THREAD, &after));
	return after.ru_minflt - before.ru_minflt;
}

/* A page that is prefetched for writing is there to be written. How many pages
 * come with one fault otherwise is the kernel's affair. */
static void prefetch_write(void)
{
	struct ibv_sge sge;
	long faults[2];
	struct ibv_mr *mr;
	struct bench t;
	uint8_t *p;

	bench_bare(&t);
	for (int write = 0; write < 2; write++) {
		p = untouched();
		mr = on_demand(&t, p, (uintptr_t)p, ALL_ACCESS);
		sge = (struct ibv_sge){(uintptr_t)p, PAGES * PAGE, mr->lkey};
		CHECK_EQ(ibv_advise_mr(
				 t.pd,
				 write ? IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
				       : IBV_ADVISE_MR_ADVICE_PREFETCH,
				 IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
			 0);
		CHECK_EQ(present(p, 0, PAGES), PAGES);
		faults[write] = faults_of_writing(p, PAGES);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		CHECK(!munmap(p, PAGES * PAGE));
	}
	if (2 * faults[1] > faults[0])
		ck_fail(__FILE__, __LINE__,
			"%ld faults where it was prefetched for writing, %ld for reading",
			faults[1], faults[0]);
	bench_close(&t);
}

/* A page that a userfaultfd holds back is not there: an error to who wanted
 * it, and nothing to anybody else. */
static void held_pages(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND, .num_sge = 1};
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct bench t;
	uint8_t *p;

	if (fd < 0)
		SKIP("no userfaultfd is allowed");
	p = untouched();
	reg.range.start = (uintptr_t)p;
	reg.range.len = PAGES * PAGE;
	CHECK(!ioctl(fd, UFFDIO_API, &api));
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &reg));
	/* To it, then from it. */
	bench_open(&t, 64);
	mr = on_demand(&t, p, (uintptr_t)p, ALL_ACCESS);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)p, mr->rkey, 64),
		 0);
	expect_wc(t.a.cq, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	bench_close(&t);
	bench_open(&t, 64);
	mr = on_demand(&t, p, (uintptr_t)p, ALL_ACCESS);
	sge = (struct ibv_sge){(uintptr_t)p, 64, mr->lkey};
	wr.sg_list = &sge;
	CHECK_EQ(post_recv(&t.b, 1, 0, 64), 0);
	CHECK_EQ(ibv_post_send(t.a.qp, &wr, &bad), 0);
	expect_wc(t.a.cq, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	bench_close(&t);
	close(fd);
}

/* Optional flags (relaxed ordering is one) may be unknown, and then change
 * nothing; others may not. Relaxed, an order is allowed and none is due, so
 * what can be held is that the bytes arrive. */
static void access_flags(void)
{
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(ibv_dereg_mr(t.b.mr), 0);
	for (int bit = 20; bit < 30; bit++) {
		t.b.mr = ibv_reg_mr(t.pd, t.b.buf, BUF_BYTES,
				    ALL_ACCESS | 1 << bit);
		CHECK(t.b.mr);
		memset(t.a.buf, bit, 64);
		CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
				   t.b.mr->rkey, 64),
			 0);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		CHECK(t.b.buf[0] == bit && t.b.buf[63] == bit);
		CHECK_EQ(ibv_dereg_mr(t.b.mr), 0);
	}
	CHECK_EQ(IBV_ACCESS_RELAXED_ORDERING, 1 << 20);
	t.b.mr = NULL;
	CHECK(!ibv_reg_mr(t.pd, t.b.buf, BUF_BYTES, ALL_ACCESS | 1 << 19));
	bench_close(&t);
}

/* A region that moves to another domain is of no use in the first. */
static void rereg_domain(void)
{
	struct ibv_pd *other;
	struct bench t;

	bench_open(&t, 64);
	other = ibv_alloc_pd(t.ctx);
	CHECK(other);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
			   t.b.mr->rkey, 64),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(
		ibv_rereg_mr(t.b.mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0),
		0);
	CHECK(t.b.mr->pd == other);
	CHECK_EQ(ibv_dealloc_pd(other), EBUSY);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
			   t.b.mr->rkey, 64),
		 0);
	expect_wc(t.a.cq, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(t.b.mr), 0);
	t.b.mr = NULL;
	CHECK_EQ(ibv_dealloc_pd(other), 0);
	bench_close(&t);
}

const struct verbs_test paging_tests[] = {
	{"prefetch", prefetch},		{"prefetch_write", prefetch_write},
	{"held_pages", held_pages},	{"access_flags", access_flags},
	{"rereg_domain", rereg_domain}, {0},
};
