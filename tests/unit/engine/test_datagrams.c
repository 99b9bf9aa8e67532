// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Datagrams of one way leave behind each other, in their order; other packets keep their places. */
#include <string.h>
#include "engine/core/datagrams.h"
#include "engine/engine_grant.h"
#include "tests/check.h"
#include "transport/wire_format.h"

#define MOST 200

static u8 buf[MOST * UR_BTH_BYTES];
static struct ur_tx_desc desc[MOST];
static struct ur_tx tx = {
	.buf = buf, .cap = sizeof(buf), .desc = desc, .max_desc = MOST};
static struct ur_av peers[8];

/* A packet to the engine of that number at the peer. Its offset is its name. */
static void add(u8 opcode, u32 peer, u32 slot)
{
	u8 *bth = buf + tx.used;

	memset(bth, 0, UR_BTH_BYTES);
	bth[0] = opcode;
	bth[5] = (u8)(slot << (8 - UR_PLACE_BITS));
	desc[tx.n_desc++] = (struct ur_tx_desc){
		.off = tx.used, .len = UR_BTH_BYTES, .av = &peers[peer]};
	tx.used += UR_BTH_BYTES;
}

static void check(const u8 *order, u32 n)
{
	CHECK_EQ(tx.n_desc, n);
	ur_datagrams_together(&tx);
	CHECK_EQ(tx.n_desc, n);
	for (u32 i = 0; i < n; i++)
		CHECK_EQ(desc[i].off, order[i] * UR_BTH_BYTES);
	tx.n_desc = tx.used = 0;
}

static void test_in_turn(void)
{
	for (u32 i = 0; i < 9; i++)
		add(UR_OP_UD_SEND_ONLY, i % 3, 1);
	check((const u8[]){0, 3, 6, 1, 4, 7, 2, 5, 8}, 9);
	for (u32 i = 0; i < 4; i++)
		add(UR_OP_UD_SEND_ONLY_IMM, 0, i % 2);
	check((const u8[]){0, 2, 1, 3}, 4);
}

static void test_together_already(void)
{
	check(NULL, 0);
	for (u32 i = 0; i < 6; i++)
		add(UR_OP_UD_SEND_ONLY, i / 3, 1);
	check((const u8[]){0, 1, 2, 3, 4, 5}, 6);
}

static void test_others(void)
{
	add(UR_OP_UD_SEND_ONLY, 0, 1);
	add(UR_OP_UD_SEND_ONLY, 1, 1);
	add(UR_OP_RC_SEND_ONLY, 0, 1);
	add(UR_OP_UD_SEND_ONLY, 0, 1);
	add(UR_OP_UD_SEND_ONLY, 1, 1);
	add(UR_OP_UD_SEND_ONLY, 0, 1);
	check((const u8[]){0, 1, 2, 3, 5, 4}, 6);
	for (u32 i = 0; i < 4; i++)
		add(UR_OP_RC_SEND_ONLY, i % 2, 1);
	check((const u8[]){0, 1, 2, 3}, 4);
}

/* The last packet to a peer is looked for among so many. */
static void test_far(void)
{
	u8 order[MOST];

	for (u32 i = 0; i < MOST; i++) {
		add(UR_OP_UD_SEND_ONLY, i % 100 ? 1 : 0, 1);
		order[i] = (u8)i;
	}
	/* The one at 100 has too many between it and its like; those behind it go on before. */
	memmove(order + 100, order + 101, MOST - 101);
	order[MOST - 1] = 100;
	check(order, MOST);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_in_turn());
	CASE(test_together_already());
	CASE(test_others());
	CASE(test_far());
	return cases_status();
}
