// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The flight recorder's ring: what is copied is whole, in order and the last,
 * also while somebody writes. */
#include <pthread.h>
#include <string.h>
#include "engine/ground/recorder.h"
#include "tests/check.h"

#define KIB   UR_RECORDER_MIN_KIB
#define SLOTS (KIB * 1024 / UROCE_RECORD_SLOT)
#define LAPS  2000

static u8 copy[KIB * 1024];

/* Each third is a packet. All words of a record have its number. */
static void put(struct ur_recorder *rec, u64 n)
{
	struct uroce_record_packet p;

	memset(&p, 0, sizeof(p));
	if (n % 3) {
		struct uroce_record r = {.ns = n,
					 .kind = UROCE_RECORD_SEND,
					 .wr_id = n,
					 .va = n,
					 .imm = (u32)n};

		ur_recorder_put(rec, &r);
		return;
	}
	p.ns = n;
	p.kind = UROCE_RECORD_PACKET_OUT;
	memcpy(p.headers, &n, sizeof(n));
	memcpy(p.headers + 40, &n, sizeof(n));
	/* The second half looks like the first of one. */
	p.rsv[0] = UROCE_RECORD_PACKET_IN;
	memcpy(p.daddr + 8, &n, sizeof(n));
	ur_recorder_put_packet(rec, &p);
}

/* Returns the number of the last record, and the first one's in *first. */
static u64 check_copy(struct ur_recorder *rec, u64 *first)
{
	u64 lost, number = 0;
	u32 n = ur_recorder_copy(rec, copy, &lost), i = 0;

	CHECK(n <= SLOTS);
	*first = 0;
	while (i < n) {
		struct uroce_record r;
		struct uroce_record_packet p;

		memcpy(&r, copy + (size_t)i * UROCE_RECORD_SLOT, sizeof(r));
		CHECK(!number || r.ns == number + 1);
		number = r.ns;
		if (!*first)
			*first = number;
		if (r.kind == UROCE_RECORD_SEND) {
			CHECK(r.wr_id == number && r.va == number &&
			      r.imm == (u32)number);
			i++;
			continue;
		}
		CHECK_EQ(r.kind, UROCE_RECORD_PACKET_OUT);
		CHECK(i + 2 <= n);
		memcpy(&p, copy + (size_t)i * UROCE_RECORD_SLOT, sizeof(p));
		CHECK(!memcmp(p.headers, &number, 8));
		CHECK(!memcmp(p.headers + 40, &number, 8));
		CHECK(!memcmp(p.daddr + 8, &number, 8));
		i += 2;
	}
	return number;
}

static void test_alone(void)
{
	struct ur_recorder *rec = ur_recorder_create(KIB);
	u64 first;

	CHECK(rec);
	CHECK_EQ(check_copy(rec, &first), 0);
	for (u64 n = 1; n < 3 * SLOTS; n++) {
		put(rec, n);
		CHECK_EQ(check_copy(rec, &first), n);
		/* Four slots for three records. */
		CHECK(first == 1 || n - first >= SLOTS * 3 / 4 - 3);
	}
	CHECK(first > SLOTS);
	ur_recorder_free(rec);
}

static void *write_many(void *arg)
{
	for (u64 n = 1; n < (u64)LAPS * SLOTS; n++)
		put(arg, n);
	return NULL;
}

static void test_beside_a_writer(void)
{
	struct ur_recorder *rec = ur_recorder_create(KIB);
	u64 first, last = 0;
	pthread_t thread;

	CHECK(rec);
	CHECK(!pthread_create(&thread, NULL, write_many, rec));
	while (last < (u64)LAPS * SLOTS - 1) {
		u64 now = check_copy(rec, &first);

		CHECK(!now || now >= last);
		last = now ? now : last;
	}
	pthread_join(thread, NULL);
	ur_recorder_free(rec);
}

int main(void)
{
	CASE(test_alone());
	CASE(test_beside_a_writer());
	return cases_status();
}
