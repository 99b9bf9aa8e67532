// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The door of the flight recorder: a program that writes anything into the ring that
 * it was granted, head and tail too.
 *
 * Input: the ring's memory, from its first byte on, zeros where the input ends.
 *
 * uroced takes whole records of it alone, of the program's own queue pairs, under its own
 * name and not from the future, and would take all of these again.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/ground/program_record.h"
#include "tests/check.h"
#include "tests/fuzz/input.h"

#define KIB   UR_RECORDER_MIN_KIB
#define SLOTS (KIB * 1024 / UROCE_RECORD_SLOT)
#define NOW   (1ull << 40)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const struct ur_record_whose whose = {
	.first_qpn = 0x200000,
	.last_qpn = 0x3fffff,
	.uid = 4,
	.pid = 5,
	.since = 1000,
};

static u32 check_one(const u8 *at, u32 left)
{
	struct uroce_record_packet p;
	struct uroce_record r;

	memcpy(&r, at, sizeof(r));
	CHECK(r.kind && r.kind < UROCE_RECORD_CM);
	CHECK(!r.qpn || (r.qpn >= whose.first_qpn && r.qpn <= whose.last_qpn));
	CHECK(r.uid == whose.uid ? r.pid == (u32)whose.pid
				 : r.uid == UROCE_RECORD_NOBODY && !r.pid);
	CHECK(r.ns >= whose.since && r.ns <= NOW);
	if (r.kind != UROCE_RECORD_PACKET_OUT &&
	    r.kind != UROCE_RECORD_PACKET_IN)
		return 1;
	CHECK(left >= 2);
	memcpy(&p, at, sizeof(p));
	CHECK(p.status >= 12 && p.status <= UROCE_RECORD_HEADERS);
	CHECK(p.length >= p.status && p.length <= 8192);
	return 2;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};
	const size_t bytes = ur_recorder_ring_bytes(KIB);
	struct ur_recorder_ring *ring = malloc(bytes);
	u8 *copy = malloc((size_t)SLOTS * UROCE_RECORD_SLOT);
	u64 lost;
	u32 n;

	CHECK(ring && copy);
	take_bytes(&in, (u8 *)ring, bytes);
	n = ur_recorder_ring_copy(ring, KIB, copy, &lost);
	CHECK(n <= SLOTS);
	n = ur_program_record_check(&whose, copy, n, NOW);
	CHECK(n <= SLOTS);
	for (u32 i = 0; i < n;)
		i += check_one(copy + (size_t)i * UROCE_RECORD_SLOT, n - i);
	CHECK_EQ(ur_program_record_check(&whose, copy, n, NOW), n);
	free(ring);
	free(copy);
	return 0;
}
