// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Failures and counts of fault rules in programs: the device's reading of them, while
 * programs run, lie, and have ended. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_failures.h"
#include "engine/grant/program_faults.h"
#include "engine/grant/program_page.h"
#include "tests/check.h"
#include "util/os/clock.h"
#include "util/rng.h"

#define SLOT  3u
#define FIRST (SLOT << (24 - UR_PLACE_BITS) | 7)
#define TIMES 20000

static struct ur_engine *device;
static struct ur_counter_page *page;

static void make_grant(void)
{
	int fd;

	CHECK(!ur_counters_grant(device, SLOT, &fd));
	CHECK(!ur_counters_map(fd, &page));
}

static void program_ends(void)
{
	ur_program_faults_end(device, SLOT);
	ur_counters_grant_end(device, SLOT);
	ur_counters_unmap(page);
}

static void begin(void)
{
	device = calloc(1, sizeof(*device));
	CHECK(device);
	make_grant();
}

static void end(void)
{
	program_ends();
	ur_counters_grant_fini(device);
	free(device);
}

/* ---- failures ---- */

static struct ur_failure made_up(bool peers)
{
	struct ur_failure f = {
		.at = ur_clock_ns(CLOCK_MONOTONIC),
		.peers = peers,
		.status = 10,
		.opcode = 3,
		.reason = UR_REASON_MEMORY,
		.psn = 0xabcdef,
		.wr_id = 1ull << 63 | 5,
		.rkey = 0xfedcba98,
		.addr = 1ull << 62,
		.length = 77,
		.room = 0x80000001,
		.got = 0x90000002,
		.denied = {.why = UR_DENIED_RANGE,
			   .meant = UR_MEANT_CUT,
			   .key = 0xf1,
			   .need = 0xf2,
			   .have = 0xf3,
			   .addr = 0xf4,
			   .length = 0xf5,
			   .first = 0xf6,
			   .size = 0xf7},
		.retries = 1,
		.rnr_retries = 2,
		.probes = 3,
		.timeout = 14,
		.retry_cnt = 5,
		.rnr_retry = 6,
		.by_nak = true,
		.stray = true,
		.stray_syndrome = 0x63,
		.stray_psn = 0x123456,
		.waited_ns = 1ull << 40,
		.send_error = 90,
	};

	return f;
}

static void shown(void)
{
	struct ur_failure f = made_up(false), read;

	begin();
	CHECK(ur_counters_of_qp(page, FIRST));
	CHECK(!ur_engine_shown_failure(device, FIRST, false, &read));
	ur_failures_show(page, FIRST, &f);
	memset(&read, 0, sizeof(read));
	CHECK(ur_engine_shown_failure(device, FIRST, false, &read));
	CHECK(read.at == f.at && read.status == f.status &&
	      read.opcode == f.opcode && read.reason == f.reason &&
	      read.psn == f.psn && read.wr_id == f.wr_id &&
	      read.rkey == f.rkey && read.addr == f.addr &&
	      read.length == f.length && read.room == f.room &&
	      read.got == f.got);
	CHECK(read.denied.why == f.denied.why &&
	      read.denied.meant == f.denied.meant &&
	      read.denied.key == f.denied.key &&
	      read.denied.need == f.denied.need &&
	      read.denied.have == f.denied.have &&
	      read.denied.addr == f.denied.addr &&
	      read.denied.length == f.denied.length &&
	      read.denied.first == f.denied.first &&
	      read.denied.size == f.denied.size);
	CHECK(read.retries == 1 && read.rnr_retries == 2 && read.probes == 3 &&
	      read.timeout == 14 && read.retry_cnt == 5 && read.rnr_retry == 6);
	CHECK(read.by_nak && !read.answered && read.stray && !read.peers);
	CHECK(read.stray_syndrome == f.stray_syndrome &&
	      read.stray_psn == f.stray_psn && read.waited_ns == f.waited_ns &&
	      read.send_error == f.send_error);
	/* The other kind is apart. */
	CHECK(!ur_engine_shown_failure(device, FIRST, true, &read));
	f = made_up(true);
	ur_failures_show(page, FIRST, &f);
	CHECK(ur_engine_shown_failure(device, FIRST, true, &read));
	CHECK(read.peers);
	end();
}

static void gone(void)
{
	struct ur_failure f = made_up(false), read;

	begin();
	CHECK(ur_counters_of_qp(page, FIRST));
	ur_failures_show(page, FIRST, &f);
	/* The program destroys a queue pair before the device does. */
	ur_counters_qp_gone(page, FIRST);
	CHECK(ur_engine_shown_failure(device, FIRST, false, &read));
	ur_failures_forget(page, FIRST);
	CHECK(!ur_engine_shown_failure(device, FIRST, false, &read));
	/* One without a place shows none. */
	ur_failures_show(page, FIRST + 1, &f);
	CHECK(!ur_engine_shown_failure(device, FIRST + 1, false, &read));
	/* Numbers of other slots, whatever stands here. */
	CHECK(!ur_engine_shown_failure(device, 1u << 21 | 7, false, &read));
	CHECK(!ur_engine_shown_failure(device, UINT32_MAX, false, &read));
	end();
}

static void killed_meanwhile(void)
{
	struct ur_failure f = made_up(false), read;
	struct ur_shown_failure *s;

	begin();
	CHECK(ur_counters_of_qp(page, FIRST));
	ur_failures_show(page, FIRST, &f);
	s = &page->failure[ur_shown_place(FIRST, 0)][0];
	s->generation++;
	CHECK(!ur_engine_shown_failure(device, FIRST, false, &read));
	/* And one that comes then is shown. */
	ur_failures_show(page, FIRST, &f);
	CHECK(ur_engine_shown_failure(device, FIRST, false, &read));
	end();
}

static _Atomic bool stop;

static void *scribble(void *arg)
{
	struct ur_rng rng = {5};
	struct ur_shown_failure *s =
		&page->failure[ur_shown_place(FIRST, 0)][0];
	u64 *words = (u64 *)s;

	while (!atomic_load(&stop)) {
		u64 at = ur_rng_u64(&rng) % (sizeof(*s) / 8);

		/* Most of the time of that number, and whole. */
		__atomic_store_n(words + at,
				 at == 1 ? FIRST
				 : at || ur_rng_u64(&rng) % 8
					 ? ur_rng_u64(&rng) << !at
					 : 1,
				 __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Reading ends, and numbers are in their bounds: a bool that is neither would be for a
 * sanitizer to see. */
static void scribbled(void)
{
	struct ur_failure f;
	pthread_t thread;
	u32 any = 0;

	begin();
	CHECK(!pthread_create(&thread, NULL, scribble, NULL));
	while (any < TIMES) {
		if (!ur_engine_shown_failure(device, FIRST, false, &f))
			continue;
		any++;
		CHECK(f.at <= ur_clock_ns(CLOCK_MONOTONIC));
		CHECK(f.by_nak + f.answered + f.stray + f.peers <= 3);
		CHECK(f.psn <= 0xffffff && f.stray_psn <= 0xffffff);
		CHECK(f.timeout < 32 && f.retry_cnt < 8 && f.rnr_retry < 8);
		CHECK(f.send_error >= 0 && f.send_error < 4096);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	end();
}

/* ---- fault rules ---- */

static const struct ur_fault_rule rule = {.action = UR_FAULT_DROP,
					  .prob = 1ull << 32};

static void check_counts(struct ur_program_fault *f, u64 matched, u64 done)
{
	u64 m = 0, d = 0;

	ur_program_fault_counts(f, &m, &d);
	CHECK_EQ(m, matched);
	CHECK_EQ(d, done);
}

static struct ur_program_rule rules[UR_PROGRAM_FAULTS];

static void read_rules(void)
{
	memset(rules, 0, sizeof(rules));
	ur_program_fault_rules(device, rules);
}

static void counted(void)
{
	struct ur_program_fault *f, *other;

	begin();
	CHECK(!ur_program_fault_add(device, &rule, &f));
	CHECK(!ur_program_fault_add(device, &rule, &other));
	read_rules();
	CHECK(rules[0].id && rules[1].id && rules[0].id != rules[1].id);
	CHECK(!rules[2].id);
	CHECK(!rules[0].matched && !rules[0].done);
	ur_faults_show_new(page, 0, rules[0].id);
	ur_faults_show(page, 0, 5, 2);
	check_counts(f, 5, 2);
	check_counts(other, 0, 0);
	program_ends();
	check_counts(f, 5, 2);
	make_grant();
	ur_faults_show_new(page, 0, rules[0].id);
	ur_faults_show(page, 0, 7, 1);
	check_counts(f, 12, 3);
	/* The next one goes on there. */
	read_rules();
	CHECK(rules[0].matched == 12 && rules[0].done == 3);
	ur_program_fault_del(f);
	ur_program_fault_del(other);
	end();
}

static void lies(void)
{
	struct ur_program_fault *f;

	begin();
	CHECK(!ur_program_fault_add(device, &rule, &f));
	read_rules();
	ur_faults_show_new(page, 0, rules[0].id);
	ur_faults_show(page, 0, 50, 40);
	check_counts(f, 50, 40);
	ur_faults_show(page, 0, 3, 2);
	check_counts(f, 50, 40);
	ur_faults_show(page, 0, UINT64_MAX, 1ull << 63);
	check_counts(f, 50, 40);
	/* Another rule's. */
	ur_faults_show_new(page, 0, rules[0].id + 1);
	ur_faults_show(page, 0, 60, 60);
	check_counts(f, 50, 40);
	ur_program_fault_del(f);
	end();
}

static void places(void)
{
	struct ur_program_fault *f[UR_PROGRAM_FAULTS], *more;
	u64 id;

	begin();
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++)
		CHECK(!ur_program_fault_add(device, &rule, &f[i]));
	CHECK_EQ(ur_program_fault_add(device, &rule, &more), -ENOSPC);
	read_rules();
	id = rules[5].id;
	ur_program_fault_del(f[5]);
	CHECK(!ur_program_fault_add(device, &rule, &f[5]));
	read_rules();
	CHECK(rules[5].id > id);
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++)
		ur_program_fault_del(f[i]);
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(shown());
	CASE(gone());
	CASE(killed_meanwhile());
	CASE(scribbled());
	CASE(counted());
	CASE(lies());
	CASE(places());
	return cases_status();
}
