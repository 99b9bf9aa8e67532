// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory regions, windows, device memory. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"

static void write_ok(struct bench *t, const void *raddr, uint32_t rkey,
		     uint32_t len)
{
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)raddr, rkey,
			   len),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
}

static void write_refused(struct bench *t, const void *raddr, uint32_t rkey,
			  uint32_t len)
{
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)raddr, rkey,
			   len),
		 0);
	expect_wc(t->a.cq, IBV_WC_REM_ACCESS_ERR);
	to_state(t->a.qp, IBV_QPS_RESET);
	to_state(t->b.qp, IBV_QPS_RESET);
	connect_qp(t, t->a.qp, t->b.qp->qp_num);
	connect_qp(t, t->b.qp, t->a.qp->qp_num);
}

/* Reads as zeros, writes into nothing. */
static void null_mr(void)
{
	struct ibv_sge sge[2];
	struct ibv_recv_wr rwr = {.sg_list = sge, .num_sge = 2}, *rbad;
	struct ibv_send_wr swr = {.opcode = IBV_WR_SEND,
				  .sg_list = sge,
				  .num_sge = 2,
				  .send_flags = IBV_SEND_SIGNALED},
			   *sbad;
	struct ibv_mr *null;
	struct bench t;

	bench_open(&t, 64);
	null = ibv_alloc_null_mr(t.pd);
	CHECK(null);
	memset(t.a.buf, 5, 300);
	memset(t.b.buf, 6, 300);
	/* 100 bytes from nowhere, 100 real ones. */
	CHECK_EQ(post_recv(&t.b, 0, 0, 200), 0);
	sge[0] = (struct ibv_sge){0x1000, 100, null->lkey};
	sge[1] = sge_of(&t.a, 0, 100);
	CHECK_EQ(ibv_post_send(t.a.qp, &swr, &sbad), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).byte_len, 200);
	for (int i = 0; i < 300; i++)
		CHECK_EQ(t.b.buf[i], i < 100 ? 0 : i < 200 ? 5 : 6);
	/* The first 100 bytes received into nowhere. */
	memset(t.b.buf, 6, 300);
	for (int i = 0; i < 200; i++)
		t.a.buf[i] = (uint8_t)i;
	sge[1] = sge_of(&t.b, 0, 100);
	CHECK_EQ(ibv_post_recv(t.b.qp, &rwr, &rbad), 0);
	CHECK_EQ(post_send(&t.a, 0, 0, 200, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	for (int i = 0; i < 300; i++)
		CHECK_EQ(t.b.buf[i], i < 100 ? 100 + i : 6);
	CHECK_EQ(ibv_dereg_mr(null), 0);
	bench_close(&t);
}

static void window_type1(void)
{
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw *mw;
	struct bench t;
	uint32_t old;

	bench_open(&t, 64);
	mw = ibv_alloc_mw(t.pd, IBV_MW_TYPE_1);
	CHECK(mw);
	memset(t.a.buf, 7, 64);
	for (int i = 0; i < 3; i++) {
		bind.bind_info = (struct ibv_mw_bind_info){
			.mr = t.b.mr,
			.addr = (uintptr_t)t.b.buf + 4096,
			.length = 64,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		};
		old = mw->rkey;
		CHECK_EQ(ibv_bind_mw(t.b.qp, mw, &bind), 0);
		CHECK(mw->rkey != old);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).opcode,
			 IBV_WC_BIND_MW);
		write_ok(&t, t.b.buf + 4096, mw->rkey, 64);
		CHECK_EQ(t.b.buf[4096 + 63], 7);
		write_refused(&t, t.b.buf + 4096 + 1, mw->rkey, 64);
		write_refused(&t, t.b.buf + 4096, old, 64);
		/* Length 0 takes the access away. */
		memset(&bind.bind_info, 0, sizeof(bind.bind_info));
		CHECK_EQ(ibv_bind_mw(t.b.qp, mw, &bind), 0);
		expect_wc(t.b.cq, IBV_WC_SUCCESS);
		write_refused(&t, t.b.buf + 4096, mw->rkey, 64);
	}
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	bench_close(&t);
}

static void start_bind2(struct bench *t, struct ibv_mw *mw, uint32_t rkey)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(t->b.qp);
	struct ibv_mw_bind_info info = {t->b.mr, (uintptr_t)t->b.buf, 64,
					IBV_ACCESS_REMOTE_WRITE};

	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(ex);
	ibv_wr_bind_mw(ex, mw, rkey, &info);
	CHECK_EQ(ibv_wr_complete(ex), 0);
}

static void bind2(struct bench *t, struct ibv_mw *mw, uint32_t rkey)
{
	start_bind2(t, mw, rkey);
	CHECK_EQ(expect_wc(t->b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
}

static void window_type2(void)
{
	struct ibv_qp_ex *a, *b;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	struct bench t;
	uint32_t rkey;

	bench_open(&t, 64);
	a = ibv_qp_to_qp_ex(t.a.qp);
	b = ibv_qp_to_qp_ex(t.b.qp);
	mw = ibv_alloc_mw(t.pd, IBV_MW_TYPE_2);
	CHECK(mw);
	rkey = ibv_inc_rkey(mw->rkey);
	bind2(&t, mw, rkey);
	write_ok(&t, t.b.buf, rkey, 64);
	/* Invalidated by the owner. */
	b->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(b);
	ibv_wr_local_inv(b, rkey);
	CHECK_EQ(ibv_wr_complete(b), 0);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
	write_refused(&t, t.b.buf, rkey, 64);
	/* Bound again, and invalidated by the peer. */
	rkey = ibv_inc_rkey(rkey);
	bind2(&t, mw, rkey);
	write_ok(&t, t.b.buf, rkey, 64);
	CHECK_EQ(post_recv(&t.b, 3, 0, 64), 0);
	a->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(a);
	ibv_wr_send_inv(a, rkey);
	ibv_wr_set_sge(a, t.a.mr->lkey, (uintptr_t)t.a.buf, 8);
	CHECK_EQ(ibv_wr_complete(a), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	wc = expect_wc(t.b.cq, IBV_WC_SUCCESS);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV);
	CHECK_EQ(wc.invalidated_rkey, rkey);
	write_refused(&t, t.b.buf, rkey, 64);
	/* Only the low byte of the new key is the program's. */
	bind2(&t, mw, 0xba);
	CHECK_EQ(mw->rkey, (rkey & ~0xffu) | 0xba);
	write_ok(&t, t.b.buf, mw->rkey, 64);
	/* Bound already: refused. The window is as it was, and can be bound once it has been
	 * invalidated, whatever mw->rkey says. */
	rkey = mw->rkey;
	start_bind2(&t, mw, 0xbb);
	expect_wc(t.b.cq, IBV_WC_MW_BIND_ERR);
	to_state(t.a.qp, IBV_QPS_RESET);
	to_state(t.b.qp, IBV_QPS_RESET);
	connect_qp(&t, t.a.qp, t.b.qp->qp_num);
	connect_qp(&t, t.b.qp, t.a.qp->qp_num);
	write_ok(&t, t.b.buf, rkey, 64);
	b->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(b);
	ibv_wr_local_inv(b, rkey);
	CHECK_EQ(ibv_wr_complete(b), 0);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	bind2(&t, mw, 0xbc);
	write_ok(&t, t.b.buf, (rkey & ~0xffu) | 0xbc, 64);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	bench_close(&t);
}

static void atomic_write(void)
{
	uint64_t v = 0x1122334455667788;
	struct ibv_qp_ex *a;
	struct bench t;

	bench_open(&t, 64);
	a = ibv_qp_to_qp_ex(t.a.qp);
	a->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(a);
	ibv_wr_atomic_write(a, t.b.mr->rkey, (uintptr_t)t.b.buf + 64, &v);
	CHECK_EQ(ibv_wr_complete(a), 0);
	CHECK_EQ(expect_wc(t.a.cq, IBV_WC_SUCCESS).opcode, IBV_WC_ATOMIC_WRITE);
	CHECK(!memcmp(t.b.buf + 64, &v, 8));
	CHECK_EQ(t.b.buf[63] | t.b.buf[72], 0);
	bench_close(&t);
}

static void rereg(void)
{
	uint8_t *other = aligned_alloc(4096, 8192);
	struct bench t;

	bench_open(&t, 64);
	CHECK(other);
	memset(other, 0, 8192);
	memset(t.a.buf, 9, 64);
	CHECK_EQ(ibv_rereg_mr(t.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			      other, 8192, 0),
		 0);
	write_ok(&t, other, t.b.mr->rkey, 64);
	CHECK_EQ(other[63], 9);
	write_refused(&t, t.b.buf, t.b.mr->rkey, 64);
	CHECK_EQ(ibv_rereg_mr(t.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			      IBV_ACCESS_LOCAL_WRITE),
		 0);
	write_refused(&t, other, t.b.mr->rkey, 64);
	CHECK_EQ(ibv_dereg_mr(t.b.mr), 0);
	t.b.mr = NULL;
	free(other);
	bench_close(&t);
}

static void device_memory(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 8192};
	uint8_t in[256], out[256];
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	struct bench t;

	bench_open(&t, 64);
	dm = ibv_alloc_dm(t.ctx, &attr);
	CHECK(dm);
	for (int i = 0; i < 256; i++)
		in[i] = (uint8_t)(i ^ 0x5a);
	mr = ibv_reg_dm_mr(t.pd, dm, 4096, 4096,
			   IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	CHECK(mr);
	memcpy(t.a.buf, in, 256);
	/* Addressed from zero; lands behind the registration's offset. */
	write_ok(&t, (void *)512, mr->rkey, 256);
	CHECK_EQ(ibv_memcpy_from_dm(out, dm, 4096 + 512, 256), 0);
	CHECK(!memcmp(in, out, 256));
	in[3] = 0;
	CHECK_EQ(ibv_memcpy_to_dm(dm, 4096 + 512, in, 256), 0);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_READ, 512, mr->rkey, 256), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK(!memcmp(t.a.buf, in, 256));
	write_refused(&t, (void *)4000, mr->rkey, 256);
	CHECK(ibv_memcpy_to_dm(dm, 8000, in, 256));
	CHECK(ibv_memcpy_from_dm(out, dm, 8000, 256));
	CHECK(ibv_memcpy_to_dm(dm, 1, in, 4));
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	bench_close(&t);
}

/* A memfd, which has no other use for programs that look whether GPUs' memory can be registered. */
static void dmabuf(void)
{
	int fd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ibv_mr *mr;
	struct bench t;
	uint8_t *view;

	CHECK(fd >= 0 && !ftruncate(fd, 65536));
	/* It must not shrink under the device. */
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	bench_open(&t, 64);
	CHECK(!ibv_reg_dmabuf_mr(t.pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!ibv_reg_dmabuf_mr(t.pd, 0, 0, 0, -1, 0));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!ibv_reg_dmabuf_mr(t.pd, 0, 0, 0, fd, 0));
	CHECK_EQ(errno, EINVAL);
	mr = ibv_reg_dmabuf_mr(t.pd, 8192, 4096, 0x10000, fd,
			       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE);
	CHECK(mr);
	view = mmap(NULL, 65536, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(view != MAP_FAILED);
	memset(t.a.buf, 0x77, 100);
	write_ok(&t, (void *)0x10020, mr->rkey, 100);
	CHECK(view[8192 + 0x20] == 0x77 && view[8192 + 0x20 + 99] == 0x77);
	CHECK(!view[8192 + 0x1f] && !view[8192 + 0x20 + 100]);
	write_refused(&t, (void *)0x10ff0, mr->rkey, 100);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	bench_close(&t);
}

/* ---- memory under the shared file, from outside ---- */

static int quit;
static uint64_t counted;

static void *count_up(void *arg)
{
	uint64_t *word = arg;

	while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
		counted++;
	}
	return NULL;
}

/* Registrations come and go over the same pages while a thread counts in one
 * of them and the device writes to another. */
static void register_under_writes(void)
{
	uint8_t *p = aligned_alloc(4096, 1 << 20);
	uint64_t *word = (void *)(p + 12288 + 64);
	pthread_t th;
	struct bench t;

#ifdef __SANITIZE_THREAD__
	SKIP("to TSan a mapping put in place is a write that races");
#endif
	CHECK(p);
	memset(p, 0, 1 << 20);
	bench_open(&t, 64);
	CHECK(!pthread_create(&th, NULL, count_up, word));
	for (int i = 0; i < 100; i++) {
		struct ibv_mr *big, *small;

		big = ibv_reg_mr(t.pd, p, 1 << 20, ALL_ACCESS);
		small = ibv_reg_mr(t.pd, p + 16384, 8192, ALL_ACCESS);
		CHECK(big && small);
		memset(t.a.buf, i, 64);
		write_ok(&t, p + 20000, i & 1 ? big->rkey : small->rkey, 64);
		CHECK_EQ(p[20000], i);
		CHECK_EQ(ibv_dereg_mr(i & 1 ? small : big), 0);
		t.a.buf[0]++;
		write_ok(&t, p + 20000, i & 1 ? big->rkey : small->rkey, 1);
		CHECK_EQ(p[20000], (uint8_t)(i + 1));
		CHECK_EQ(ibv_dereg_mr(i & 1 ? big : small), 0);
	}
	__atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
	pthread_join(th, NULL);
	CHECK_EQ(*word, counted);
	p = realloc(p, 4 << 20);
	CHECK(p && p[20001] == 99);
	free(p);
	bench_close(&t);
}

/* The child of fork writes to registered memory of its own. */
static void fork_child(void)
{
	struct bench t;
	int st;
	pid_t pid;

	bench_open(&t, 64);
	memset(t.b.buf, 1, 64);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		for (int i = 0; i < 64; i++)
			CHECK_EQ(t.b.buf[i], 1);
		memset(t.b.buf, 2, 4096);
		memset(t.a.buf, 2, 4096);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(WIFEXITED(st) && !WEXITSTATUS(st));
	CHECK_EQ(t.b.buf[0], 1);
	memset(t.a.buf, 3, 64);
	write_ok(&t, t.b.buf, t.b.mr->rkey, 64);
	CHECK_EQ(t.b.buf[63], 3);
	bench_close(&t);
}

/* The device needs nothing for it. An older ibv_fork_init() takes registered pages out of the child all the same; what is
 * there is what the parent had, and so is what is no longer registered. */
static void fork_init(void)
{
	uint8_t *p = aligned_alloc(4096, 65536);
	unsigned char seen[1];
	struct ibv_mr *mr;
	struct bench t;
	int st;
	pid_t pid;

	CHECK(p);
	CHECK_EQ(ibv_fork_init(), 0);
	bench_open(&t, 64);
	CHECK_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	mr = ibv_reg_mr(t.pd, p, 65536, ALL_ACCESS);
	CHECK(mr);
	for (int registered = 1; registered >= 0; registered--) {
		memset(p, 7, 65536);
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			bool is_there = !mincore(p, 4096, seen);

			CHECK(is_there || registered);
			CHECK(!is_there || p[65535] == 7);
			_exit(0);
		}
		CHECK_EQ(waitpid(pid, &st, 0), pid);
		CHECK(WIFEXITED(st) && !WEXITSTATUS(st));
		if (registered) {
			memset(t.a.buf, 8, 64);
			write_ok(&t, p, mr->rkey, 64);
			CHECK_EQ(p[63], 8);
			CHECK_EQ(ibv_dereg_mr(mr), 0);
		}
	}
	free(p);
	bench_close(&t);
}

const struct verbs_test memory_tests[] = {
	{"null_mr", null_mr},
	{"window_type1", window_type1},
	{"window_type2", window_type2},
	{"atomic_write", atomic_write},
	{"rereg", rereg},
	{"device_memory", device_memory},
	{"dmabuf", dmabuf},
	{"register_under_writes", register_under_writes},
	{"fork_child", fork_child},
	{"fork_init", fork_init},
	{0},
};
