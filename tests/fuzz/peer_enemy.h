/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The neighbour behind an input of fuzz_peer: where he has got in it, and his ring. */
#ifndef UR_TESTS_FUZZ_PEER_ENEMY_H
#define UR_TESTS_FUZZ_PEER_ENEMY_H

#include "tests/fuzz/input.h"
#include "tests/fuzz/peer_world.h"
#include "tests/fuzz/ring_writer.h"

struct enemy {
	struct input in;
	struct ring_writer ring;
	u32 bulk;	   /* he puts the next bytes there */
	u32 psn[PEER_QPS]; /* of his next request */
	u32 steps;
	u32 later; /* steps that are taken while our engine copies */
	bool inside;
	bool says; /* a message with a way is there */
	bool relays; /* what he puts comes by the device's ring, as if from the network: */
	struct {
		struct ring_writer ring;
		bool says;
	} other; /* the one that he does not put into now */
	u32 number;
};

/* peer_message.c: puts a message into his ring, as the input has it. */
void peer_put_message(struct enemy *p);
/* Puts the way of a message into its record; other: as the input has it. */
void peer_say_way(struct enemy *p, u8 *record, bool other);

#endif
