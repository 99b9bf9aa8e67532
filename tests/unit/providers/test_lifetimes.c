// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which pages stay in place, by the lives of their earlier registrations. */
#include "providers/uroce/lifetimes.h"
#include "tests/check.h"

#define A 0x10000ull
#define B 0x20000ull
#define C 0x30000ull

static void lives(u64 start, u64 end, int n, u64 lived, u64 moved)
{
	while (n--)
		ur_lifetimes_add(start, end, lived, moved);
}

/* Three short ones after another, and not before. */
static void test_short(void)
{
	CHECK(ur_lifetimes_pay(A, B));
	lives(A, B, 2, 99, 100);
	CHECK(ur_lifetimes_pay(A, B));
	lives(A, B, 1, 99, 100);
	CHECK(!ur_lifetimes_pay(A, B));
	/* Of this range, not of its part, nor of what it is a part of. */
	CHECK(ur_lifetimes_pay(A, B - 4096));
	CHECK(ur_lifetimes_pay(A + 4096, B));
	CHECK(ur_lifetimes_pay(A, C));
}

/* In place it lives on, short or long, by what the moves once cost. */
static void test_in_place(void)
{
	lives(A, B, 3, 99, 100);
	lives(A, B, 1000, 99, 0);
	CHECK(!ur_lifetimes_pay(A, B));
	lives(A, B, 1, 100, 0);
	CHECK(ur_lifetimes_pay(A, B));
	/* From the beginning again. */
	lives(A, B, 2, 10, 100);
	CHECK(ur_lifetimes_pay(A, B));
	lives(A, B, 1, 100, 100);
	lives(A, B, 2, 10, 100);
	CHECK(ur_lifetimes_pay(A, B));
	lives(A, B, 1, 10, 100);
	CHECK(!ur_lifetimes_pay(A, B));
}

/* A move that was interrupted does not make lives short. */
static void test_least(void)
{
	lives(B, C, 1, 500, 5000);
	lives(B, C, 5, 500, 400);
	CHECK(ur_lifetimes_pay(B, C));
	lives(B, C, 5, 500, 5000);
	CHECK(ur_lifetimes_pay(B, C));
	lives(B, C, 3, 399, 5000);
	CHECK(!ur_lifetimes_pay(B, C));
}

/* What was never moved has no cost to be measured against; and there are more
 * ranges than are remembered, each of which is moved then. */
static void test_forgotten(void)
{
	lives(A, B, 3, 1, 2);
	lives(C, C + 4096, 10, 0, 0);
	CHECK(ur_lifetimes_pay(C, C + 4096));
	for (u64 i = 1; i <= 100000; i++) {
		u64 start = i << 32;

		CHECK(ur_lifetimes_pay(start, start + 65536));
		lives(start, start + 65536, 3, 1, 2);
		CHECK(!ur_lifetimes_pay(start, start + 65536));
	}
	CHECK(ur_lifetimes_pay(A, B));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_short());
	CASE(test_in_place());
	CASE(test_least());
	CASE(test_forgotten());
	return cases_status();
}
