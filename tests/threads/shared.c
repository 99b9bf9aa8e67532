// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queues shared by threads, in the ways that there are. */
#include "traffic.h"

static void run(struct traffic *tr)
{
	traffic_open(tr);
	traffic_run(tr, NULL);
	traffic_close(tr);
}

static void shared_qp(void)
{
	static struct traffic tr = {.lanes = 1};

	run(&tr);
}

static void shared_cq(void)
{
	static struct traffic tr = {.lanes = 4};

	run(&tr);
}

static void shared_cq_ex(void)
{
	static struct traffic tr = {.lanes = 3, .extended = true};

	run(&tr);
}

static void shared_srq(void)
{
	static struct traffic tr = {.lanes = 4, .with_srq = true};

	run(&tr);
}

static void shared_channel(void)
{
	static struct traffic tr = {.lanes = 2, .by_events = true};

	run(&tr);
}

/* ---- one-sided ---- */

enum { ROUNDS = 300 };

static struct traffic sided;
/* One for each thread: its request is complete. Always written atomically: the
 * thread that posts and the one that polls are ordered by another process,
 * which TSan cannot see. */
static _Atomic bool flags[SENDERS];
static _Atomic int threads;
static uint64_t *sum; /* in the far pool's first slot, counted up by all */

/* A thread that finds a completion notifies the one that waits for it. */
static void wait_for(_Atomic bool *done)
{
	struct ibv_wc wc[4];

	while (!atomic_load(done)) {
		int n = ibv_poll_cq(sided.near.cq, 4, wc);

		CHECK(n >= 0);
		for (int i = 0; i < n; i++) {
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
			atomic_store((_Atomic bool *)(uintptr_t)wc[i].wr_id,
				     true);
		}
		if (!n)
			sched_yield();
	}
}

static void do_old(struct ibv_send_wr *wr, struct ibv_sge sge,
		   _Atomic bool *done)
{
	struct ibv_send_wr *bad;

	atomic_store(done, false);
	wr->wr_id = (uintptr_t)done;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	while (ibv_post_send(sided.near.qp[0], wr, &bad))
		sched_yield();
	wait_for(done);
}

/* A write and a read of it in one batch, completed by the second. */
static void write_and_read(uint32_t out, uint32_t in, uint64_t raddr,
			   uint32_t rkey, _Atomic bool *done)
{
	struct ibv_sge from = pool_sge(&sided.near.pool, out, SLOT);
	struct ibv_sge to = pool_sge(&sided.near.pool, in, SLOT);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(sided.near.qp[0]);

	atomic_store(done, false);
	do {
		ibv_wr_start(ex);
		ex->wr_id = 0;
		ex->wr_flags = 0;
		ibv_wr_rdma_write(ex, rkey, raddr);
		ibv_wr_set_sge(ex, from.lkey, from.addr, from.length);
		ex->wr_id = (uintptr_t)done;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_read(ex, rkey, raddr);
		ibv_wr_set_sge(ex, to.lkey, to.addr, to.length);
	} while (ibv_wr_complete(ex) && !sched_yield());
	wait_for(done);
}

static void *sided_thread(void *arg)
{
	uint32_t rkey = sided.far.pool.mr->rkey, far, out, in;
	uint8_t *near = sided.near.pool.buf;
	uint64_t base = (uintptr_t)sided.far.pool.buf;
	_Atomic bool *done = &flags[atomic_fetch_add(&threads, 1)];

	far = pool_take(&sided.far.pool);
	out = pool_take(&sided.near.pool);
	in = pool_take(&sided.near.pool);
	for (uint32_t n = 0; n < ROUNDS; n++) {
		struct ibv_send_wr add = {
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.wr.atomic = {.remote_addr = (uintptr_t)sum,
				      .compare_add = 1,
				      .rkey = rkey}};
		struct ibv_send_wr read = {
			.opcode = IBV_WR_RDMA_READ,
			.wr.rdma = {.remote_addr = base + far * SLOT,
				    .rkey = rkey}};

		memset(near + out * SLOT, (int)(far * 31 + n), SLOT);
		write_and_read(out, in, base + far * SLOT, rkey, done);
		CHECK(!memcmp(near + out * SLOT, near + in * SLOT, SLOT));
		memset(near + in * SLOT, 0, SLOT);
		do_old(&read, pool_sge(&sided.near.pool, in, SLOT), done);
		CHECK(!memcmp(near + out * SLOT, near + in * SLOT, SLOT));
		do_old(&add, pool_sge(&sided.near.pool, in, 8), done);
	}
	return NULL;
}

static void one_sided(void)
{
	pthread_t thread[SENDERS];

	/* Its receives stay where they are. */
	sided.lanes = 1;
	traffic_open(&sided);
	sum = (void *)(sided.far.pool.buf + pool_take(&sided.far.pool) * SLOT);
	*sum = 0;
	for (int i = 0; i < SENDERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, sided_thread, NULL));
	for (int i = 0; i < SENDERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK_EQ(*sum, SENDERS * ROUNDS);
	traffic_close(&sided);
}

/* ---- a small queue, gone round many times ---- */

enum { LAP_CQE = 16, LAP_MESSAGES = 4000 };

static struct bench lap;
/* The two threads are ordered by the rings alone: that a CQE's place is
 * written again only after it was read is then seen to be the ring's doing. */
static _Atomic uint32_t lap_polled;

static void *lap_poller(void *arg)
{
	uint32_t n = 0;

	while (n < LAP_MESSAGES) {
		struct ibv_wc wc[4];
		int got = ibv_poll_cq(lap.a.cq, 4, wc);

		CHECK(got >= 0);
		for (int i = 0; i < got; i++) {
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
			CHECK_EQ(wc[i].wr_id, n++);
		}
		atomic_store_explicit(&lap_polled, n, memory_order_relaxed);
		if (!got)
			sched_yield();
	}
	return NULL;
}

static void cq_laps(void)
{
	pthread_t poller;

	bench_open(&lap, LAP_CQE);
	CHECK(!pthread_create(&poller, NULL, lap_poller, NULL));
	for (uint32_t i = 0; i < LAP_MESSAGES; i++) {
		struct ibv_sge sge = {(uintptr_t)lap.a.buf, 8, lap.a.mr->lkey};
		struct ibv_send_wr *bad, wr = {.wr_id = i,
					       .sg_list = &sge,
					       .num_sge = 1,
					       .opcode = IBV_WR_RDMA_WRITE,
					       .send_flags = IBV_SEND_SIGNALED,
					       .wr.rdma = {(uintptr_t)lap.b.buf,
							   lap.b.mr->rkey}};

		while (i - atomic_load_explicit(&lap_polled,
						memory_order_relaxed) >=
		       LAP_CQE / 2)
			sched_yield();
		while (ibv_post_send(lap.a.qp, &wr, &bad))
			sched_yield();
	}
	CHECK(!pthread_join(poller, NULL));
	bench_close(&lap);
}

const struct verbs_test shared_tests[] = {
	{"shared_qp", shared_qp},
	{"shared_cq", shared_cq},
	{"shared_cq_ex", shared_cq_ex},
	{"shared_srq", shared_srq},
	{"shared_channel", shared_channel},
	{"one_sided", one_sided},
	{"cq_laps", cq_laps},
	{0},
};
