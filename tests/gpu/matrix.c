// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verbs on memory of a GPU, between two of this program, each with memory of the GPU and of the host. With the stand-in
 * (standin.h) it also shows what needs one: copies that lag, block and fail.
 * MODE GID_INDEX GID PORT [SERVER].
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/gpu/cuda.h"
#include "tests/gpu/standin.h"
#include "tests/verbs_pair.h"

#define BYTES (1u << 20)
#define ACCESS                                                \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |    \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND)
#define DMA_BUF_FD 1

/* Where bytes are. */
enum place { HOST, GPU, PLACES };

struct buffer {
	uint64_t addr;
	struct ibv_mr *mr;
};

struct named {
	uint64_t addr[PLACES];
	uint32_t rkey[PLACES];
	uint32_t qpn, psn;
	union ibv_gid gid;
};

static struct rounds_peer peer;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct buffer own[PLACES];
static struct named there;
static CUcontext cuda;
static uint8_t *copy;
static uint32_t seed = 1;

/* ---- memory ---- */

static void set_bytes(uint64_t addr, const void *from, size_t n, enum place p)
{
	if (p == HOST)
		memcpy((void *)(uintptr_t)addr, from, n);
	else
		must(!cuMemcpyHtoD_v2(addr, from, n), "cuMemcpyHtoD");
}

static void get_bytes(void *to, uint64_t addr, size_t n, enum place p)
{
	if (p == HOST)
		memcpy(to, (void *)(uintptr_t)addr, n);
	else
		must(!cuMemcpyDtoH_v2(to, addr, n), "cuMemcpyDtoH");
}

static uint8_t byte_at(uint32_t s, uint32_t i)
{
	return (uint8_t)((s * 0x9e3779b1u + i) * 0x85ebca6bu >> 24);
}

static void fill(enum place p, uint32_t s)
{
	for (uint32_t i = 0; i < BYTES; i++)
		copy[i] = byte_at(s, i);
	set_bytes(own[p].addr, copy, BYTES, p);
}

/* The bytes from at to end are of s from position from on, and all others of other. */
static void check(enum place p, uint32_t at, uint32_t end, uint32_t s,
		  uint32_t from, uint32_t other)
{
	get_bytes(copy, own[p].addr, BYTES, p);
	for (uint32_t i = 0; i < BYTES; i++) {
		bool in = i >= at && i < end;
		uint8_t want =
			in ? byte_at(s, from + i - at) : byte_at(other, i);

		if (copy[i] == want)
			continue;
		printf("byte %u of %u to %u: %02x for %02x\n", i, at, end,
		       copy[i], want);
		must(false, "the bytes");
	}
}

static uint64_t allocate(enum place p)
{
	CUdeviceptr d;

	if (p == HOST)
		return (uintptr_t)aligned_alloc(4096, BYTES);
	must(!cuMemAlloc_v2(&d, BYTES), "cuMemAlloc");
	return d;
}

static void begin_cuda(void)
{
	CUdevice device;

	must(!cuInit(0) && !cuDeviceGet(&device, 0) &&
		     !cuDevicePrimaryCtxRetain(&cuda, device) &&
		     !cuCtxSetCurrent(cuda),
	     "CUDA");
}

/* ---- the connection ---- */

static struct ibv_mr *reg(uint64_t addr)
{
	CUcontext now;
	int mode = 1, before;
	struct ibv_mr *mr;

	cuThreadExchangeStreamCaptureMode(&mode);
	mr = ibv_reg_mr(pd, (void *)(uintptr_t)addr, BYTES, ACCESS);
	before = errno;
	cuThreadExchangeStreamCaptureMode(&mode);
	must(mode == 1, "the capture mode");
	must(!cuCtxGetCurrent(&now) && now == cuda, "the current context");
	errno = before;
	return mr;
}

static void make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64},
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
	};

	qp = ibv_create_qp(pd, &init);
	must(qp, "ibv_create_qp");
}

static void connect_qp(void)
{
	struct named mine = {.qpn = qp->qp_num, .gid = peer.gid};
	struct ibv_qp_attr attr;

	for (int p = 0; p < PLACES; p++) {
		mine.addr[p] = own[p].addr;
		mine.rkey[p] = own[p].mr ? own[p].mr->rkey : 0;
	}
	rounds_swap(&peer, &mine, &there, sizeof(mine));
	attr = pair_attr(&there.gid, there.qpn);
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	attr.qp_access_flags = ACCESS;
	attr.max_rd_atomic = attr.max_dest_rd_atomic = 4;
	must(!pair_connect(qp, &attr), "the connection");
	rounds_both(&peer);
}

/* After an error. */
static void again(void)
{
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	make_qp();
	connect_qp();
}

static void begin(void)
{
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 256, NULL, NULL, 0);
	copy = malloc(BYTES);
	must(pd && cq && copy, "verbs");
	begin_cuda();
	for (int p = 0; p < PLACES; p++) {
		own[p].addr = allocate(p);
		own[p].mr = reg(own[p].addr);
		must(own[p].mr, "ibv_reg_mr");
	}
	if (standin_is_mine)
		standin_is_mine();
	make_qp();
	connect_qp();
}

static void end(void)
{
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	for (int p = 0; p < PLACES; p++)
		must(!own[p].mr || !ibv_dereg_mr(own[p].mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd), "the end");
	must(!ibv_close_device(context), "ibv_close_device");
}

/* ---- requests ---- */

static struct ibv_wc poll_one(void)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc;
}

static struct ibv_sge sge_of(enum place p, uint32_t off, uint32_t len)
{
	return (struct ibv_sge){own[p].addr + off, len,
				own[p].mr ? own[p].mr->lkey : 0};
}

static int post(enum ibv_wr_opcode op, struct ibv_sge *sge, int n, enum place p,
		uint32_t off)
{
	struct ibv_send_wr wr = {.sg_list = sge,
				 .num_sge = n,
				 .opcode = op,
				 .imm_data = 77,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {there.addr[p] + off,
					     there.rkey[p]}},
			   *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static void receive(struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = n}, *bad;

	must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

static enum ibv_wc_status run(enum ibv_wr_opcode op, struct ibv_sge sge,
			      enum place p, uint32_t off)
{
	must(!post(op, &sge, 1, p, off), "ibv_post_send");
	return poll_one().status;
}

static void must_be(enum ibv_wc_status got, enum ibv_wc_status want)
{
	if (got != want)
		printf("status %s for %s\n", ibv_wc_status_str(got),
		       ibv_wc_status_str(want));
	must(got == want, "the status");
}

/* ---- operations, of each place with each ---- */

static bool takes_receive(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* The client's request; bytes of one side's place come to the other's. */
static void exchange(enum ibv_wr_opcode op, enum place here, enum place far,
		     uint32_t off, uint32_t len)
{
	bool read = op == IBV_WR_RDMA_READ;
	uint32_t s = ++seed * 2, at = off / 3;
	enum place my = peer.client ? here : far;
	struct ibv_sge sge = sge_of(my, at, len);
	struct ibv_wc wc;

	fill(my, s + peer.client);
	if (!peer.client && takes_receive(op))
		receive(&sge, 1);
	rounds_both(&peer);
	if (peer.client) {
		sge = sge_of(my, off, len);
		must_be(run(op, sge, far, at), IBV_WC_SUCCESS);
	} else if (takes_receive(op)) {
		wc = poll_one();
		must_be(wc.status, IBV_WC_SUCCESS);
		must(wc.byte_len == len, "the length");
		check(my, at, at + len, s + 1, off, s);
	}
	rounds_both(&peer);
	if (peer.client == read) {
		if (read)
			check(my, off, off + len, s, at, s + 1);
		else
			check(my, at, at + len, s + 1, off, s);
	}
	rounds_both(&peer);
}

static void run_operations(void)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE,
						 IBV_WR_RDMA_READ, IBV_WR_SEND,
						 IBV_WR_RDMA_WRITE_WITH_IMM};
	static const uint32_t lengths[] = {1,	  8,	  1000,	    4096,
					   65536, 300001, BYTES / 2};

	for (int o = 0; o < 4; o++)
		for (int places = 1; places < 4; places++)
			for (int l = 0; l < 7; l++)
				exchange(ops[o], places & 1, places >> 1,
					 l % 2 ? 0 : 12345, lengths[l]);
}

/* Lists of both places. */
static void run_lists(void)
{
	uint32_t s = ++seed * 2;
	struct ibv_sge sge[3] = {sge_of(GPU, 100, 50000), sge_of(HOST, 0, 9000),
				 sge_of(GPU, 200000, 123457)};

	for (int last = 2; last < 4; last++, s += 2) {
		fill(GPU, s);
		fill(HOST, s + 1);
		if (!peer.client) {
			sge[0] = sge_of(HOST, 77, 30000);
			sge[1] = sge_of(GPU, 4000, 60000);
			sge[2] = sge_of(last == 2 ? HOST : GPU, 500000, 300000);
			receive(sge, 3);
		}
		rounds_both(&peer);
		if (peer.client) {
			must(!post(IBV_WR_SEND, sge, 3, HOST, 0), "post");
			must_be(poll_one().status, IBV_WC_SUCCESS);
		} else {
			must_be(poll_one().status, IBV_WC_SUCCESS);
			get_bytes(copy, own[GPU].addr + 4000, 60000, GPU);
			for (uint32_t i = 0; i < 20000; i++)
				must(copy[i] == byte_at(s, 30100 + i),
				     "the first part");
			for (uint32_t i = 20000; i < 29000; i++)
				must(copy[i] == byte_at(s + 1, i - 20000),
				     "the second part");
			for (uint32_t i = 29000; i < 60000; i++)
				must(copy[i] == byte_at(s, 200000 + i - 29000),
				     "the third part");
		}
		rounds_both(&peer);
	}
}

/* The flag is in memory of the host: whoever sees it finds all of the payload, without asking CUDA. */
static void run_flags(void)
{
	struct ibv_sge sge[2] = {sge_of(GPU, 0, BYTES / 2), sge_of(HOST, 0, 8)};
	volatile uint64_t *flag = (void *)(uintptr_t)own[HOST].addr;

	for (uint64_t i = 1; i <= 20; i++) {
		uint32_t s = ++seed * 2;

		if (peer.client) {
			fill(GPU, s);
			*flag = i;
			must(!post(IBV_WR_RDMA_WRITE, &sge[0], 1, GPU, 0) &&
				     !post(IBV_WR_RDMA_WRITE, &sge[1], 1, HOST,
					   0),
			     "post");
			must_be(poll_one().status, IBV_WC_SUCCESS);
			must_be(poll_one().status, IBV_WC_SUCCESS);
		} else {
			while (*flag != i)
				;
			get_bytes(copy, own[GPU].addr, BYTES / 2, GPU);
			for (uint32_t k = 0; k < BYTES / 2; k++)
				must(copy[k] == byte_at(s, k), "the payload");
		}
		rounds_both(&peer);
	}
}

static void run_atomics(void)
{
	struct ibv_sge sge = sge_of(GPU, 64, 8);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.atomic = {.remote_addr = there.addr[GPU],
					       .rkey = there.rkey[GPU]}},
			   *bad;
	uint64_t zero = 0, v;

	set_bytes(own[GPU].addr, &zero, 8, GPU);
	rounds_both(&peer);
	for (uint64_t i = 0; peer.client && i < 20; i++) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.compare_add = 3;
		must(!ibv_post_send(qp, &wr, &bad), "post");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		get_bytes(&v, own[GPU].addr + 64, 8, GPU);
		must(v == i * 10, "what was there");
		wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr.wr.atomic.compare_add = i * 10 + 3;
		wr.wr.atomic.swap = (i + 1) * 10;
		must(!ibv_post_send(qp, &wr, &bad), "post");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		get_bytes(&v, own[GPU].addr + 64, 8, GPU);
		must(v == i * 10 + 3, "what was there");
	}
	rounds_both(&peer);
	get_bytes(&v, own[GPU].addr, 8, GPU);
	must(peer.client || v == 200, "the sum");
	rounds_both(&peer);
}

static void run_inline(void)
{
	struct ibv_sge sge[2] = {sge_of(HOST, 0, 8), sge_of(GPU, 0, 8)};
	struct ibv_send_wr wr[2] = {{.sg_list = sge,
				     .num_sge = 1,
				     .next = &wr[1],
				     .opcode = IBV_WR_RDMA_WRITE,
				     .send_flags = IBV_SEND_SIGNALED |
						   IBV_SEND_INLINE}},
			   *bad = NULL;

	if (peer.client) {
		wr[0].wr.rdma.remote_addr = there.addr[GPU];
		wr[0].wr.rdma.rkey = there.rkey[GPU];
		wr[1] = wr[0];
		wr[1].next = NULL;
		wr[1].sg_list = &sge[1];
		must(ibv_post_send(qp, wr, &bad) == EINVAL && bad == &wr[1],
		     "inline");
		must_be(poll_one().status, IBV_WC_SUCCESS);
	}
	rounds_both(&peer);
}

/* A window of the server's, to its GPU. */
static void run_windows(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {own[GPU].mr,
						 own[GPU].addr + 4096, 8192,
						 IBV_ACCESS_REMOTE_WRITE}};
	uint32_t mine = 0, theirs, before = there.rkey[GPU];

	must(mw, "ibv_alloc_mw");
	if (!peer.client) {
		must(!ibv_bind_mw(qp, mw, &bind), "ibv_bind_mw");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		mine = mw->rkey;
	}
	fill(GPU, ++seed);
	rounds_swap(&peer, &mine, &theirs, sizeof(mine));
	if (peer.client) {
		there.rkey[GPU] = theirs;
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(GPU, 0, 8192), GPU, 4096),
			IBV_WC_SUCCESS);
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(GPU, 0, 8192), GPU, 4097),
			IBV_WC_REM_ACCESS_ERR);
		there.rkey[GPU] = before;
	}
	rounds_both(&peer);
	if (!peer.client)
		check(GPU, 4096, 12288, seed, 0, seed);
	rounds_both(&peer);
	must(!ibv_dealloc_mw(mw), "ibv_dealloc_mw");
	again();
}

/* The same region, of the host for a time. */
static void run_rereg(void)
{
	void *far = aligned_alloc(4096, BYTES);
	uint64_t gpu = own[GPU].addr;

	must(!ibv_rereg_mr(own[GPU].mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   far, BYTES, 0),
	     "to the host");
	own[GPU].addr = (uintptr_t)far;
	memset(far, 5, BYTES);
	again();
	if (peer.client) {
		must_be(run(IBV_WR_RDMA_READ, sge_of(GPU, 0, 100000), GPU, 0),
			IBV_WC_SUCCESS);
		must(((uint8_t *)far)[99999] == 5, "the bytes");
	}
	rounds_both(&peer);
	must(!ibv_rereg_mr(own[GPU].mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   (void *)(uintptr_t)gpu, BYTES, 0),
	     "to the GPU");
	own[GPU].addr = gpu;
	free(far);
	again();
	exchange(IBV_WR_RDMA_WRITE, GPU, GPU, 0, 100000);
}

/* Deregistered while it is sent: done or refused. */
static void run_dereg(void)
{
	struct ibv_sge sge = sge_of(GPU, 0, BYTES / 2);

	for (int i = 0; peer.client && i < 4; i++)
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, GPU, 0), "post");
	if (peer.client)
		must(!ibv_dereg_mr(own[GPU].mr), "ibv_dereg_mr");
	for (int i = 0; peer.client && i < 4; i++) {
		struct ibv_wc wc = poll_one();

		must(wc.status == IBV_WC_SUCCESS ||
			     wc.status == IBV_WC_LOC_PROT_ERR ||
			     wc.status == IBV_WC_WR_FLUSH_ERR,
		     "the status");
	}
	if (peer.client)
		own[GPU].mr = reg(own[GPU].addr);
	must(own[GPU].mr, "ibv_reg_mr");
	rounds_both(&peer);
	again();
}

/* What was freed is not read, nor what is there now written. */
static void run_freed(void)
{
	uint64_t old = own[GPU].addr;
	struct ibv_mr *before = own[GPU].mr;

	seed++;
	if (!peer.client) {
		must(!cuMemFree_v2(old), "cuMemFree");
		own[GPU].addr = allocate(GPU);
		fill(GPU, seed);
	}
	fill(HOST, 1000);
	rounds_both(&peer);
	if (peer.client && there.addr[GPU]) {
		must_be(run(IBV_WR_RDMA_READ, sge_of(HOST, 0, 4096), GPU, 0),
			IBV_WC_REM_ACCESS_ERR);
		check(HOST, 0, 0, 0, 0, 1000);
	}
	rounds_both(&peer);
	again();
	if (peer.client)
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(HOST, 0, 4096), GPU, 0),
			IBV_WC_REM_ACCESS_ERR);
	rounds_both(&peer);
	if (!peer.client) {
		check(GPU, 0, 0, 0, 0, seed);
		must(!ibv_dereg_mr(before), "ibv_dereg_mr");
		own[GPU].mr = reg(own[GPU].addr);
		must(own[GPU].mr, "ibv_reg_mr");
	}
	again();
	/* On the side that asks. */
	if (peer.client) {
		must(!cuMemFree_v2(own[GPU].addr), "cuMemFree");
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(GPU, 0, 4096), GPU, 0),
			IBV_WC_LOC_PROT_ERR);
		must(!ibv_dereg_mr(own[GPU].mr), "ibv_dereg_mr");
		must(!reg(own[GPU].addr) && errno == EFAULT, "what is freed");
		own[GPU].addr = allocate(GPU);
		own[GPU].mr = reg(own[GPU].addr);
	}
	rounds_both(&peer);
	again();
	exchange(IBV_WR_RDMA_WRITE, GPU, GPU, 0, 70000);
}

/* By a file of the driver's. */
static void run_files(void)
{
	int fd = -1;

	errno = 0;
	must(!ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0) && errno == EBADF, "NCCL");
	must(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, ACCESS) && errno == EBADF,
	     "UCX");
	if (cuMemGetHandleForAddressRange(&fd, own[GPU].addr, BYTES, DMA_BUF_FD,
					  0)) {
		printf("no dma-bufs\n");
		return;
	}
	must(!ibv_reg_dmabuf_mr(pd, 4096, BYTES, own[GPU].addr + 4096, fd,
				ACCESS) &&
		     errno == EINVAL,
	     "beyond the file");
	must(!ibv_reg_dmabuf_mr(pd, 0, BYTES, 4096, fd, ACCESS) &&
		     errno == EOPNOTSUPP,
	     "another address");
	must(!ibv_dereg_mr(own[GPU].mr), "ibv_dereg_mr");
	own[GPU].mr =
		ibv_reg_dmabuf_mr(pd, 0, BYTES, own[GPU].addr, fd, ACCESS);
	must(own[GPU].mr, "ibv_reg_dmabuf_mr");
	close(fd);
	again();
	exchange(IBV_WR_RDMA_WRITE, GPU, GPU, 12345, 300001);
	exchange(IBV_WR_RDMA_READ, GPU, GPU, 12345, 300001);
}

/* A child has nothing of it. */
static void run_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct ibv_context *c = rounds_open();
		struct ibv_pd *p = ibv_alloc_pd(c);

		must(p && !ibv_reg_mr(p, (void *)(uintptr_t)own[GPU].addr,
				      BYTES, ACCESS),
		     "a child");
		must(!ibv_reg_dmabuf_mr(p, 0, 0, 0, -1, 0), "a child");
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "the child");
	exchange(IBV_WR_RDMA_WRITE, GPU, GPU, 0, 100000);
}

/* ---- with the stand-in ---- */

/* Posts and polls return while copies do not. */
static void run_blocked(void)
{
	struct ibv_sge sge = sge_of(GPU, 0, 100000);
	struct ibv_wc wc;

	rounds_both(&peer);
	if (peer.client) {
		standin_block(true);
		for (int i = 0; i < 8; i++)
			must(!post(IBV_WR_RDMA_WRITE, &sge, 1, GPU, 0), "post");
		for (int i = 0; i < 1000; i++)
			must(!ibv_poll_cq(cq, 1, &wc), "a completion");
		standin_block(false);
		for (int i = 0; i < 8; i++)
			must_be(poll_one().status, IBV_WC_SUCCESS);
	}
	rounds_both(&peer);
}

/* One copy fails: the first one is the request's end; others may be made once more. */
static void run_failure(int n, bool client)
{
	enum ibv_wc_status got,
		want = client ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR;

	if (peer.client == client)
		standin_fail(n, false);
	rounds_both(&peer);
	if (peer.client) {
		got = run(IBV_WR_RDMA_WRITE,
			  sge_of(client ? GPU : HOST, 0, BYTES / 2), GPU, 0);
		must_be(got, n > 1 && !got ? IBV_WC_SUCCESS : want);
	}
	rounds_both(&peer);
	standin_fail(0, false);
	again();
	exchange(IBV_WR_RDMA_WRITE, GPU, GPU, 0, 300001);
}

static void run_failures(void)
{
	for (int n = 1; n < 4; n++) {
		run_failure(n, true);
		run_failure(n, false);
	}
	/* The context is lost, and so are its regions. */
	if (!peer.client)
		standin_fail(2, true);
	rounds_both(&peer);
	if (peer.client)
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(HOST, 0, BYTES / 2), GPU,
			    0),
			IBV_WC_REM_ACCESS_ERR);
	rounds_both(&peer);
	again();
	if (peer.client)
		must_be(run(IBV_WR_RDMA_READ, sge_of(HOST, 0, 8), GPU, 0),
			IBV_WC_REM_ACCESS_ERR);
	rounds_both(&peer);
	if (!peer.client) {
		standin_fail(0, false);
		must(!ibv_dereg_mr(own[GPU].mr), "ibv_dereg_mr");
		own[GPU].mr = reg(own[GPU].addr);
		must(own[GPU].mr, "ibv_reg_mr");
	}
	again();
	exchange(IBV_WR_RDMA_WRITE, GPU, GPU, 0, 100000);
}

static void run_all(void)
{
	run_operations();
	run_lists();
	run_flags();
	run_atomics();
	run_inline();
	run_windows();
	run_rereg();
	run_dereg();
	run_freed();
	run_files();
	run_child();
}

/* Nothing can be registered, and whoever asks is told so. */
static void run_off(void)
{
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	begin_cuda();
	must(!reg(allocate(GPU)) && errno == EFAULT, "ibv_reg_mr");
	must(!ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0) && errno == EOPNOTSUPP,
	     "ibv_reg_dmabuf_mr");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	alarm(300);
	if (!strcmp(mode, "off")) {
		run_off();
		printf("done 0\n");
		return 0;
	}
	rounds_begin(&peer, argc, argv);
	begin();
	if (!strcmp(mode, "all")) {
		run_all();
	} else if (!strcmp(mode, "standin")) {
		standin_lag(200);
		standin_capture(true);
		run_all();
		run_blocked();
		run_failures();
		standin_capture(false);
		must(!standin_captured(), "what is captured");
	} else {
		must(false, "mode");
	}
	end();
	printf("done 0\n");
	return 0;
}
