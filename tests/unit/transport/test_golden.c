// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every RoCE packet in tests/golden, sent by the kernel's Soft-RoCE: it
 * parses, its ICRC verifies, headers and frame built again from the parsed
 * values are the same bytes, and the solver finds its IPv4 identification.
 */
#include <glob.h>
#include <string.h>

#include "tests/check.h"
#include "tests/golden/pcap.h"
#include "transport/dump.h"
#include "transport/frame.h"
#include "transport/packet.h"

static struct ur_icrc_cache cache;
static unsigned long packets, packets_v6, packets_4096;

static void check_solve(const struct ur_frame *f, const u8 *pkt, size_t len)
{
	u8 copy[UR_FRAME_MAX_BYTES];
	struct ur_icrc_id id = {0};

	memcpy(copy, pkt, len);
	memset(copy + 4, 0, 4);
	CHECK(ur_icrc_solve_id(&cache,
			       ur_frame_icrc(UR_FRAME_V4, copy, f->bth_bytes),
			       f->icrc, len - UR_ICRC_BYTES, &id));
	CHECK_EQ(id.id, f->addr.ip_id);
	CHECK_EQ(id.df, f->addr.df);
}

static void check_packet(const u8 *bytes, size_t captured)
{
	u8 built[UR_FRAME_MAX_BYTES];
	char line[UR_DUMP_BYTES];
	struct ur_frame f;
	struct ur_pkt pkt;
	size_t hdr, len, n;

	CHECK_EQ(ur_frame_parse(&f, false, bytes, captured), UR_FRAME_OK);
	CHECK_EQ(ur_pkt_parse(&pkt, f.bth, f.bth_bytes), UR_PKT_OK);
	CHECK(ur_frame_dump(line, sizeof(line), &f, UR_FRAME_OK) > 20);
	hdr = ur_frame_header_bytes(f.addr.kind);
	len = hdr + f.bth_bytes + UR_ICRC_BYTES;
	CHECK(len <= sizeof(built));

	n = ur_pkt_build(&pkt, built + hdr);
	memcpy(built + hdr + n, pkt.payload, pkt.payload_bytes);
	n += pkt.payload_bytes;
	memset(built + hdr + n, 0, ur_pkt_pad(pkt.payload_bytes));
	n += ur_pkt_pad(pkt.payload_bytes);
	CHECK_EQ(n, f.bth_bytes);
	CHECK_EQ(ur_frame_build(built, &f.addr, n), len);
	if (f.addr.kind == UR_FRAME_V4) /* one capture has a UDP checksum */
		memcpy(built + 26, bytes + 26, 2);
	CHECK(!memcmp(built, bytes, len));

	if (f.addr.kind == UR_FRAME_V4)
		check_solve(&f, bytes, len);
	packets++;
	packets_v6 += f.addr.kind == UR_FRAME_V6;
	packets_4096 += pkt.payload_bytes == 4096;
}

int main(void)
{
	glob_t files;
	struct pcap_frame frame;

	CHECK(!glob(UR_GOLDEN_DIR "/*.pcap", 0, NULL, &files));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct pcap *p = pcap_open(files.gl_pathv[i]);
		unsigned long before = packets;

		CHECK(p);
		while (pcap_next(p, &frame))
			if (pcap_is_roce(&frame))
				check_packet(frame.packet, frame.packet_bytes);
		pcap_close(p);
		if (packets == before) {
			fprintf(stderr, "%s: no packets\n", files.gl_pathv[i]);
			exit(1);
		}
	}
	printf("%lu packets of %zu files, %lu IPv6, %lu with 4096 bytes\n",
	       packets, files.gl_pathc, packets_v6, packets_4096);
	CHECK(packets > 1500 && packets_v6 > 0 && packets_4096 > 0);
	globfree(&files);
	return 0;
}
