// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring between two engines: packets come as they went, in order and whole,
 * also with both ends at work; what finds no room is lost and nothing else, and
 * datagrams leave room for the rest.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "engine/several/handover.h"
#include "tests/check.h"
#include "transport/wire_format.h"
#include "util/rng.h"

/* TSan sees a race in the first laps or not at all, and takes ten times as long. */
#ifdef __SANITIZE_THREAD__
#define PACKETS 10000u
#define ROUNDS	3u
#else
#define PACKETS 200000u
#define ROUNDS	300u
#endif
#define LONGEST 4200u

static struct ur_handover q;

static void make(u8 *p, u32 len, u32 n, u8 opcode)
{
	memset(p, (int)n, len);
	p[0] = opcode;
	memcpy(p + 1, &n, sizeof(n));
}

static u32 number(const u8 *p)
{
	u32 n;

	memcpy(&n, p + 1, sizeof(n));
	return n;
}

/* The next packet is whole. Returns its number. */
static u32 take(const struct ur_rx_meta *meta, const u8 *p, u32 len)
{
	u32 n = number(p);

	CHECK_EQ(meta->realm, n);
	CHECK_EQ(meta->udp_sport, (u16)len);
	for (u32 i = 5; i < len; i++)
		CHECK_EQ(p[i], (u8)n);
	return n;
}

static bool put(u32 len, u32 n, u8 opcode)
{
	struct ur_rx_meta meta = {.realm = n, .udp_sport = (u16)len};
	u8 packet[LONGEST];

	make(packet, len, n, opcode);
	return ur_handover_put(&q, &meta, packet, len);
}

static void test_unseen(void)
{
	const struct ur_rx_meta *meta;
	u32 len;

	CHECK(!ur_handover_any(&q) && !ur_handover_publish(&q));
	CHECK(put(64, 7, UR_SVC_RC));
	CHECK(!ur_handover_any(&q) && !ur_handover_get(&q, &meta, &len));
	CHECK(ur_handover_publish(&q) && !ur_handover_publish(&q));
	CHECK(ur_handover_any(&q));
	const u8 *p = ur_handover_get(&q, &meta, &len);

	CHECK(p && len == 64 && take(meta, p, len) == 7);
	ur_handover_done(&q);
	CHECK(!ur_handover_any(&q));
}

static u32 fill(u8 opcode, u32 first)
{
	u32 n = first;

	while (put(4096, n, opcode))
		n++;
	ur_handover_publish(&q);
	return n - first;
}

static void drain(u32 first, u32 count)
{
	const struct ur_rx_meta *meta;
	const u8 *p;
	u32 len, n = 0;

	for (; (p = ur_handover_get(&q, &meta, &len)); n++) {
		CHECK_EQ(take(meta, p, len), first + n);
		ur_handover_done(&q);
	}
	CHECK_EQ(n, count);
}

static void test_full(void)
{
	u32 datagrams, others;

	/* From different places, so that the end is met everywhere. */
	for (u32 i = 0; i < ROUNDS; i++) {
		u64 lost = q.lost;

		datagrams = fill(UR_SVC_UD, 0);
		CHECK(datagrams >= UR_HANDOVER_BYTES / 2 / 5000);
		CHECK(datagrams <= UR_HANDOVER_BYTES / 2 / 4096);
		others = fill(UR_SVC_RC, datagrams);
		CHECK(others >= UR_HANDOVER_BYTES / 2 / 5000);
		CHECK(!put(8, 0, UR_SVC_UD));
		CHECK_EQ(q.lost, lost + 3);
		drain(0, datagrams + others);
		CHECK(put(5 + i % 100, i, UR_SVC_RC));
		ur_handover_publish(&q);
		drain(i, 1);
	}
	CHECK(!ur_handover_put(&q, &(struct ur_rx_meta){0}, q.ring,
			       UR_HANDOVER_BYTES));
}

static void *write_all(void *arg)
{
	struct ur_rng rng = {2};

	for (u32 n = 0; n < PACKETS; n++) {
		u32 len = 5 + (u32)(ur_rng_u64(&rng) % (LONGEST - 5));

		while (!put(len, n, UR_SVC_RC)) {
			ur_handover_publish(&q);
			sched_yield();
		}
		if (ur_rng_u64(&rng) % 8 == 0)
			ur_handover_publish(&q);
	}
	ur_handover_publish(&q);
	return NULL;
}

static void test_both(void)
{
	const struct ur_rx_meta *meta;
	pthread_t writer;
	const u8 *p;
	u32 len;

	CHECK_EQ(pthread_create(&writer, NULL, write_all, NULL), 0);
	for (u32 n = 0; n < PACKETS; n++) {
		while (!(p = ur_handover_get(&q, &meta, &len)))
			sched_yield();
		CHECK_EQ(take(meta, p, len), n);
		ur_handover_done(&q);
	}
	pthread_join(writer, NULL);
	CHECK(!ur_handover_any(&q));
}

int main(void)
{
	CHECK_EQ(ur_handover_init(&q), 0);
	test_unseen();
	test_full();
	test_both();
	ur_handover_fini(&q);
	return 0;
}
