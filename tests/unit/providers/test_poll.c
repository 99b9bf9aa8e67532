// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Taking completions: the owner bit over many laps, forgotten queue pairs,
 * the extended readers, and two real threads on one ring.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_device.h"
#include "util/os/clock.h"

static void test_laps(void)
{
	struct ibv_wc wc[16];
	struct fake f;
	u64 next = 0, seen = 0;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	for (int round = 0; round < 100; round++) {
		u32 n = (u32)round % 9;

		for (u32 i = 0; i < n; i++)
			fake_complete(&f, next++, 0x11);
		for (;;) {
			int got = uroce_poll_cq(&f.cq->vcq.cq, 1 + round % 16,
						wc);

			CHECK(got >= 0);
			for (int i = 0; i < got; i++)
				CHECK_EQ(wc[i].wr_id, seen++);
			if (!got)
				break;
		}
		CHECK_EQ(seen, next);
		CHECK_EQ(f.cq->ring.hdr->cons, (u32)next);
	}
}

static void test_forget(void)
{
	struct ibv_wc wc[16];
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	for (u64 i = 0; i < 8; i++)
		fake_complete(&f, i, i & 1 ? 0x11 : 0x22);
	ur_cq_forget_qp(&f.cq->vcq.cq, 0x11);
	CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 16, wc), 4);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(wc[i].wr_id, 2 * (u64)i);
	CHECK_EQ(f.cq->ring.hdr->cons, 8);
	/* The same number used again on the next lap is a new one. */
	fake_complete(&f, 9, 0x11);
	CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 16, wc), 1);
	/* All dead: nothing to see, but the room is given back. */
	fake_complete(&f, 10, 0x11);
	ur_cq_forget_qp(&f.cq->vcq.cq, 0x11);
	CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 16, wc), 0);
	CHECK_EQ(f.cq->ring.hdr->cons, 10);
}

static void test_extended(void)
{
	struct ibv_poll_cq_attr attr = {0};
	struct fake f;
	struct ibv_cq_ex *cq;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	cq = &f.cq->vcq.cq_ex;
	ur_cq_set_methods(f.cq, IBV_WC_EX_WITH_BYTE_LEN |
					IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	for (u64 lap = 0; lap < 10; lap++) {
		for (u64 i = 0; i < 3; i++)
			fake_complete(&f, lap * 3 + i, 0x11);
		CHECK_EQ(ibv_start_poll(cq, &attr), 0);
		CHECK_EQ(cq->wr_id, lap * 3);
		CHECK_EQ(cq->status, IBV_WC_SUCCESS);
		CHECK_EQ(ibv_wc_read_byte_len(cq), 5);
		CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
		CHECK_EQ(ibv_wc_read_completion_ts(cq), 1000 + lap * 3);
		CHECK_EQ(ibv_next_poll(cq), 0);
		CHECK_EQ(cq->wr_id, lap * 3 + 1);
		if (lap & 1) {
			CHECK_EQ(ibv_next_poll(cq), 0);
			CHECK_EQ(ibv_next_poll(cq), ENOENT);
			ibv_end_poll(cq);
		} else {
			/* Leaving early consumes only what was read. */
			ibv_end_poll(cq);
			CHECK_EQ(ibv_start_poll(cq, &attr), 0);
			CHECK_EQ(cq->wr_id, lap * 3 + 2);
			ibv_end_poll(cq);
		}
		CHECK_EQ(f.cq->ring.hdr->cons, (u32)(lap * 3 + 3));
	}
	attr.comp_mask = 1;
	CHECK_EQ(ibv_start_poll(cq, &attr), EINVAL);
}

/* Clocks that go on by 40 ns at each look, and by 30 ms at the jump_at-th of
 * them. */
#define WALL_NS 1700000000000000000ull
static bool fake_clocks;
static u64 raw_ns;
static u32 looks, jump_at;

void ur_kernel_clock(clockid_t id, struct timespec *t)
{
	u64 ns;

	if (!fake_clocks) {
		syscall(SYS_clock_gettime, id, t);
		return;
	}
	raw_ns += ++looks == jump_at ? 30000000 : 40;
	ns = raw_ns + (id == CLOCK_REALTIME ? WALL_NS : 0);
	t->tv_sec = (time_t)(ns / 1000000000);
	t->tv_nsec = (long)(ns % 1000000000);
}

void ur_nap_ns(u64 ns)
{
	abort();
}

/* Whoever reads the clocks may have to wait between two of them. */
static void test_wallclock(void)
{
	struct ibv_poll_cq_attr attr = {0};
	struct fake f;
	struct ibv_cq_ex *cq;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	cq = &f.cq->vcq.cq_ex;
	ur_cq_set_methods(f.cq, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	fake_complete(&f, 0, 0x11);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	fake_clocks = true;
	for (jump_at = 0; jump_at < 8; jump_at++) {
		u64 got;

		looks = 0;
		got = ibv_wc_read_completion_wallclock_ns(cq);
		CHECK(got + 1000 >= WALL_NS + 1000);
		CHECK(got <= WALL_NS + 1000 + 1000);
	}
	fake_clocks = false;
	ibv_end_poll(cq);
}

static void test_arm(void)
{
	struct fake f;
	u32 a;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	uroce_req_notify_cq(&f.cq->vcq.cq, 0);
	a = f.cq->ring.hdr->arm;
	CHECK_EQ(a & UROCE_ARM_MASK, UROCE_ARM_NEXT);
	uroce_req_notify_cq(&f.cq->vcq.cq, 1);
	CHECK(a != f.cq->ring.hdr->arm);
	CHECK_EQ(f.cq->ring.hdr->arm & UROCE_ARM_MASK, UROCE_ARM_SOLICITED);
	/* The first one stays, C11-31. */
	CHECK_EQ(f.cq->ring.hdr->arm_next, a);
	/* Not until the serials have wrapped around to it. */
	f.cq->arm_serial = (1u << 29) + 1;
	uroce_req_notify_cq(&f.cq->vcq.cq, 1);
	CHECK_EQ(f.cq->ring.hdr->arm_next, 0);
}

enum { POSTERS = 2 };
/* Each posts so many while four threads take turns; with UROCE_FULL it is 20000. */
static u32 sends = 5000;

/* The device's loop: bits, WQEs, completions, and never an overrun. */
static void *device_thread(void *arg)
{
	struct fake *f = arg;
	u8 wqe[UROCE_MAX_WQE_BYTES];
	u32 done = 0;

	while (done < sends * POSTERS) {
		if (!fake_take_doorbell(f, 131)) {
			sched_yield();
			continue;
		}
		while (fake_take_wqe(f, wqe)) {
			while (f->cq_prod -
				       __atomic_load_n(&f->cq->ring.hdr->cons,
						       __ATOMIC_ACQUIRE) >
			       f->cq->ring.mask)
				sched_yield();
			CHECK_EQ(ur_get_le32(wqe + 16), 8);
			CHECK(!memcmp(wqe + 20, wqe + 8, 8));
			fake_complete(f, *(u64 *)(void *)(wqe + 8), 0x11);
			done++;
		}
	}
	return NULL;
}

static struct fake shared;

static void *post_thread(void *arg)
{
	u64 base = (u64)(uintptr_t)arg * sends;

	for (u64 i = 0; i < sends; i++) {
		u64 id = base + i;
		struct ibv_sge sge = {(uintptr_t)&id, 8, 0};
		struct ibv_send_wr *bad, wr = {
						 .wr_id = id,
						 .opcode = IBV_WR_SEND,
						 .sg_list = &sge,
						 .num_sge = 1,
						 .send_flags = IBV_SEND_INLINE,
					 };
		int err;

		while ((err = uroce_post_send(&shared.qp->ibv, &wr, &bad))) {
			CHECK_EQ(err, ENOMEM);
			sched_yield();
		}
	}
	return NULL;
}

/* Nothing is lost or seen twice between two posters, a device and a poller. */
static void test_threads(void)
{
	pthread_t dev, post[POSTERS];
	u64 next[POSTERS] = {0};
	struct ibv_wc wc[4];
	const char *full = getenv("UROCE_FULL");
	u32 seen = 0;

	if (full && *full)
		sends = 20000;
	fake_init(&shared, UR_SENDS_RC, 5, 8, 4);
	shared.ctx.yield_after = 4;
	CHECK(!pthread_create(&dev, NULL, device_thread, &shared));
	for (uintptr_t i = 0; i < POSTERS; i++)
		CHECK(!pthread_create(&post[i], NULL, post_thread, (void *)i));
	while (seen < sends * POSTERS) {
		int n = uroce_poll_cq(&shared.cq->vcq.cq, 4, wc);

		for (int i = 0; i < n; i++, seen++) {
			u64 who = wc[i].wr_id / sends;

			CHECK(who < POSTERS);
			CHECK_EQ(wc[i].wr_id % sends, next[who]++);
		}
	}
	pthread_join(dev, NULL);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(post[i], NULL);
	CHECK_EQ(uroce_poll_cq(&shared.cq->vcq.cq, 4, wc), 0);
}

/* ---- two rings: an engine in this process, and the device's ---- */

static u32 turns;

static void take_turn(struct uroce_ectx *engine)
{
	turns++;
}

static const struct uroce_engine_ops engine_ops = {.poll = take_turn};
static const u32 here = 1;

/* The queue of f has that of g as the ring of the shared engine. */
static void two_rings(struct fake *f, struct fake *g)
{
	fake_init(f, UR_SENDS_RC, 4, 16, 4);
	fake_init(g, UR_SENDS_RC, 4, 16, 4);
	f->ctx.engine = (void *)f;
	f->ctx.engine_ops = &engine_ops;
	f->ctx.db.own = &here;
	f->cq->engine = (void *)f;
	f->cq->shared_ring = &g->cq->ring;
	turns = 0;
}

static void test_two_rings(void)
{
	struct ibv_wc wc[16];
	struct fake f, g;
	struct ibv_cq *cq;
	u32 devices = 0;

	two_rings(&f, &g);
	cq = &f.cq->vcq.cq;
	CHECK_EQ(uroce_poll_cq(cq, 16, wc), 0);
	CHECK_EQ(turns, 1);
	for (u64 i = 0; i < 8; i++) {
		fake_complete(&f, i, 0x11);
		fake_complete(&g, 100 + i, 0x22);
	}
	/* By turns, each in its order. */
	for (u64 i = 0; i < 4; i++) {
		CHECK_EQ(uroce_poll_cq(cq, 1, wc), 1);
		devices += wc[0].qp_num == 0x22;
		CHECK_EQ(wc[0].wr_id % 100, i / 2);
	}
	CHECK_EQ(devices, 2);
	CHECK_EQ(uroce_poll_cq(cq, 16, wc), 12);
	CHECK_EQ(f.cq->ring.hdr->cons, 8);
	CHECK_EQ(g.cq->ring.hdr->cons, 8);
	CHECK_EQ(turns, 1);
	for (u64 i = 0; i < 4; i++) {
		fake_complete(&f, i, 0x11);
		fake_complete(&g, i, i & 1 ? 0x11 : 0x22);
	}
	ur_cq_forget_qp(cq, 0x11);
	CHECK_EQ(uroce_poll_cq(cq, 16, wc), 2);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(wc[i].qp_num, 0x22);
	uroce_req_notify_cq(cq, 1);
	CHECK_EQ(f.cq->ring.hdr->arm & UROCE_ARM_MASK, UROCE_ARM_SOLICITED);
	CHECK_EQ(g.cq->ring.hdr->arm, f.cq->ring.hdr->arm);
}

static void test_two_rings_extended(void)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_cq_ex *cq;
	struct fake f, g;
	u32 seen = 0;

	two_rings(&f, &g);
	cq = &f.cq->vcq.cq_ex;
	ur_cq_set_methods(f.cq, IBV_WC_EX_WITH_QP_NUM);
	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	CHECK_EQ(turns, 1);
	for (u64 i = 0; i < 3; i++) {
		fake_complete(&f, i, 0x11);
		fake_complete(&g, i, 0x22);
	}
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	for (int i = 0; i < 4; i++) {
		seen += ibv_wc_read_qp_num(cq) == 0x22;
		if (i < 3)
			CHECK_EQ(ibv_next_poll(cq), 0);
	}
	ibv_end_poll(cq);
	/* Leaving early consumes only what was read. */
	CHECK_EQ(seen, 2);
	CHECK_EQ(f.cq->ring.hdr->cons, 2);
	CHECK_EQ(g.cq->ring.hdr->cons, 2);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	CHECK_EQ(f.cq->ring.hdr->cons, 3);
	CHECK_EQ(g.cq->ring.hdr->cons, 3);
	CHECK_EQ(turns, 1);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_laps());
	CASE(test_forget());
	CASE(test_extended());
	CASE(test_wallclock());
	CASE(test_arm());
	CASE(test_threads());
	CASE(test_two_rings());
	CASE(test_two_rings_extended());
	return cases_status();
}
