// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * New rings of a size that takes its time: the page faults are of who asks for
 * them, and the engine, which others wait for, has none of it; nor has it any
 * when it writes there.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/machine.h"

#define FILE_BYTES (1ull << 40)
#define ENTRIES	   (1u << 18)
#define WANTS	   (1u << 16) /* of a shared receive queue */
#define PAGES	   (ENTRIES * 64 / 4096)
/* The engine's own, of whatever kind: stacks, buffers, counters. */
#define OWN (PAGES / 16)

static struct ur_engine *engine;
static struct ur_ectx *ectx;
static struct ur_user_mem *self;

/* So that the next call is the engine thread's and not run in its place. */
static void ring(void)
{
	__atomic_store_n(&ectx->db->summary, 1, __ATOMIC_SEQ_CST);
}

struct seen {
	long faults;
	pthread_t thread;
};

static int look(struct ur_engine *e, void *arg)
{
	struct seen *s = arg;
	struct rusage u;

	CHECK_EQ(getrusage(RUSAGE_THREAD, &u), 0);
	s->faults = u.ru_minflt;
	s->thread = pthread_self();
	return 0;
}

static long engine_faults(void)
{
	struct seen s;

	do {
		ring();
		ur_engine_call(engine, look, &s);
	} while (pthread_equal(s.thread, pthread_self()));
	return s.faults;
}

static int fill(struct ur_engine *e, void *arg)
{
	const struct ur_wc wc = {.wr_id = 1};
	struct ur_ecq *cq = arg;

	for (u32 i = 0; i < cq->entries; i++)
		CHECK_EQ(ur_cq_push(cq, &wc), 0);
	return 0;
}

static void test_cq(void)
{
	struct ur_ecq_init init = {.entries = ENTRIES};
	struct uroce_create_cq_resp resp;
	struct uroce_resize_cq_resp bigger;
	long before = engine_faults();
	struct ur_ecq *cq;
	struct ur_events_left comp, async;

	ring();
	CHECK_EQ(ur_ecq_create(ectx, &init, &cq, &resp), 0);
	CHECK(engine_faults() - before < OWN);
	ring();
	ur_engine_call(engine, fill, cq);
	CHECK(engine_faults() - before < OWN);
	/* All of it has been taken: the next index is in the second lap. */
	__atomic_store_n(&cq->hdr->cons, ENTRIES, __ATOMIC_RELEASE);
	ring();
	CHECK_EQ(ur_ecq_resize(cq, 2 * ENTRIES, &bigger), 0);
	ring();
	ur_engine_call(engine, fill, cq);
	CHECK(engine_faults() - before < OWN);
	ring();
	CHECK_EQ(ur_ecq_destroy(cq, &comp, &async), 0);
	CHECK(engine_faults() - before < OWN);
}

static void test_srq(void)
{
	struct ur_esrq_init init = {.pd = 1, .max_wr = WANTS / 2, .max_sge = 8};
	struct uroce_create_srq_resp resp;
	long before = engine_faults();
	struct ur_esrq *srq;
	struct ur_events_left events;

	ring();
	CHECK_EQ(ur_esrq_create(ectx, &init, &srq, &resp), 0);
	/* As if it were full. */
	srq->rq.ring.hdr->prod = WANTS / 2;
	for (u32 i = 0; i < WANTS / 2; i++)
		((struct uroce_recv_wqe *)(srq->rq.ring.base +
					   (u64)i * resp.stride))
			->wr_id = i;
	ring();
	CHECK_EQ(ur_esrq_resize(srq, WANTS, &resp), 0);
	CHECK_EQ(((struct uroce_recv_wqe *)(srq->rq.ring.base +
					    77ull * resp.stride))
			 ->wr_id,
		 77);
	ring();
	CHECK_EQ(ur_esrq_destroy(srq, &events), 0);
	CHECK(engine_faults() - before < OWN);
}

int main(int argc, char **argv)
{
	struct ur_engine_config config = {
		LO_ENGINE,
		.kind = &ur_program_kind,
	};
	struct ur_ectx_info info;
	int fd = memfd_create("rings", MFD_CLOEXEC);

	cases(&argc, argv);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer's notes on a ring are pages of their own");
#endif
	if (is_emulated())
		SKIP("an emulator's page faults are counted, too");
	CHECK(fd >= 0 && !ftruncate(fd, FILE_BYTES));
	CHECK_EQ(ur_engine_create(&config, &engine), 0);
	CHECK_EQ(ur_user_mem_create(open("/proc/self/mem", O_RDWR), getpid(),
				    &self),
		 0);
	CHECK_EQ(ur_ectx_create(engine, fd, self, 0, &ectx, &info), 0);
	STEP(test_cq());
	STEP(test_srq());
	ur_ectx_destroy(ectx);
	ur_user_mem_put(self);
	ur_engine_destroy(engine);
	return cases_status();
}
