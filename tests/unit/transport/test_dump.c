// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lines as people see them, and cutting at every buffer size. */
#include <string.h>

#include "tests/check.h"
#include "transport/dump.h"

static void check_line(const struct ur_pkt *pkt, const char *want)
{
	char buf[UR_DUMP_BYTES];
	size_t len = strlen(want);

	CHECK_EQ(ur_pkt_dump(buf, sizeof(buf), pkt), len);
	if (strcmp(buf, want)) {
		fprintf(stderr, "got  %s\nwant %s\n", buf, want);
		exit(1);
	}
	for (size_t size = 1; size <= len; size++) {
		memset(buf, 0x55, sizeof(buf));
		CHECK_EQ(ur_pkt_dump(buf, size, pkt), size - 1);
		CHECK(!memcmp(buf, want, size - 1));
		CHECK_EQ(buf[size - 1], 0);
		CHECK_EQ(buf[size], 0x55);
	}
}

static void check_frame(void)
{
	struct ur_frame_addr a = {
		.kind = UR_FRAME_V4,
		.tos = 26 << 2 | 3,
		.ttl = 7,
		.sport = 49153,
		.dport = UR_ROCE_V2_UDP_PORT,
	};
	struct ur_pkt pkt = {
		.opcode = UR_OP_RC_ACK, .pkey = 0xffff, .syndrome = 0x1f};
	struct ur_frame f;
	u8 buf[128];
	char text[UR_DUMP_BYTES];
	size_t len;

	ur_gid_from_v4(a.sgid, (const u8[]){10, 0, 0, 1});
	ur_gid_from_v4(a.dgid, (const u8[]){10, 0, 0, 200});
	len = ur_frame_build(buf, &a, ur_pkt_build(&pkt, buf + 28));
	ur_frame_dump(text, sizeof(text), &f,
		      ur_frame_parse(&f, false, buf, len));
	CHECK(!strcmp(text, "10.0.0.1 > 10.0.0.200 sport 49153 dscp 26 "
			    "ce ttl 7 RC ACK dqpn 0x0 psn 0 ack msn 0"));
	buf[28 + 15]++;
	ur_frame_dump(text, sizeof(text), &f,
		      ur_frame_parse(&f, false, buf, len));
	CHECK(strstr(text, "msn 1 bad icrc"));
	buf[28] = 0xff;
	ur_frame_dump(text, sizeof(text), &f,
		      ur_frame_parse(&f, false, buf, len));
	CHECK(strstr(text, "opcode 0xff bad packet: opcode bad icrc"));
	ur_frame_dump(text, sizeof(text), &f,
		      ur_frame_parse(&f, false, buf, 5));
	CHECK(!strcmp(text, "bad frame: short"));
}

/* A datagram of the connection manager is called by its name. */
static void check_cm(void)
{
	u8 mad[256] = {1, 7, 2, 3, [17] = 0x15};
	struct ur_pkt pkt = {.opcode = UR_OP_UD_SEND_ONLY,
			     .pkey = 0xffff,
			     .dqpn = UR_QPN_GSI,
			     .payload = mad,
			     .payload_bytes = sizeof(mad)};
	char text[UR_DUMP_BYTES];

	ur_pkt_dump(text, sizeof(text), &pkt);
	CHECK(strstr(text, " len 256 DisconnectRequest"));
	mad[17] = 0x99;
	ur_pkt_dump(text, sizeof(text), &pkt);
	CHECK(strstr(text, " len 256 cm 0x99"));
	mad[1] = 4;
	ur_pkt_dump(text, sizeof(text), &pkt);
	CHECK(!strcmp(text + strlen(text) - 7, "len 256"));
	pkt.payload_bytes = 8;
	ur_pkt_dump(text, sizeof(text), &pkt);
	CHECK(!strcmp(text + strlen(text) - 5, "len 8"));
}

/* The longest line there is must fit UR_DUMP_BYTES. */
static void check_longest(void)
{
	struct ur_frame f = {
		.addr = {.kind = UR_FRAME_V6, .tos = 0xfc, .ttl = 255}};
	u8 bth[UR_HEADERS_MAX_BYTES + UR_ICRC_BYTES];
	char text[UR_DUMP_BYTES];

	memset(&f.addr.sgid, 0xff, 32);
	f.addr.sport = 0xffff;
	f.bth = bth;
	for (int op = 0; op < 256; op++) {
		f.bth_bytes = ur_opcode_lookup((u8)op)->header_bytes;
		if (!f.bth_bytes)
			continue;
		memset(bth, 0xff, sizeof(bth));
		bth[0] = (u8)op;
		bth[1] = 0xc0;
		CHECK(ur_frame_dump(text, sizeof(text), &f, UR_FRAME_ICRC) <
		      sizeof(text) - 1);
	}
}

int main(void)
{
	struct ur_pkt pkt = {
		.opcode = UR_OP_RC_WRITE_FIRST,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = 0x11,
		.psn = 16777215,
		.va = 0x7f0000001000,
		.rkey = 0x1234,
		.dma_bytes = 4096,
		.payload_bytes = 1024,
		.ackreq = true,
	};

	check_line(&pkt, "RC WRITE_FIRST dqpn 0x11 psn 16777215 va "
			 "0x7f0000001000 rkey 0x1234 dmalen 4096 len 1024 "
			 "ackreq");
	pkt = (struct ur_pkt){.opcode = UR_OP_RC_ACK,
			      .pkey = 0x8001,
			      .syndrome = UR_AETH_NAK | UR_NAK_REM_ACCESS,
			      .msn = 7};
	check_line(&pkt, "RC ACK dqpn 0x0 psn 0 nak remote-access msn 7 "
			 "pkey 0x8001");
	pkt.syndrome = UR_AETH_RNR_NAK | 12;
	check_line(&pkt, "RC ACK dqpn 0x0 psn 0 rnr-nak timer 12 msn 7 "
			 "pkey 0x8001");
	check_frame();
	check_cm();
	check_longest();
	return 0;
}
