// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory that both kinds of queue pairs reach, and what programs do with both. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "beside.h"

/* The same device memory is there for both, and for the program. */
static void memory(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	unsigned int access = ALL_ACCESS | IBV_ACCESS_ZERO_BASED;
	uint64_t word = 0x1122334455667788, got = 0;
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .num_sge = 1,
				 };
	struct ibv_device_attr_ex has;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	struct beside b;

	beside_open_both(&b, 64);
	CHECK_EQ(ibv_query_device_ex(b.t.ctx, NULL, &has), 0);
	CHECK(has.max_dm_size);
	dm = ibv_alloc_dm(b.t.ctx, &attr);
	CHECK(dm);
	mr = ibv_reg_dm_mr(b.t.pd, dm, 0, 4096, access);
	CHECK(mr);
	memcpy(b.rc[0].buf, &word, 8);
	sge = sge_of(&b.rc[0], 0, 8);
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = 64;
	wr.wr.rdma.rkey = mr->rkey;
	CHECK_EQ(ibv_post_send(b.rc[0].qp, &wr, &bad), 0);
	expect_wc(b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_memcpy_from_dm(&got, dm, 64, 8), 0);
	CHECK_EQ(got, word);
	/* To the next word, from there. */
	sge = (struct ibv_sge){.addr = 64, .length = 8, .lkey = mr->lkey};
	wr.wr.rdma.remote_addr = 72;
	wr.qp_type.xrc.remote_srqn = b.srqn;
	CHECK_EQ(ibv_post_send(b.xrc.qp, &wr, &bad), 0);
	expect_wc(b.cq, IBV_WC_SUCCESS);
	got = 0;
	CHECK_EQ(ibv_memcpy_from_dm(&got, dm, 72, 8), 0);
	CHECK_EQ(got, word);
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	beside_close_both(&b);
}

/* A region to which a window is bound stays, wherever that was, and does what it
 * did. */
static void window(void)
{
	struct ibv_mw *mw;
	struct beside b;
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_BIND_MW,
					 .send_flags = IBV_SEND_SIGNALED,
				 };

	beside_open_both(&b, 64);
	mw = ibv_alloc_mw(b.t.pd, IBV_MW_TYPE_2);
	CHECK(mw);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info =
		(struct ibv_mw_bind_info){b.rc[0].mr, (uintptr_t)b.rc[0].buf,
					  4096, IBV_ACCESS_REMOTE_WRITE};
	CHECK_EQ(ibv_post_send(b.xrc.qp, &wr, &bad), 0);
	expect_wc(b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_dereg_mr(b.rc[0].mr), EBUSY);
	beside_send_rc(&b, 5, IBV_SEND_SIGNALED);
	beside_send_xrc(&b, 5, IBV_SEND_SIGNALED);
	beside_expect_both(&b, 5);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	beside_close_both(&b);
}

/* One end is made with an import of the domain, so that another process could have
 * registered its memory. */
static void import(void)
{
	struct ibv_pd *pd, *own;
	struct ibv_srq_init_attr sattr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct beside b;

	beside_open_bare(&b, 64);
	own = b.t.pd;
	pd = ibv_import_pd(b.t.ctx, own->handle);
	CHECK(pd);
	for (int i = 0; i < 2; i++) {
		b.rc[i].mr = beside_make_buffer(&b, &b.rc[i].buf);
		b.t.pd = pd;
		b.rc[i].qp = make_qp(&b.t, b.cq, NULL, IBV_QPT_RC, 64, NULL);
		if (i)
			continue;
		/* A region of the import, and a shared receive queue. */
		mr = beside_make_buffer(&b, &b.xrc.buf);
		srq = ibv_create_srq(pd, &sattr);
		CHECK(srq);
		CHECK_EQ(ibv_destroy_srq(srq), 0);
		CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				      NULL, 0, IBV_ACCESS_LOCAL_WRITE),
			 0);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		free(b.xrc.buf);
		b.t.pd = own;
	}
	b.t.pd = own;
	CHECK_EQ(ibv_destroy_qp(b.rc[1].qp), 0);
	b.rc[1].qp = make_qp(&b.t, b.cq, NULL, IBV_QPT_RC, 64, NULL);
	connect_qp(&b.t, b.rc[0].qp, b.rc[1].qp->qp_num);
	connect_qp(&b.t, b.rc[1].qp, b.rc[0].qp->qp_num);
	for (uint64_t i = 0; i < 100; i++) {
		beside_send_rc(&b, i, IBV_SEND_SIGNALED);
		for (int k = 0; k < 2; k++)
			CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, i);
		CHECK_EQ(b.rc[1].buf[63], (uint8_t)i);
	}
	beside_end_rc(&b);
	ibv_unimport_pd(pd);
	beside_close_bare(&b);
}

/* A program that has closed all descriptors opens others: nothing of it is written to
 * them, though the device sleeps and is to be woken. */
static void closed(void)
{
	const char *place = getenv("UROCE_ENGINE");
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND};
	struct ibv_wc wc;
	int fd[64], n = 0;
	struct beside b;

	beside_open_both(&b, 64);
	wr.qp_type.xrc.remote_srqn = b.srqn;
	sleep(1);
	CHECK_EQ(close_range(3, ~0u, 0), 0);
	for (int i = 0; i < 64; i++) {
		fd[i] = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		CHECK(fd[i] >= 0);
	}
	for (int i = 0; i < 1000; i++) {
		struct ibv_qp *to = i % 2 ? b.xrc.qp : b.rc[0].qp;
		int err = ibv_post_send(to, &wr, &bad);

		/* The engine is closed too, where it is here. */
		CHECK(!err || err == EIO || err == ENOMEM);
	}
	for (int i = 0; i < 64; i++)
		CHECK_EQ(lseek(fd[i], 0, SEEK_END), 0);
	if (place && !strcmp(place, "device"))
		exit(0); /* the device is another process, whatever it does */
	while (n >= 0)
		n = ibv_poll_cq(b.cq, 1, &wc);
	CHECK_EQ(n, -EIO);
	CHECK_EQ(ibv_post_send(b.xrc.qp, &wr, &bad), EIO);
}

/* A child of fork has neither engine; its parent has both. */
static void forked(void)
{
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND};
	struct ibv_recv_wr *bad_recv, recv = {.wr_id = 1};
	struct ibv_wc wc;
	struct beside b;
	int status;
	pid_t child;

	beside_open_both(&b, 64);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		CHECK_EQ(ibv_poll_cq(b.cq, 1, &wc), -EIO);
		CHECK_EQ(ibv_post_send(b.xrc.qp, &wr, &bad), EIO);
		CHECK_EQ(ibv_post_srq_recv(b.srq, &recv, &bad_recv), EIO);
		CHECK_EQ(ibv_req_notify_cq(b.cq, 0), EIO);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	beside_send_rc(&b, 1, IBV_SEND_SIGNALED);
	beside_send_xrc(&b, 1, IBV_SEND_SIGNALED);
	beside_expect_both(&b, 1);
	beside_close_both(&b);
}

#define SENT 5000

struct shared {
	struct beside *b;
	uint64_t taken;
	bool rc, done;
};

static void *send_many(void *arg)
{
	struct shared *s = arg;
	struct beside *b = s->b;
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .num_sge = 1,
				 };
	struct end *e = s->rc ? &b->rc[0] : &b->xrc;
	struct ibv_sge sge = sge_of(e, 0, 64);

	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)b->rc[1].buf;
	wr.wr.rdma.rkey = b->rc[1].mr->rkey;
	/* It is being made while the other thread posts. */
	if (!s->rc)
		wr.qp_type.xrc.remote_srqn = b->srqn;
	for (int i = 0; i < SENT;) {
		int err = ibv_post_send(e->qp, &wr, &bad);

		CHECK(!err || err == ENOMEM);
		i += !err;
	}
	return NULL;
}

static void *take_many(void *arg)
{
	struct shared *s = arg;
	struct ibv_wc wc[4];

	while (!__atomic_load_n(&s->done, __ATOMIC_ACQUIRE)) {
		int n = ibv_poll_cq(s->b->cq, 4, wc);

		CHECK(n >= 0);
		for (int i = 0; i < n; i++)
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
		__atomic_add_fetch(&s->taken, (uint64_t)n, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Two threads post, one to a queue pair of each kind, and two poll, from before there are
 * both kinds. */
static void threads(void)
{
	time_t end = time(NULL) + 30;
	pthread_t taker[2], sender[2];
	struct beside b;
	struct shared takes = {.b = &b}, rc = {.b = &b, .rc = true},
		      xrc = {.b = &b};

	beside_open_bare(&b, 256);
	beside_make_rc(&b);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&taker[i], NULL, take_many, &takes), 0);
	CHECK_EQ(pthread_create(&sender[0], NULL, send_many, &rc), 0);
	beside_make_xrc(&b);
	CHECK_EQ(pthread_create(&sender[1], NULL, send_many, &xrc), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(sender[i], NULL), 0);
	while (__atomic_load_n(&takes.taken, __ATOMIC_RELAXED) < 2 * SENT)
		CHECK(time(NULL) < end);
	__atomic_store_n(&takes.done, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(taker[i], NULL), 0);
	CHECK_EQ(takes.taken, 2 * SENT);
	beside_close_both(&b);
}

const struct verbs_test beside_program_tests[] = {
	{"beside_memory", memory},
	{"beside_window", window},
	{"beside_import", import},
	{"beside_closed", closed},
	{"beside_forked", forked},
	{"beside_threads", threads},
	{0},
};
