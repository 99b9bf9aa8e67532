// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Acknowledgements leave before the requests among which they were filled in, in their order; these
 * and those are back to back; other packets keep their places. */
#include <string.h>
#include "engine/core/answers.h"
#include "tests/check.h"
#include "transport/wire_format.h"

static u8 buf[65536];
static struct ur_tx_desc desc[64];
static struct ur_tx tx = {
	.buf = buf, .cap = sizeof(buf), .desc = desc, .max_desc = 64};

static void clear(void)
{
	tx.used = tx.n_desc = 0;
}

/* A packet with a number in its last byte. */
static void add(u8 opcode, u32 len, u8 number)
{
	desc[tx.n_desc++] = (struct ur_tx_desc){.off = tx.used, .len = len};
	memset(buf + tx.used, 0xee, len + UR_ICRC_BYTES);
	buf[tx.used] = opcode;
	buf[tx.used + len - 1] = number;
	tx.used += len + UR_ICRC_BYTES;
}

static void check(const u8 *numbers)
{
	u32 ways = 0, used = 0;

	ur_answers_first(&tx);
	for (u32 i = 0; i < tx.n_desc; i++) {
		u32 bytes = desc[i].len + UR_ICRC_BYTES;

		CHECK_EQ(buf[desc[i].off + desc[i].len - 1], numbers[i]);
		ways += !i || desc[i].off != desc[i - 1].off + desc[i - 1].len +
						     UR_ICRC_BYTES;
		used += bytes;
	}
	/* Answers together, requests together. */
	CHECK(ways <= 2);
	CHECK_EQ(used, tx.used);
}

static void test_one(void)
{
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_SEND_ONLY, 76, 2);
	check((const u8[]){1, 2});
}

static void test_many(void)
{
	clear();
	for (u8 i = 0; i < 4; i++) {
		add(UR_OP_RC_ACK, 16, i);
		add(UR_OP_RC_WRITE_ONLY_IMM, 96, (u8)(10 + i));
	}
	add(UR_OP_RC_ACK, 16, 4);
	check((const u8[]){0, 1, 2, 3, 4, 10, 11, 12, 13});
}

/* A response that follows an acknowledgement of the same queue pair stays behind it. */
static void test_responses(void)
{
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_READ_RESP_ONLY, 80, 2);
	add(UR_OP_RC_SEND_ONLY, 76, 3);
	check((const u8[]){1, 2, 3});
}

static void test_nothing(void)
{
	clear();
	check(NULL);
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_ACK, 16, 2);
	check((const u8[]){1, 2});
	clear();
	add(UR_OP_RC_SEND_ONLY, 76, 1);
	add(UR_OP_RC_SEND_ONLY, 80, 2);
	check((const u8[]){1, 2});
}

/* Bytes that lie elsewhere, or many: the copies would cost more. */
static void test_long(void)
{
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	for (u8 i = 2; i < 8; i++)
		add(UR_OP_RC_SEND_MIDDLE, 4108, i);
	check((const u8[]){1, 2, 3, 4, 5, 6, 7});
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_SEND_MIDDLE, 12, 2);
	desc[1].split = buf;
	check((const u8[]){1, 2});
	desc[1].split = NULL;
}

/* ---- one acknowledgement, behind the requests ---- */

/* Returns whether it has moved, and checks the order of all packets. */
static bool moves(const u8 *numbers)
{
	u32 used = tx.used;
	bool moved = ur_answers_last(&tx);

	for (u32 i = 0; i < tx.n_desc; i++)
		CHECK_EQ(buf[desc[i].off + desc[i].len - 1], numbers[i]);
	CHECK_EQ(tx.used, moved ? used + 16 + UR_ICRC_BYTES : used);
	return moved;
}

static void test_last(void)
{
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_SEND_ONLY, 76, 2);
	CHECK(moves((const u8[]){2, 1}));
	/* Behind it, so that both are one datagram. */
	CHECK_EQ(desc[1].off, desc[0].off + 76 + UR_ICRC_BYTES);

	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_WRITE_FIRST, 1052, 2);
	add(UR_OP_RC_WRITE_MIDDLE, 1036, 3);
	add(UR_OP_RC_WRITE_LAST, 1036, 4);
	CHECK(moves((const u8[]){2, 3, 4, 1}));
}

/* The last request would end its datagram. */
static void test_last_is_apart(void)
{
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_WRITE_FIRST, 1052, 2);
	add(UR_OP_RC_WRITE_LAST, 1036, 3);
	CHECK(!moves((const u8[]){1, 2, 3}));

	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_SEND_ONLY, 12, 2);
	CHECK(!moves((const u8[]){1, 2}));
}

static void test_last_of_others(void)
{
	static const struct ur_av *other = (const struct ur_av *)buf;

	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_READ_RESP_ONLY, 80, 2);
	CHECK(!moves((const u8[]){1, 2}));
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	add(UR_OP_RC_SEND_ONLY, 76, 2);
	desc[1].av = other;
	CHECK(!moves((const u8[]){1, 2}));
	clear();
	add(UR_OP_RC_SEND_ONLY, 76, 1);
	add(UR_OP_RC_ACK, 16, 2);
	CHECK(!moves((const u8[]){1, 2}));
	clear();
	add(UR_OP_RC_ACK, 16, 1);
	for (u8 i = 2; i < 20; i++)
		add(UR_OP_RC_WRITE_MIDDLE, 1036, i);
	CHECK(!moves((const u8[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
				  15, 16, 17, 18, 19}));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_one());
	CASE(test_many());
	CASE(test_responses());
	CASE(test_nothing());
	CASE(test_long());
	CASE(test_last());
	CASE(test_last_is_apart());
	CASE(test_last_of_others());
	return cases_status();
}
