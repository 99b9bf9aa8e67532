// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers of objects: found again whatever they are, and, with a secret, drawn
 * so that none reveals another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/table.h"
#include "tests/check.h"

#define FIRST 16u
#define LAST  0xffffffu
#define N     20000u

static u32 object[N], id[N];

/* The vector of the paper's appendix: key 00 .. 0f, the eight bytes 00 .. 07.
 * */
static void test_siphash(void)
{
	struct ur_secret s = {
		.key = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull},
		.count = 0x0706050403020100ull};

	CHECK_EQ(ur_secret_u64(&s), 0x93f5f5799a932462ull);
	CHECK_EQ(s.count, 0x0706050403020101ull);
}

static void fill(struct ur_table *t)
{
	for (u32 i = 0; i < N; i++) {
		CHECK_EQ(ur_table_add(t, &object[i], &id[i]), 0);
		CHECK(id[i] >= FIRST && id[i] <= LAST);
	}
	CHECK_EQ(ur_table_add(t, &object[0], &id[0]), -ENOMEM);
	for (u32 i = 0; i < N; i++)
		CHECK(ur_table_lookup(t, id[i]) == &object[i]);
}

/* Numbers of another table are found too, each once, and do not make the table
 * far larger than it need be. */
static void test_put(struct ur_secret *secret)
{
	struct ur_table from, to;

	ur_table_init(&from, FIRST, LAST, N, secret);
	ur_table_init(&to, FIRST, LAST, N, secret);
	for (u32 i = 0; i < 500; i++)
		CHECK_EQ(ur_table_add(&from, &object[i], &id[i]), 0);
	for (u32 i = 500; i < 1000; i++)
		CHECK_EQ(ur_table_add(&to, &object[i], &id[i]), 0);
	for (u32 i = 0; i < 500; i++) {
		int err = ur_table_put(&to, &object[i], id[i]);

		if (err == -EEXIST) {
			id[i] = 0;
			continue;
		}
		CHECK_EQ(err, 0);
		CHECK_EQ(ur_table_put(&to, &object[i], id[i]), -EEXIST);
	}
	for (u32 i = 0; i < 1000; i++)
		CHECK(!id[i] || ur_table_lookup(&to, id[i]) == &object[i]);
	CHECK(to.mask < 2 * 64 * 1064);
	ur_table_fini(&from);
	ur_table_fini(&to);
}

/* One that differs from another in its first bit alone. */
static void test_put_alike(void)
{
	struct ur_table t;

	ur_table_init(&t, FIRST, LAST, N, NULL);
	CHECK_EQ(ur_table_put(&t, &object[0], 0x000100), 0);
	CHECK_EQ(ur_table_put(&t, &object[1], 0x000200), 0);
	CHECK_EQ(ur_table_put(&t, &object[2], 0x800200), -EEXIST);
	CHECK(ur_table_lookup(&t, 0x000100) == &object[0]);
	CHECK(ur_table_lookup(&t, 0x000200) == &object[1]);
	CHECK(!ur_table_lookup(&t, 0x800200));
	ur_table_remove(&t, 0x000200);
	CHECK_EQ(ur_table_put(&t, &object[2], 0x800200), 0);
	ur_table_fini(&t);
}

/* For a number that somebody names the table does not grow beyond a bound, which is that of such numbers; for
 * what it has it does. */
static void test_put_within(void)
{
	struct ur_table t;
	u32 n;

	ur_table_init(&t, FIRST, LAST, N, NULL);
	for (u32 i = 0; i < 64; i++)
		CHECK_EQ(ur_table_put_within(&t, &object[i], 0x100 + i, 256),
			 0);
	CHECK_EQ(ur_table_put_within(&t, &object[64], 0x4101, 256), -EEXIST);
	CHECK_EQ(t.mask, 255);
	CHECK_EQ(ur_table_put(&t, &object[64], 0x4101), -EEXIST);
	for (u32 i = 65; i < 400; i++)
		CHECK_EQ(ur_table_add(&t, &object[i], &n), 0);
	CHECK(t.mask > 255);
	CHECK_EQ(ur_table_put_within(&t, &object[400], 0x8101, 256), -EEXIST);
	ur_table_fini(&t);
}

/* No number comes twice, until most have come once. */
static void test_spent(struct ur_secret *secret)
{
	static u8 came[1024];
	struct ur_table t;
	u32 n = 0;

	ur_table_init(&t, FIRST, FIRST + 1023, 8, secret);
	CHECK_EQ(ur_table_spend(&t), 0);
	CHECK_EQ(ur_table_spend(&t), 0);
	for (; n < 768; n++) {
		CHECK_EQ(ur_table_add(&t, &object[0], &id[0]), 0);
		CHECK(!came[id[0] - FIRST]++);
		ur_table_remove(&t, id[0]);
	}
	for (; n < 4096; n++) {
		CHECK_EQ(ur_table_add(&t, &object[0], &id[0]), 0);
		CHECK_EQ(ur_table_add(&t, &object[1], &id[1]), 0);
		CHECK(ur_table_lookup(&t, id[0]) == &object[0]);
		ur_table_remove(&t, id[0]);
		ur_table_remove(&t, id[1]);
	}
	memset(came, 0, sizeof(came));
	ur_table_fini(&t);
}

static void test_counted(void)
{
	struct ur_table t;

	ur_table_init(&t, FIRST, LAST, N, NULL);
	fill(&t);
	for (u32 i = 0; i < N; i++)
		CHECK_EQ(id[i], FIRST + i);
	ur_table_fini(&t);
}

/* How many are near the one before: by chance hardly any. */
static u32 neighbours(void)
{
	u32 n = 0;

	for (u32 i = 1; i < N; i++)
		n += labs((long)id[i] - (long)id[i - 1]) < 256;
	return n;
}

static u32 common(const u32 *other)
{
	u32 n = 0;

	for (u32 i = 0; i < N; i++)
		n += id[i] == other[i];
	return n;
}

static void test_drawn(void)
{
	struct ur_secret key = {.key = {1, 2}}, other = {.key = {1, 3}}, s;
	static u32 before[N];
	struct ur_table t;
	u32 low = 0;

	s = key;
	ur_table_init(&t, FIRST, LAST, N, &s);
	fill(&t);
	/* 256 in 2^23, of 20000 */
	CHECK(neighbours() <= 4);
	for (u32 i = 0; i < N; i++)
		low += id[i] < LAST / 2;
	CHECK(low > N * 45 / 100 && low < N * 55 / 100);
	/* Gone and come again, others meanwhile. */
	for (u32 i = 0; i < N; i += 2) {
		ur_table_remove(&t, id[i]);
		CHECK(!ur_table_lookup(&t, id[i]));
	}
	for (u32 i = 0; i < N; i += 2) {
		CHECK_EQ(ur_table_add(&t, &object[i], &before[i]), 0);
		CHECK(ur_table_lookup(&t, before[i]) == &object[i]);
	}
	for (u32 i = 1; i < N; i += 2)
		CHECK(ur_table_lookup(&t, id[i]) == &object[i]);
	ur_table_fini(&t);

	/* The secret decides, and nothing else. */
	memcpy(before, id, sizeof(id));
	s = key;
	ur_table_init(&t, FIRST, LAST, N, &s);
	fill(&t);
	CHECK_EQ(common(before), N);
	ur_table_fini(&t);
	ur_table_init(&t, FIRST, LAST, N, &other);
	fill(&t);
	CHECK(common(before) <= 1);
	ur_table_fini(&t);
}

/* All of few numbers are found. */
static void test_narrow(void)
{
	struct ur_secret s = {.key = {5, 6}};
	struct ur_table t;
	u32 seen = 0;

	ur_table_init(&t, 3, 10, 8, &s);
	for (u32 i = 0; i < 8; i++) {
		CHECK_EQ(ur_table_add(&t, &object[i], &id[i]), 0);
		CHECK(id[i] >= 3 && id[i] <= 10 && !(seen & 1u << id[i]));
		seen |= 1u << id[i];
	}
	ur_table_fini(&t);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_siphash());
	CASE(test_counted());
	CASE(test_drawn());
	CASE(test_narrow());
	CASE(test_spent(NULL));
	CASE(test_spent(&(struct ur_secret){.key = {7, 8}}));
	CASE(test_put(&(struct ur_secret){.key = {7, 9}}));
	CASE(test_put_alike());
	CASE(test_put_within());
	return cases_status();
}
