/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The invariant CRC of RoCE: CRC-32 over eight bytes of ones (where an LRH
 * would stand) and the packet from its IP header or GRH to the last pad byte,
 * with the fields that routers change taken as ones. Stored little-endian.
 *
 *	u32 crc = ur_icrc_seed_v4(ip_udp, bth);
 *	crc = ur_icrc_update(crc, bth + 12, header_bytes - 12);
 *	crc = ur_icrc_update(crc, payload, payload_bytes + pad);
 *	ur_put_le32(icrc, crc);
 *
 * Masks: IBTA annex A16 (RoCEv1) and A17 (RoCEv2).
 */
#ifndef UR_TRANSPORT_ICRC_H
#define UR_TRANSPORT_ICRC_H

#include "util/bytes.h"
#include "transport/wire_format.h"

/*
 * Returns the CRC after dummy LRH, IP header, UDP header and BTH. ip_udp: IPv4
 * header without options and UDP header as they go on the wire (28 bytes). The
 * masked fields (ToS, TTL, both checksums) do not matter; identification,
 * flags, addresses, ports and both lengths do. bth: 12 bytes.
 */
u32 ur_icrc_seed_v4(const u8 *ip_udp, const u8 *bth);

/* Does the same for IPv6: 48 bytes of headers; traffic class, flow label, hop
 * limit and UDP checksum do not matter. */
u32 ur_icrc_seed_v6(const u8 *ip_udp, const u8 *bth);

/* Does the same for RoCEv1: 40 bytes of GRH. */
u32 ur_icrc_seed_v1(const u8 *grh, const u8 *bth);

/* Returns crc continued over len more bytes. It is the ICRC when all of the
 * packet was given; there is no final step. */
u32 ur_icrc_update(u32 crc, const void *data, size_t len);

/*
 * Behind a UDP socket the IPv4 identification and the DF bit of a received
 * packet are not known, and both are inside the ICRC. As CRC is linear, the
 * difference between the received ICRC and the one computed with these four
 * bytes as zero determines them: multiplied by x^-8n (n bytes from the
 * identification to the end) it is the four bytes themselves.
 *
 * Strength: of the 2^32 possible differences 2^17 are taken as some
 * identification with or without DF, so a random error passes with
 * probability 2^-15 (instead of 2^-32); bursts up to 32 bits in the payload
 * are found less surely too. The caller gains most of it back by also asking
 * whether the identification is one that the peer plausibly uses: 0 and up
 * within a burst (UDP sockets), or a little above the last one (kernel rxe).
 * The UDP checksum, where a sender sets one, is the kernel's check.
 */

/* The x^-8n and masks by length, filled on demand. Zero it before first use;
 * owned by the caller, one per thread. Indexed by packet length / 4. */
struct ur_icrc_cache {
	u32 factor[(UR_FRAME_MAX_BYTES + 3) / 4 + 1];
	/* How the CRC changes when BTH byte 4 is all ones, by BTH-to-pad length
	 * / 4. */
	u32 mask[(UR_FRAME_MAX_BYTES + 3) / 4 + 1];
};

/*
 * Returns crc continued over a packet of len bytes (at least 12) from BTH to
 * pad, with the masked byte of the BTH taken as ones. One pass, and the packet
 * is not written to.
 */
u32 ur_icrc_packet(struct ur_icrc_cache *cache, u32 crc, const u8 *bth,
		   size_t len);

/* The identification and the DF bit that were found. */
struct ur_icrc_id {
	u16 id;
	bool df;
};

/*
 * Finds the identification that explains the difference between two ICRCs, of
 * which there is at most one. crc: the one computed with identification, flags
 * and fragment offset zero; received: the one in the packet. ip_bytes: length
 * from the IPv4 header to the last pad byte, without ICRC. Returns true with
 * *ret, or false where the packet is damaged, too long, or not a multiple of
 * four bytes.
 */
bool ur_icrc_solve_id(struct ur_icrc_cache *cache, u32 crc, u32 received,
		      size_t ip_bytes, struct ur_icrc_id *ret);

#endif
