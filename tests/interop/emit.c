// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets of every opcode, each over IPv4, IPv6 and as RoCEv1, with several
 * payload sizes: as a pcap file for other programs to read, and on standard
 * output what they should find. usage: emit FILE
 *
 * A line: kind, then name=value for every header field, tab between. Names
 * are Wireshark's, without their "infiniband.".
 */
#include <string.h>

#include "tests/check.h"
#include "transport/frame.h"
#include "transport/packet.h"
#include "util/rng.h"

#define ETH_BYTES 14

static struct ur_rng rng = {1};

static void put_pcap_header(FILE *f)
{
	static const u32 header[6] = {0xa1b2c3d4, 4u << 16 | 2, 0, 0, 65535, 1};

	CHECK(fwrite(header, 1, sizeof(header), f) == sizeof(header));
}

static void put_record(FILE *f, const u8 *frame, size_t len)
{
	u32 header[4] = {0, 0, (u32)len, (u32)len};

	CHECK(fwrite(header, 1, sizeof(header), f) == sizeof(header));
	CHECK(fwrite(frame, 1, len, f) == len);
}

static struct ur_frame_addr make_addr(enum ur_frame_kind kind)
{
	struct ur_frame_addr a = {
		.kind = kind,
		.tos = (u8)ur_rng_u64(&rng),
		.ttl = (u8)(1 + ur_rng_below(&rng, 255)),
		.flow_label = (u32)ur_rng_u64(&rng),
		.ip_id = (u16)ur_rng_u64(&rng),
		.df = true,
		.sport = (u16)(0xc000 | ur_rng_u64(&rng)),
		.dport = UR_ROCE_V2_UDP_PORT,
		.sgid = {0xfe, 0x80, [15] = 1},
		.dgid = {0xfe, 0x80, [15] = 2},
	};

	if (kind == UR_FRAME_V4) {
		ur_gid_from_v4(a.sgid, (const u8[]){10, 1, 2, 3});
		ur_gid_from_v4(a.dgid, (const u8[]){10, 1, 2, 4});
	}
	return a;
}

static struct ur_pkt make_pkt(u8 opcode, u32 payload_bytes)
{
	return (struct ur_pkt){
		.opcode = opcode,
		.se = ur_rng_below(&rng, 2),
		.migreq = ur_rng_below(&rng, 2),
		.ackreq = ur_rng_below(&rng, 2),
		.becn = opcode == UR_OP_CNP,
		.pkey = 0xffff,
		.dqpn = (u32)ur_rng_u64(&rng) & UR_QPN_MASK,
		.psn = (u32)ur_rng_u64(&rng) & UR_PSN_MASK,
		.qkey = (u32)ur_rng_u64(&rng),
		.sqpn = 2 + ur_rng_below(&rng, 0xfffff0),
		.xrc_srqn = (u32)ur_rng_u64(&rng) & UR_24BIT_MASK,
		.syndrome = UR_AETH_CREDIT_NONE,
		.msn = (u32)ur_rng_u64(&rng) & UR_MSN_MASK,
		.va = ur_rng_u64(&rng),
		.rkey = (u32)ur_rng_u64(&rng),
		.dma_bytes = (u32)ur_rng_u64(&rng),
		.swap_add = ur_rng_u64(&rng),
		.compare = ur_rng_u64(&rng),
		.atomic_orig = ur_rng_u64(&rng),
		.imm = (u32)ur_rng_u64(&rng),
		.inv_rkey = (u32)ur_rng_u64(&rng),
		.flush_placement = UR_FETH_GLOBAL,
		.payload_bytes = payload_bytes,
	};
}

static void say(const char *name, u64 value)
{
	printf("\t%s=%" PRIu64, name, value);
}

static void say_fields(const struct ur_pkt *p, u32 icrc)
{
	u32 flags = ur_opcode_lookup(p->opcode)->flags;

	say("bth.opcode", p->opcode);
	say("bth.se", p->se);
	say("bth.m", p->migreq);
	say("bth.padcnt", ur_pkt_pad(p->payload_bytes));
	say("bth.p_key", p->pkey);
	say("bth.destqp", p->dqpn);
	say("bth.a", p->ackreq);
	say("bth.psn", p->psn);
	say("invariant.crc", __builtin_bswap32(icrc));
	if (flags & UR_OPF_DETH) {
		say("deth.q_key", p->qkey);
		say("deth.srcqp", p->sqpn);
	}
	if (flags & (UR_OPF_RETH | UR_OPF_ATOMICETH)) {
		say("reth.va", p->va);
		say("reth.r_key", p->rkey);
	}
	if (flags & UR_OPF_RETH)
		say("reth.dmalen", p->dma_bytes);
	if (flags & UR_OPF_ATOMICETH) {
		say("atomiceth.swapdt", p->swap_add);
		say("atomiceth.cmpdt", p->compare);
	}
	if (flags & UR_OPF_AETH) {
		say("aeth.syndrome", p->syndrome);
		say("aeth.msn", p->msn);
	}
	if (flags & UR_OPF_ATOMICACKETH)
		say("atomicacketh.origremdt", p->atomic_orig);
	if (flags & UR_OPF_IMM)
		say("immdt", p->imm);
	if (flags & UR_OPF_INV)
		say("ieth", p->inv_rkey);
	printf("\n");
}

static void emit(FILE *f, enum ur_frame_kind kind, u8 opcode, u32 payload)
{
	static const char *const kinds[] = {"v4", "v6", "v1"};
	static const u16 types[] = {0x0800, 0x86dd, UR_ROCE_V1_ETHERTYPE};
	u8 frame[ETH_BYTES + UR_FRAME_MAX_BYTES] = {2, 0, 0, 0, 0, 2,
						    2, 0, 0, 0, 0, 1};
	struct ur_frame_addr addr = make_addr(kind);
	struct ur_pkt pkt = make_pkt(opcode, payload);
	u8 *ip = frame + ETH_BYTES, *bth = ip + ur_frame_header_bytes(kind);
	size_t n = ur_pkt_build(&pkt, bth), len;

	ur_put_be16(frame + 12, types[kind]);
	for (u32 i = 0; i < payload; i++)
		bth[n + i] = (u8)(0x55 + i);
	n += payload + ur_pkt_pad(payload);
	len = ur_frame_build(ip, &addr, n);
	put_record(f, frame, ETH_BYTES + len);
	printf("%s", kinds[kind]);
	say_fields(&pkt, ur_get_le32(ip + len - UR_ICRC_BYTES));
}

static void emit_opcode(FILE *f, u8 opcode)
{
	static const u32 sizes[] = {0, 1, 2, 3, 256, 1023, 4096};
	u32 flags = ur_opcode_lookup(opcode)->flags;

	for (int kind = UR_FRAME_V4; kind <= UR_FRAME_V1; kind++) {
		if (!(flags & UR_OPF_PAYLOAD))
			emit(f, (enum ur_frame_kind)kind, opcode, 0);
		else if (flags & UR_OPF_ATOMIC_WRITE)
			emit(f, (enum ur_frame_kind)kind, opcode, 8);
		else
			for (size_t i = 0; i < UR_ARRAY_SIZE(sizes); i++)
				emit(f, (enum ur_frame_kind)kind, opcode,
				     sizes[i]);
	}
}

int main(int argc, char **argv)
{
	FILE *f;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	f = fopen(argv[1], "wb");
	CHECK(f);
	put_pcap_header(f);
	for (int i = 0; i < 256; i++)
		if (ur_opcode_lookup((u8)i)->flags)
			emit_opcode(f, (u8)i);
	CHECK(!fclose(f));
	return 0;
}
