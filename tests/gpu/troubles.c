// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions that change, go away, and fail: matrix.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/matrix.h"
#include "tests/gpu/standin.h"

#define DMA_BUF_FD 1

static int rereg(void *to)
{
	int err;

	thread_lends();
	err = ibv_rereg_mr(own[FAR].mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   to, BYTES, 0);
	thread_is_as_before();
	return err;
}

/* The same region, of the host for a time. */
void run_rereg(void)
{
	void *far = aligned_alloc(4096, BYTES);
	uint64_t before = own[FAR].addr;

	must(!rereg(far), "to the host");
	own[FAR].addr = (uintptr_t)far;
	memset(far, 5, BYTES);
	again();
	if (peer.client) {
		must_be(run(IBV_WR_RDMA_READ, sge_of(FAR, 0, 100000), FAR, 0),
			IBV_WC_SUCCESS);
		must(((uint8_t *)far)[99999] == 5, "the bytes");
	}
	rounds_both(&peer);
	own[FAR].addr = before;
	/* A dma-buf has no address that ibv_rereg_mr() could take. */
	if (far_memory == &cuda_memory) {
		must(!rereg((void *)(uintptr_t)before), "to the GPU");
	} else {
		must(!dereg(own[FAR].mr), "ibv_dereg_mr");
		own[FAR].mr = reg(pd, before, FAR);
		must(own[FAR].mr, "ibv_reg_dmabuf_mr");
	}
	free(far);
	again();
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

/* Deregistered while it is sent: done or refused. */
void run_dereg(void)
{
	struct ibv_sge sge = sge_of(FAR, 0, BYTES / 2);

	for (int i = 0; peer.client && i < 4; i++)
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0), "post");
	if (peer.client)
		must(!dereg(own[FAR].mr), "ibv_dereg_mr");
	for (int i = 0; peer.client && i < 4; i++) {
		struct ibv_wc wc = poll_one();

		must(wc.status == IBV_WC_SUCCESS ||
			     wc.status == IBV_WC_LOC_PROT_ERR ||
			     wc.status == IBV_WC_WR_FLUSH_ERR,
		     "the status");
	}
	if (peer.client)
		own[FAR].mr = reg(pd, own[FAR].addr, FAR);
	must(own[FAR].mr, "ibv_reg_mr");
	rounds_both(&peer);
	again();
}

/* What was freed is not read, nor what is there now written. */
void run_freed(void)
{
	uint64_t old = own[FAR].addr;
	struct ibv_mr *before = own[FAR].mr;

	seed++;
	if (!peer.client) {
		must(!cuMemFree_v2(old), "cuMemFree");
		own[FAR].addr = allocate(FAR);
		fill(FAR, seed);
	}
	fill(HOST, 1000);
	rounds_both(&peer);
	if (peer.client && there.addr[FAR]) {
		must_be(run(IBV_WR_RDMA_READ, sge_of(HOST, 0, 4096), FAR, 0),
			IBV_WC_REM_ACCESS_ERR);
		check(HOST, 0, 0, 0, 0, 1000);
	}
	rounds_both(&peer);
	again();
	if (peer.client)
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(HOST, 0, 4096), FAR, 0),
			IBV_WC_REM_ACCESS_ERR);
	rounds_both(&peer);
	if (!peer.client) {
		check(FAR, 0, 0, 0, 0, seed);
		must(!dereg(before), "ibv_dereg_mr");
		own[FAR].mr = reg(pd, own[FAR].addr, FAR);
		must(own[FAR].mr, "ibv_reg_mr");
	}
	again();
	/* On the side that asks. */
	if (peer.client) {
		must(!cuMemFree_v2(own[FAR].addr), "cuMemFree");
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(FAR, 0, 4096), FAR, 0),
			IBV_WC_LOC_PROT_ERR);
		must(!dereg(own[FAR].mr), "ibv_dereg_mr");
		must(!reg(pd, own[FAR].addr, FAR) && errno == EFAULT,
		     "what is freed");
		own[FAR].addr = allocate(FAR);
		own[FAR].mr = reg(pd, own[FAR].addr, FAR);
	}
	rounds_both(&peer);
	again();
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 70000);
}

/* ---- dma-bufs ---- */

static void must_refuse(uint64_t offset, size_t length, uint64_t iova, int fd,
			int access, int err)
{
	struct ibv_mr *mr =
		ibv_reg_dmabuf_mr(pd, offset, length, iova, fd, access);

	if (mr || errno != err)
		printf("%lx %zx %lx %x: %s\n", (long)offset, length, (long)iova,
		       access, mr ? "taken" : strerror(errno));
	must(!mr && errno == err, "a registration");
}

/* Those of the kernel's command and of ib_umem_dmabuf_get(). */
void run_rules(void)
{
	uint64_t off;
	int fd = dmabuf_of(own[FAR].addr, &off);
	uint64_t bytes = (uint64_t)lseek(fd, 0, SEEK_END);
	struct ibv_mr *mr;

	if (standin_is_mine)
		standin_is_mine(false);
	must_refuse(off, bytes, 0, fd, ACCESS, EINVAL);
	must_refuse(bytes, 1, 0, fd, ACCESS, EINVAL);
	must_refuse(bytes + 4096, 0, 0, fd, ACCESS, EINVAL);
	must_refuse(~0xfffull, 8192, 0, fd, ACCESS, EINVAL);
	must_refuse(0, ~0ull, 0, fd, ACCESS, EINVAL);
	must_refuse(8, 8, 16, fd, ACCESS, EINVAL);
	must_refuse(0, 0, 0, fd, ACCESS, EINVAL);
	must_refuse(0, 8, 0, fd, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	must_refuse(0, 8, 0, fd, IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
	/* Its last byte, at any page of I/O addresses. */
	mr = ibv_reg_dmabuf_mr(pd, bytes - 1, 1, (1ull << 60) + 4095, fd, 0);
	must(mr && !ibv_dereg_mr(mr), "the last byte");
	mr = ibv_reg_dmabuf_mr(pd, 0, bytes, 0, fd, IBV_ACCESS_REMOTE_READ);
	must(mr && !ibv_dereg_mr(mr), "all of it");
	if (standin_is_mine)
		standin_is_mine(true);
}

/* A child registers in its parent's context, which parts, and in its own. */
void run_child_dmabuf(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct ibv_context *c;
		struct ibv_mr *mr;
		struct ibv_pd *p;

		mr = reg(pd, own[FAR].addr, FAR);
		must(mr && !ibv_dereg_mr(mr), "the parent's");
		c = rounds_open();
		p = ibv_alloc_pd(c);
		mr = reg(p, own[FAR].addr, FAR);
		must(mr && !ibv_dereg_mr(mr), "a child's");
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "the child");
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

/* By a file of the driver's. */
void run_files(void)
{
	int fd = -1;

	errno = 0;
	must(!ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0) && errno == EBADF, "NCCL");
	must(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, ACCESS) && errno == EBADF,
	     "UCX");
	if (cuMemGetHandleForAddressRange(&fd, own[FAR].addr, BYTES, DMA_BUF_FD,
					  0)) {
		printf("no dma-bufs\n");
		return;
	}
	must(!ibv_reg_dmabuf_mr(pd, 4096, BYTES, own[FAR].addr + 4096, fd,
				ACCESS) &&
		     errno == EINVAL,
	     "beyond the file");
	must(!ibv_reg_dmabuf_mr(pd, 0, BYTES, 4096, fd, ACCESS) &&
		     errno == EOPNOTSUPP,
	     "another address");
	must(!dereg(own[FAR].mr), "ibv_dereg_mr");
	own[FAR].mr =
		ibv_reg_dmabuf_mr(pd, 0, BYTES, own[FAR].addr, fd, ACCESS);
	must(own[FAR].mr, "ibv_reg_dmabuf_mr");
	close(fd);
	again();
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 12345, 300001);
	exchange(IBV_WR_RDMA_READ, FAR, FAR, 12345, 300001);
}

/* A child has nothing of it. */
void run_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct ibv_context *c = rounds_open();
		struct ibv_pd *p = ibv_alloc_pd(c);

		must(p && !ibv_reg_mr(p, (void *)(uintptr_t)own[FAR].addr,
				      BYTES, ACCESS),
		     "a child");
		must(!ibv_reg_dmabuf_mr(p, 0, 0, 0, -1, 0), "a child");
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "the child");
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

/* ---- with the stand-in ---- */

/* What the program has in another context does not wait for them. */
static void use_another(void)
{
	struct ibv_context *other = rounds_open();
	struct ibv_pd *p = ibv_alloc_pd(other);
	struct ibv_mr *mr =
		ibv_reg_mr(p, (void *)(uintptr_t)own[HOST].addr, BYTES, ACCESS);

	must(mr && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(p) &&
		     !ibv_close_device(other),
	     "another context");
}

/* Posts and polls return while copies do not, as where a thread of the program waits for them with a lock of CUDA's. */
void run_blocked(void)
{
	struct ibv_sge sge = sge_of(FAR, 0, 100000);
	struct ibv_wc wc;

	rounds_both(&peer);
	if (peer.client) {
		standin_block(true);
		for (int i = 0; i < 8; i++)
			must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0), "post");
		for (int i = 0; i < 1000; i++)
			must(!ibv_poll_cq(cq, 1, &wc), "a completion");
		use_another();
		standin_block(false);
		for (int i = 0; i < 8; i++)
			must_be(poll_one().status, IBV_WC_SUCCESS);
	}
	rounds_both(&peer);
}

/* One copy fails, or each (n -1): the first one to memory is the request's end; others may be made once
 * more. What succeeds has all of its bytes. */
static void run_failure(int n, bool client)
{
	bool may_pass = n > 1 || (n == 1 && client);
	int got = IBV_WC_SUCCESS, theirs,
	    want = client ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR;
	uint32_t s = ++seed * 2;

	fill(HOST, s + peer.client);
	fill(FAR, s + peer.client);

	if (peer.client == client)
		standin_fail(n, false);
	rounds_both(&peer);
	if (peer.client) {
		got = run(IBV_WR_RDMA_WRITE,
			  sge_of(client ? FAR : HOST, 0, BYTES / 2), FAR, 0);
		must_be((enum ibv_wc_status)got,
			may_pass && !got ? IBV_WC_SUCCESS
					 : (enum ibv_wc_status)want);
	}
	rounds_swap(&peer, &got, &theirs, sizeof(got));
	if (!peer.client && !theirs)
		check(FAR, 0, BYTES / 2, s + 1, 0, s);
	standin_fail(0, false);
	again();
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 300001);
}

void run_failures(void)
{
	static const int which[] = {-1, 1, 2, 3};

	for (int i = 0; i < 4; i++) {
		run_failure(which[i], true);
		run_failure(which[i], false);
	}
	/* The context is lost, and so are its regions. */
	if (!peer.client)
		standin_fail(2, true);
	rounds_both(&peer);
	if (peer.client)
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(HOST, 0, BYTES / 2), FAR,
			    0),
			IBV_WC_REM_ACCESS_ERR);
	rounds_both(&peer);
	again();
	if (peer.client)
		must_be(run(IBV_WR_RDMA_READ, sge_of(HOST, 0, 8), FAR, 0),
			IBV_WC_REM_ACCESS_ERR);
	rounds_both(&peer);
	if (!peer.client) {
		standin_fail(0, false);
		must(!dereg(own[FAR].mr), "ibv_dereg_mr");
		own[FAR].mr = reg(pd, own[FAR].addr, FAR);
		must(own[FAR].mr, "ibv_reg_mr");
	}
	again();
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}
