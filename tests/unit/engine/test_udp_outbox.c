// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packets that a program in another network namespace may send, and the next uroced reads on in its outbox. */
#include <sys/mman.h>
#include "engine/engine_grant.h"
#include "engine/local/udp_outbox.h"
#include "engine/local/udp_outbox_fits.h"
#include "tests/check.h"
#include "transport/wire_format.h"

#define SLOT   7u
#define PACKET 64u

static struct ur_peer_message m;
static u8 data[UR_PEER_BYTES];

static const u8 v6[][16] = {{0xfd, 0x77, [15] = 1}, {0xfd, 0x77, [15] = 2}};

static void to_v4(u32 address)
{
	memcpy(m.daddr, (u8[16]){[10] = 0xff, 0xff}, 16);
	ur_put_be32(m.daddr + 12, address);
}

/* n packets of a queue pair of the slot, between two IPv4 hosts. */
static void make(u8 opcode, u32 n)
{
	memset(data, 0, sizeof(data));
	m = (struct ur_peer_message){
		.len = n * PACKET, .seg = PACKET, .ttl = 64, .sport = 0xc000};
	memcpy(m.saddr, (u8[16]){[10] = 0xff, 0xff, 10, 77, 0, 1}, 16);
	to_v4(0x0a4d0002);
	for (u32 i = 0; i < n; i++) {
		u8 *bth = data + (size_t)i * PACKET;

		bth[0] = opcode;
		ur_put_be24(bth + 5, 0x123456);
		ur_put_be32(bth + UR_BTH_BYTES, 0x11111111);
		ur_put_be24(bth + UR_BTH_BYTES + 5,
			    SLOT << (24 - UR_PLACE_BITS) | 5);
	}
}

static bool fits(void)
{
	return ur_udp_outbox_fits(&m, data, SLOT);
}

#define RC    0x04
#define UC    0x24
#define UD    0x64
#define UD_IM 0x65
#define XRC   0xa0 /* and above, to 0xbf */

static void test_opcodes(void)
{
	for (u32 opcode = 0; opcode < 256; opcode++) {
		make((u8)opcode, 1);
		CHECK_EQ(fits(), opcode < 0x40 || (opcode & 0xe0) == XRC ||
					 opcode == UD || opcode == UD_IM ||
					 opcode == 0x81);
	}
}

static void test_lengths(void)
{
	for (u32 n = 1; n <= UR_PEER_PACKETS; n++) {
		make(RC, n);
		CHECK(fits());
		/* The last one may be shorter. */
		m.len -= PACKET - 16;
		CHECK(fits());
		m.len -= 4;
		CHECK(!fits());
		m.len += 2;
		CHECK(!fits());
	}
	for (u32 seg = 0; seg < 6000; seg++) {
		make(RC, 1);
		m.seg = (u16)seg;
		m.len = seg;
		CHECK_EQ(fits(),
			 seg >= 16 && seg <= 44 + 4096 + 4 && !(seg % 4));
	}
	make(RC, 1);
	m.seg = 0;
	CHECK(!fits());
	make(RC, 1);
	m.len = 0;
	CHECK(!fits());
	/* A datagram of UDP is not as long as the ring allows. */
	make(RC, 1);
	m.seg = 1044;
	m.len = UR_PEER_BYTES;
	memset(data, RC, sizeof(data));
	CHECK(!fits());
	m.len = 62 * 1044;
	CHECK(fits());
	make(RC, 1);
	m.split = 1;
	CHECK(!fits());
}

static void test_ways(void)
{
	static const u32 refused[] = {0,	  1,	      0x00ffffff,
				      0x7f000001, 0x7fffffff, UINT32_MAX};

	for (u32 i = 0; i < UR_ARRAY_SIZE(refused); i++) {
		make(RC, 1);
		to_v4(refused[i]);
		CHECK(!fits());
	}
	make(RC, 1);
	memcpy(m.daddr, v6[1], 16);
	CHECK(!fits());
	memcpy(m.saddr, v6[0], 16);
	CHECK(fits());
	m.flow_label = 0xfffff;
	CHECK(fits());
	m.flow_label++;
	CHECK(!fits());
	m.flow_label = 0;
	for (u8 last = 0; last < 2; last++) {
		memset(m.daddr, 0, 16);
		m.daddr[15] = last;
		CHECK(!fits());
	}
	make(RC, 1);
	m.ttl = 0;
	CHECK(!fits());
	for (u32 first = 0; first < 256; first++) {
		make(RC, 1);
		m.first = (u8)first;
		CHECK_EQ(fits(), !(first & 0x78));
	}
	make(RC, 1);
	memcpy(m.saddr, (u8[16]){[10] = 0xff, 0xff, 239, 1, 1, 1}, 16);
	CHECK(!fits());
}

/* In any place of a datagram. */
static void test_queue_pairs(void)
{
	static const struct {
		u8 opcode;
		u32 dqpn, sqpn, qkey;
		bool fits;
	} packets[] = {
		{RC, 0, 0, 0, false},
		{RC, 1, 0, 0, false},
		{RC, 2, 0, 0, true},
		{RC, 0xffffff, 0, 0, false},
		{UC, 1, 0, 0, false},
		{0x81, 1, 0, 0, false},
		{UD, 1, SLOT << 19, 0x80010000, false},
		{UD, 1, SLOT << 19, 1, false},
		{UD, 0xfffffe, SLOT << 19, 1, true},
		{UD, 0xffffff, SLOT << 19, 1, false},
		{UD, 5, SLOT << 19, 0x80000000, false},
		{UD, 5, (SLOT + 1) << 19, 1, false},
		{UD_IM, 5, 5, 1, false},
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(packets); i++)
		for (u32 place = 0; place < 5; place++) {
			u8 *bth = data + place * PACKET;

			make(packets[i].opcode, 5);
			ur_put_be24(bth + 5, packets[i].dqpn);
			if (packets[i].opcode >= UD && packets[i].sqpn) {
				ur_put_be32(bth + 12, packets[i].qkey);
				ur_put_be24(bth + 17, packets[i].sqpn);
			}
			CHECK_EQ(fits(), packets[i].fits);
		}
	/* It has no DETH. */
	make(UD, 1);
	m.seg = 20;
	m.len = 20;
	CHECK(!fits());
}

static void test_groups(void)
{
	make(UD, 1);
	to_v4(0xef010101);
	CHECK(!fits());
	ur_put_be24(data + 5, 0xffffff);
	CHECK(fits());
	data[0] = RC;
	CHECK(!fits());
	make(RC, 1);
	to_v4(0xef010101);
	CHECK(!fits());
}

static void put(struct ur_peer_out *out, u8 byte)
{
	u8 *to;

	make(RC, 1);
	out->has_addrs = false;
	to = ur_peer_room(out, &m);
	CHECK(to);
	memset(to, byte, m.len);
	ur_peer_put(out, &m);
	ur_peer_publish(out);
}

/* A reader that was killed had passed some, and given the place of fewer back. */
static void test_resumes(void)
{
	u8 *file =
		mmap(NULL, UR_PEER_FILE_BYTES + UR_PEER_WORDS_BYTES,
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ur_peer_word *word = (void *)(file + UR_PEER_FILE_BYTES);
	struct ur_peer_out out;
	struct ur_peer_in in;

	CHECK(file != MAP_FAILED);
	ur_peer_out_init(&out, file, word);
	ur_peer_in_init(&in, file, word);
	for (u32 i = 0; i < 30000; i++) {
		put(&out, (u8)i);
		put(&out, (u8)(i + 1));
		CHECK_EQ(ur_peer_get(&in, &m, data), 1);
		CHECK_EQ(data[0], (u8)i);
		ur_peer_done(&in);
		CHECK_EQ(ur_peer_get(&in, &m, data), 1);
		ur_peer_pass(&in);
		CHECK_EQ(ur_peer_get(&in, &m, data), 0);
		ur_peer_in_reattach(&in, file, word);
		CHECK_EQ(ur_peer_get(&in, &m, data), 1);
		CHECK_EQ(data[0], (u8)(i + 1));
		CHECK_EQ(data[m.len - 1], (u8)(i + 1));
		ur_peer_done(&in);
		CHECK_EQ(ur_peer_get(&in, &m, data), 0);
	}
	/* The writer has spoilt the word: what is read lies in the file all the same. */
	for (u32 i = 0; i < 2000; i++) {
		int got;

		word->taken = i * 7919u * 4093u;
		ur_peer_in_reattach(&in, file, word);
		got = ur_peer_get(&in, &m, data);
		CHECK(got <= 1);
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_opcodes());
	CASE(test_lengths());
	CASE(test_ways());
	CASE(test_queue_pairs());
	CASE(test_groups());
	CASE(test_resumes());
	return cases_status();
}
