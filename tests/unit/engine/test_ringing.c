// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Many contexts beside one that rings: the engine does not touch the doorbell
 * pages of those that do not, whether it is awake, falls asleep or wakes. Their
 * next ring is answered, when they go quiet at that moment too, and comes
 * before a command.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "engine/core/ringing.h"
#include "engine/ground/user.h"
#include "tests/check.h"
#include "tests/lo_engine.h"

#define CONTEXTS 96u
#define RINGERS	 4u
#define ROUNDS	 300u

static struct ur_engine *engine;
static struct ur_ectx *contexts[CONTEXTS];
static struct ur_ectx_info infos[CONTEXTS];

/* As a client does. */
static void ring(u32 i)
{
	struct uroce_db_page *db = contexts[i]->db;
	u64 one = 1;

	__atomic_fetch_or(&db->word[0], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&db->summary, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&db->asleep, __ATOMIC_SEQ_CST))
		CHECK_EQ(write(infos[i].wake_fd, &one, sizeof(one)),
			 sizeof(one));
}

static bool is_answered(u32 i)
{
	return !__atomic_load_n(&contexts[i]->db->summary, __ATOMIC_ACQUIRE);
}

static void ring_and_wait(u32 i)
{
	ring(i);
	while (!is_answered(i))
		sched_yield();
}

static int count_ringing(struct ur_engine *e)
{
	return (int)e->n_ringing;
}
UR_ENGINE_CALL(0, count_ringing);

static int rings(struct ur_engine *e, struct ur_ectx *x)
{
	return !ur_list_empty(&x->ring_node);
}
UR_ENGINE_CALL(1, rings, struct ur_ectx *);

/* A context that rings as it goes quiet, too early to see that the engine has to be woken. Returns
 * whether it rings on. */
static int rings_at_last(struct ur_engine *e, struct ur_ectx *x)
{
	for (u32 i = 0; i < CONTEXTS; i++)
		ur_ringing_add(e, contexts[i]);
	ur_doorbell_sleep(x->db, false);
	x->rung_at = 0;
	e->ringing_checked = 0;
	__atomic_fetch_or(&x->db->word[0], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&x->db->summary, 1, __ATOMIC_SEQ_CST);
	ur_ringing_check(e);
	return !ur_list_empty(&x->ring_node) &&
	       !__atomic_load_n(&x->db->asleep, __ATOMIC_SEQ_CST);
}
UR_ENGINE_CALL(1, rings_at_last, struct ur_ectx *);

static void open_all(struct ur_user_mem *mem)
{
	for (u32 i = 0; i < CONTEXTS; i++) {
		int fd = memfd_create("rings", MFD_CLOEXEC);

		CHECK(fd >= 0 && !ftruncate(fd, 64 << 20));
		CHECK_EQ(ur_ectx_create(engine, fd, mem, 0, &contexts[i],
					&infos[i]),
			 0);
	}
}

static void until_quiet(void)
{
	while (call_count_ringing(engine) > (int)UR_RINGING_FEW) {
		ring_and_wait(0);
		poll(NULL, 0, 1);
	}
}

static void protect(u32 i, int how)
{
	CHECK(!mprotect((void *)((uintptr_t)contexts[i]->db & ~4095ull), 4096,
			how));
}

static void test_untouched(void)
{
	static bool quiet[CONTEXTS];
	u32 n = 0;

	until_quiet();
	for (u32 i = 1; i < CONTEXTS; i++)
		quiet[i] = !call_rings(engine, contexts[i]);
	for (u32 i = 0; i < CONTEXTS; i++) {
		n += quiet[i];
		if (quiet[i])
			protect(i, PROT_NONE);
	}
	CHECK(n >= CONTEXTS - UR_RINGING_FEW - 1);
	for (u32 i = 0; i < 2000; i++) {
		ring_and_wait(0);
		if (i % 16 == 0)
			poll(NULL, 0, 1); /* it sleeps meanwhile */
	}
	for (u32 i = 0; i < CONTEXTS; i++)
		if (quiet[i])
			protect(i, PROT_READ | PROT_WRITE);
}

/* A ring whose wake-up has not come yet, and a command. */
static void test_before_command(void)
{
	for (u32 i = 1; i < CONTEXTS; i++) {
		if (call_rings(engine, contexts[i]))
			continue;
		__atomic_fetch_or(&contexts[i]->db->word[0], 1,
				  __ATOMIC_SEQ_CST);
		__atomic_fetch_or(&contexts[i]->db->summary, 1,
				  __ATOMIC_SEQ_CST);
		call_count_ringing(engine);
		CHECK(is_answered(i));
	}
}

static void test_at_last(void)
{
	for (u32 i = 0; i < CONTEXTS; i += 7) {
		CHECK(call_rings_at_last(engine, contexts[i]));
		/* The call may have run in this thread while the engine slept: an engine that looks is awake. */
		ur_mailbox_wake(engine);
		while (!is_answered(i))
			sched_yield();
	}
}

static void *ring_some(void *arg)
{
	u32 me = (u32)(uintptr_t)arg, seed = me + 1;

	for (u32 n = 0; n < ROUNDS; n++) {
		u32 i = me + RINGERS * (n % (CONTEXTS / RINGERS));

		ring_and_wait(i);
		ring_and_wait(i);
		usleep((u32)rand_r(&seed) % 300);
	}
	return NULL;
}

static void test_comes_back(void)
{
	pthread_t t[RINGERS];

	until_quiet();
	for (u32 i = 0; i < CONTEXTS; i++)
		ring_and_wait(i);
	for (u32 i = 0; i < RINGERS; i++)
		CHECK(!pthread_create(&t[i], NULL, ring_some,
				      (void *)(uintptr_t)i));
	for (u32 i = 0; i < RINGERS; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	struct ur_engine_config config = {LO_ENGINE, .kind = &ur_program_kind};
	struct ur_user_mem *self;

	CHECK_EQ(ur_engine_create(&config, &engine), 0);
	CHECK_EQ(ur_user_mem_create(open("/proc/self/mem", O_RDWR), getpid(),
				    &self),
		 0);
	open_all(self);
	STEP(test_untouched());
	STEP(test_before_command());
	STEP(test_at_last());
	STEP(test_comes_back());
	for (u32 i = 0; i < CONTEXTS; i++)
		ur_ectx_destroy(contexts[i]);
	ur_user_mem_put(self);
	ur_engine_destroy(engine);
	return 0;
}
