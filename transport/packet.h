/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One IB transport packet, from the BTH to the last pad byte (the ICRC is not
 * part of it), as a struct: parsed from and built into wire form.
 */
#ifndef UR_TRANSPORT_PACKET_H
#define UR_TRANSPORT_PACKET_H

#include "util/bytes.h"
#include "transport/counters.h"
#include "transport/opcode.h"
#include "transport/wire_format.h"

/* Why bytes are not a valid packet. */
enum ur_pkt_error {
	UR_PKT_OK,
	UR_PKT_SHORT,	 /* shorter than a BTH, or than its opcode's headers */
	UR_PKT_OPCODE,	 /* no such opcode */
	UR_PKT_TVER,	 /* transport header version is not 0 */
	UR_PKT_ALIGN,	 /* not a multiple of four bytes */
	UR_PKT_PAD,	 /* pad count larger than what follows the headers */
	UR_PKT_TRAILING, /* payload or pad behind an opcode that has none */
	UR_PKT_PAYLOAD,	 /* ATOMIC WRITE without exactly eight bytes, or a
			  * payload above the largest MTU */
	UR_PKT_ERRORS
};

/* op->flags says which groups of fields are valid. The parser zeroes the
 * others; the builder ignores them. */
struct ur_pkt {
	/* table entry of opcode; set by the parser */
	const struct ur_opcode *op;
	/* BTH */
	u8 opcode; /* UR_OP_* */
	bool se;   /* solicited event */
	bool migreq;
	bool fecn;
	bool becn;
	bool ackreq;
	u16 pkey;
	u32 dqpn; /* 24 bits */
	u32 psn;  /* 24 bits */
	/* DETH */
	u32 qkey;
	u32 sqpn; /* 24 bits */
	/* XRCETH */
	u32 xrc_srqn; /* 24 bits */
	/* FETH */
	u8 flush_placement;   /* UR_FETH_GLOBAL, UR_FETH_PERSISTENT */
	u8 flush_selectivity; /* UR_FETH_SEL_* */
	/* AETH */
	u8 syndrome;
	u32 msn; /* 24 bits */
	/* RETH; va and rkey are also those of the AtomicETH */
	u64 va;
	u32 rkey;
	u32 dma_bytes;
	/* AtomicETH: swap operand of CMP_SWAP or addend of FETCH_ADD */
	u64 swap_add;
	u64 compare;
	/* AtomicAckETH: value before the operation */
	u64 atomic_orig;
	/* ImmDt, as a number; verbs programs see it in network order */
	u32 imm;
	/* IETH */
	u32 inv_rkey;
	/* Payload without pad. The pointer is into the parsed buffer; the
	 * builder uses the length only, for the pad count. */
	const u8 *payload;
	u32 payload_bytes;
	/* 0..3; set by the parser, always -payload_bytes & 3 */
	u8 pad;
	u8 header_bytes; /* bytes from BTH to payload; set by the parser */
	u16 sport;	 /* UDP source port; set by the port, 0 after parsing */
};

/*
 * Parses the len bytes at bth, from the BTH to the last pad byte, into *pkt.
 * Any bytes may come. Returns UR_PKT_OK, or the first fault, with nothing
 * useful in *pkt. The caller keeps the buffer as long as it uses pkt->payload.
 */
enum ur_pkt_error ur_pkt_parse(struct ur_pkt *pkt, const u8 *bth, size_t len);

/*
 * Writes the headers of pkt at buf, at most UR_HEADERS_MAX_BYTES, and returns
 * how many bytes they have. pkt->opcode must exist. The caller adds the
 * payload, its pad of ur_pkt_pad() zero bytes, and the ICRC.
 */
size_t ur_pkt_build(const struct ur_pkt *pkt, u8 *buf);

/* Returns the name of a verdict for counters and traces. Static storage. */
const char *ur_pkt_error_name(enum ur_pkt_error error);

/* Returns the counter of a packet with that fault, which is not UR_PKT_OK. */
static inline enum ur_counter ur_pkt_error_counter(enum ur_pkt_error error)
{
	return error == UR_PKT_OPCODE || error == UR_PKT_TVER
		       ? UR_CNT_bad_opcode
		       : UR_CNT_bad_length;
}

/* IBTA 9.2.5: both 15-bit values equal, and at least one full member; ours
 * is the default key, full. */
static inline bool ur_pkey_fits(u16 pkey)
{
	return (pkey & 0x7fff) == (UR_PKEY_DEFAULT & 0x7fff);
}

/* Returns the number of pad bytes behind a payload of so many bytes. */
static inline u32 ur_pkt_pad(u32 payload_bytes)
{
	return -payload_bytes & 3;
}

/* Writes a BTH at buf, for packets that have no other header: most of a long
 * WRITE or SEND. bits: UR_BTH_SE, UR_BTH_MIGREQ. */
static inline void ur_bth_build(u8 *buf, u8 opcode, u8 bits, u32 pad, u16 pkey,
				u32 dqpn, bool ackreq, u32 psn)
{
	buf[0] = opcode;
	buf[1] = (u8)(bits | (pad << UR_BTH_PAD_SHIFT));
	ur_put_be16(buf + 2, pkey);
	ur_put_be32(buf + 4, dqpn & UR_QPN_MASK);
	ur_put_be32(buf + 8, (psn & UR_PSN_MASK) |
				     (ackreq ? (u32)UR_BTH_ACKREQ << 24 : 0));
}

/* Return single fields of a BTH of at least UR_BTH_BYTES, for steering. */
static inline u8 ur_bth_opcode(const u8 *bth)
{
	return bth[0];
}

static inline u32 ur_bth_dqpn(const u8 *bth)
{
	return ur_get_be24(bth + 5);
}

static inline u32 ur_bth_psn(const u8 *bth)
{
	return ur_get_be24(bth + 9);
}

#endif
