// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The flight recorder's ring of a program: what uroced takes of it while the program
 * records, lies, scribbles and has ended. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "engine/ground/program_record.h"
#include "tests/check.h"
#include "util/rng.h"

#define KIB   UR_RECORDER_MIN_KIB
#define SLOTS (KIB * 1024 / UROCE_RECORD_SLOT)
#define RUN   7u
#define OWN   0x200005u
#define TIMES 4000

static u8 copy[KIB * 1024];
static struct ur_program_record *grant;
static struct ur_recorder_ring *ring;
static struct ur_recorder *rec;

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

static struct ur_record_whose whose = {
	.first_qpn = 0x200000,
	.last_qpn = 0x3fffff,
	.uid = 4,
	.pid = 5,
};

static void begin(void)
{
	whose.since = now_ns();
	CHECK(!ur_program_record_create(&whose, &grant));
	CHECK(!ur_program_record_map(ur_program_record_fd(grant), &ring));
	rec = ur_recorder_attach(ring, KIB, RUN);
	CHECK(rec);
}

static void end(void)
{
	ur_recorder_free(rec);
	ur_program_record_unmap(ring);
	ur_program_record_put(grant);
}

static struct uroce_record record(u8 kind, u32 qpn)
{
	return (struct uroce_record){.ns = now_ns(),
				     .kind = kind,
				     .qpn = qpn,
				     .uid = 77,
				     .pid = 78,
				     .wr_id = 9};
}

static struct uroce_record_packet packet(u32 qpn)
{
	return (struct uroce_record_packet){.ns = now_ns(),
					    .kind = UROCE_RECORD_PACKET_IN,
					    .status = 12,
					    .qpn = qpn,
					    .length = 16,
					    .daddr = {[15] = 3}};
}

static u32 read_all(u64 *lost)
{
	return ur_program_record_copy(grant, RUN, KIB, copy, lost);
}

static u32 count(void)
{
	u64 lost;

	return read_all(&lost);
}

static void put(u8 kind, u32 qpn)
{
	struct uroce_record r = record(kind, qpn);

	ur_recorder_put(rec, &r);
}

static void honest(void)
{
	struct uroce_record r;
	struct uroce_record_packet p;
	u64 lost;

	begin();
	put(UROCE_RECORD_SEND, OWN);
	p = packet(OWN);
	ur_recorder_put_packet(rec, &p);
	put(UROCE_RECORD_RECV, 0);
	CHECK_EQ(read_all(&lost), 4);
	CHECK_EQ(lost, 0);
	memcpy(&r, copy, sizeof(r));
	CHECK_EQ(r.wr_id, 9);
	CHECK(r.uid == whose.uid && r.pid == (u32)whose.pid);
	memcpy(&p, copy + 64, sizeof(p));
	CHECK(p.uid == whose.uid && p.pid == (u32)whose.pid);
	CHECK_EQ(p.daddr[15], 3);
	/* For a queue pair that has gone. */
	p = packet(OWN);
	p.uid = UROCE_RECORD_NOBODY;
	ur_recorder_put_packet(rec, &p);
	CHECK_EQ(read_all(&lost), 6);
	memcpy(&p, copy + 256, sizeof(p));
	CHECK(p.uid == UROCE_RECORD_NOBODY && !p.pid);
	for (u32 i = 0; i < 3 * SLOTS; i++)
		put(UROCE_RECORD_SEND, OWN);
	CHECK_EQ(read_all(&lost), SLOTS);
	CHECK_EQ(lost, 2 * SLOTS + 6);
	/* Another recording is not this one. */
	CHECK_EQ(ur_program_record_copy(grant, RUN + 1, KIB, copy, &lost), 0);
	CHECK_EQ(lost, 0);
	end();
}

/* An engine of several processes names one in each record, but no other user. */
static void several(void)
{
	const pid_t pid = whose.pid;
	struct uroce_record r;

	whose.pid = 0;
	begin();
	put(UROCE_RECORD_SEND, OWN);
	r = record(UROCE_RECORD_SEND, OWN);
	r.uid = UROCE_RECORD_NOBODY;
	ur_recorder_put(rec, &r);
	CHECK_EQ(count(), 2);
	memcpy(&r, copy, sizeof(r));
	CHECK(r.uid == whose.uid && r.pid == 78);
	memcpy(&r, copy + UROCE_RECORD_SLOT, sizeof(r));
	CHECK(r.uid == UROCE_RECORD_NOBODY && !r.pid);
	end();
	whose.pid = pid;
}

static void after_its_end(void)
{
	u64 lost;
	int fd;

	begin();
	put(UROCE_RECORD_SEND, OWN);
	fd = ur_program_record_fd(grant);
	/* Nobody cuts it short under the device. */
	CHECK(ftruncate(fd, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 1 << 30) < 0 && errno == EPERM);
	ur_program_record_keep(grant);
	ur_program_record_close(grant);
	CHECK_EQ(ur_program_record_fd(grant), -1);
	ur_recorder_free(rec);
	ur_program_record_unmap(ring);
	ur_program_record_put(grant);
	CHECK_EQ(read_all(&lost), 1);
	ur_program_record_put(grant);
}

static void failures(void)
{
	begin();
	CHECK(!ur_program_record_failed(grant));
	ur_recorder_count_failure(rec);
	CHECK(ur_program_record_failed(grant));
	CHECK(!ur_program_record_failed(grant));
	end();
}

static void others(void)
{
	static const u32 not_its[] = {1,	0x1fffff,  0x400000,
				      0xffffff, 0x1200005, UINT32_MAX};

	begin();
	for (u32 i = 0; i < UR_ARRAY_SIZE(not_its); i++) {
		struct uroce_record_packet p = packet(not_its[i]);

		put(UROCE_RECORD_SEND, not_its[i]);
		ur_recorder_put_packet(rec, &p);
	}
	CHECK_EQ(count(), 0);
	put(UROCE_RECORD_CM, OWN);
	put(0, OWN);
	put(12, OWN);
	put(255, OWN);
	CHECK_EQ(count(), 0);
	put(UROCE_RECORD_LOOP, whose.first_qpn);
	put(UROCE_RECORD_LOOP, whose.last_qpn);
	CHECK_EQ(count(), 2);
	end();
}

static void packets(void)
{
	static const struct {
		u8 headers;
		u32 length;
	} bad[] = {{11, 16}, {0, 0},	 {49, 64},	  {255, 600},
		   {24, 23}, {12, 8193}, {12, UINT32_MAX}};
	struct uroce_record_packet p;

	begin();
	for (u32 i = 0; i < UR_ARRAY_SIZE(bad); i++) {
		p = packet(OWN);
		p.status = bad[i].headers;
		p.length = bad[i].length;
		ur_recorder_put_packet(rec, &p);
	}
	CHECK_EQ(count(), 0);
	p = packet(OWN);
	p.status = UROCE_RECORD_HEADERS;
	p.length = 8192;
	ur_recorder_put_packet(rec, &p);
	CHECK_EQ(count(), 2);
	/* One whose second half is not there. */
	p = packet(OWN);
	ur_recorder_put(rec, (const struct uroce_record *)&p);
	CHECK_EQ(count(), 2);
	end();
}

static void times(void)
{
	static const u64 said[] = {0, 1, UINT64_MAX, 1ull << 63};
	struct uroce_record r;

	begin();
	for (u32 i = 0; i < UR_ARRAY_SIZE(said); i++) {
		r = record(UROCE_RECORD_SEND, OWN);
		r.ns = said[i];
		ur_recorder_put(rec, &r);
	}
	CHECK_EQ(count(), UR_ARRAY_SIZE(said));
	for (u32 i = 0; i < UR_ARRAY_SIZE(said); i++) {
		memcpy(&r, copy + (size_t)i * 64, sizeof(r));
		CHECK(r.ns >= whose.since && r.ns <= now_ns());
	}
	end();
}

/* Its second, third and fourth words: how much has failed, head and tail. */
static void heads(void)
{
	static const u64 at[] = {0,	     1,		 2,
				 SLOTS - 1,  SLOTS,	 SLOTS + 1,
				 1ull << 32, 1ull << 63, UINT64_MAX - SLOTS,
				 UINT64_MAX};
	u64 *words, lost;

	begin();
	words = (u64 *)ring;
	for (u32 h = 0; h < UR_ARRAY_SIZE(at); h++)
		for (u32 t = 0; t < UR_ARRAY_SIZE(at); t++) {
			words[2] = at[h];
			words[3] = at[t];
			CHECK(read_all(&lost) <= SLOTS);
			CHECK(lost <= 1ull << 48);
		}
	end();
}

static _Atomic bool stop;

/* Everything, most of the time something that looks like a record. */
static void *scribble(void *arg)
{
	struct ur_rng rng = {11};
	u64 *words = arg;
	const u64 n = ur_recorder_ring_bytes(KIB) / 8;

	while (!atomic_load(&stop)) {
		u64 at = ur_rng_u64(&rng) % n, value = ur_rng_u64(&rng);

		if (!at)
			value = RUN;
		else if (at % 8 == 1 && value % 4)
			value = (u64)OWN << 32 | (value % 12) | 12u << 16;
		__atomic_store_n(words + at, value, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void begin_scribbling(pthread_t *thread)
{
#ifdef __SANITIZE_THREAD__
	SKIP("an enemy's stores are a data race");
#endif
	begin();
	CHECK(!pthread_create(thread, NULL, scribble, ring));
}

/* All that was left is left again: nothing in it is the scribbler's any more. */
static void scribbled(void)
{
	u64 lost, any = 0;
	pthread_t thread;

	begin_scribbling(&thread);
	while (any < TIMES) {
		u32 n = read_all(&lost);

		CHECK(n <= SLOTS);
		any += n > 0;
		CHECK_EQ(ur_program_record_check(&whose, copy, n, now_ns()), n);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	end();
}

/* The writer's own memory is scribbled on: what he writes then is in bounds. */
static void writer(void)
{
	pthread_t thread;

	begin_scribbling(&thread);
	for (u32 i = 0; i < TIMES * 100; i++) {
		struct uroce_record_packet p = packet(OWN);

		if (i % 3)
			put(UROCE_RECORD_SEND, OWN);
		else
			ur_recorder_put_packet(rec, &p);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(honest());
	CASE(several());
	CASE(after_its_end());
	CASE(failures());
	CASE(others());
	CASE(packets());
	CASE(times());
	CASE(heads());
	CASE(scribbled());
	CASE(writer());
	return cases_status();
}
