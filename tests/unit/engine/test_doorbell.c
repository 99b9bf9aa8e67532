// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Client threads ring as kernel-abi/uroce-ring.h says; a device thread takes
 * and sleeps. No ring is ever missed: each client waits for its answer before
 * it rings again, so a lost one would hang (and time out).
 */
#include <pthread.h>
#include <sys/eventfd.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>
#include "engine/core/doorbell.h"
#include "tests/check.h"

#define CLIENTS 4
#define RINGS	20000

static struct uroce_db_page page;
static int wake_fd;
static _Atomic u32 asked[CLIENTS], answered[CLIENTS];
static _Atomic int clients_left = CLIENTS;

static u32 slot_of(u32 client)
{
	return client * 1021 % UROCE_DB_SLOTS;
}

static void ring(u32 slot)
{
	u64 one = 1;

	__atomic_fetch_or(&page.word[slot / 64], 1ull << (slot % 64),
			  __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&page.summary, 1ull << (slot / 64), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&page.asleep, __ATOMIC_RELAXED))
		CHECK(write(wake_fd, &one, sizeof(one)) == sizeof(one));
}

static void *client(void *arg)
{
	u32 me = (u32)(uintptr_t)arg;

	for (u32 i = 1; i <= RINGS; i++) {
		asked[me] = i;
		ring(slot_of(me));
		while (answered[me] != i)
			sched_yield();
	}
	clients_left--;
	ring(slot_of(me)); /* so that the device looks once more */
	return NULL;
}

static void answer(void *arg, u32 slot)
{
	for (u32 c = 0; c < CLIENTS; c++)
		if (slot_of(c) == slot)
			answered[c] = asked[c];
}

static void device(void)
{
	struct pollfd p = {.fd = wake_fd, .events = POLLIN};
	u64 count;

	while (clients_left) {
		ur_doorbell_take(&page, answer, NULL);
		ur_doorbell_sleep(&page, true);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!ur_doorbell_any(&page)) {
			CHECK(poll(&p, 1, -1) == 1);
			CHECK(read(wake_fd, &count, sizeof(count)) > 0);
		}
		ur_doorbell_sleep(&page, false);
	}
}

static void count_slot(void *arg, u32 slot)
{
	CHECK(slot < UROCE_DB_SLOTS);
	++*(u32 *)arg;
}

/* All bits set at once: each slot once, and nothing is left. */
static void test_all_slots(void)
{
	u32 n = 0;

	memset(page.word, 0xff, sizeof(page.word));
	page.summary = ~0ull;
	ur_doorbell_take(&page, count_slot, &n);
	CHECK_EQ(n, UROCE_DB_SLOTS);
	CHECK(!ur_doorbell_any(&page));
}

int main(void)
{
	pthread_t t[CLIENTS];

	test_all_slots();
	wake_fd = eventfd(0, 0);
	CHECK(wake_fd >= 0);
	for (u32 i = 0; i < CLIENTS; i++)
		CHECK(!pthread_create(&t[i], NULL, client,
				      (void *)(uintptr_t)i));
	device();
	for (u32 i = 0; i < CLIENTS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
