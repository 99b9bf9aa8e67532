/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whole RoCE packets as they lie behind the Ethernet header: IPv4 + UDP,
 * IPv6 + UDP (RoCEv2) or GRH (RoCEv1), then BTH to pad, then ICRC.
 */
#ifndef UR_TRANSPORT_FRAME_H
#define UR_TRANSPORT_FRAME_H

#include "util/bytes.h"
#include "transport/icrc.h"
#include "transport/wire_format.h"

enum ur_frame_kind {
	UR_FRAME_V4, /* RoCEv2 over IPv4 */
	UR_FRAME_V6, /* RoCEv2 over IPv6 */
	UR_FRAME_V1, /* RoCEv1: GRH */
};

/*
 * The addressing of a packet. Addresses are GIDs: 16 bytes, IPv4 as
 * ::ffff:a.b.c.d.
 */
struct ur_frame_addr {
	enum ur_frame_kind kind;
	u8 sgid[16];
	u8 dgid[16];
	u8 tos;		/* ToS or traffic class, with the ECN bits */
	u8 ttl;		/* TTL or hop limit */
	u32 flow_label; /* 20 bits; v6 and v1 */
	u16 ip_id;	/* v4 */
	bool df;	/* v4: don't fragment */
	u16 sport;	/* v2 */
	u16 dport;	/* v2 */
};

/* The faults of a packet's outer headers. */
enum ur_frame_error {
	UR_FRAME_OK,
	UR_FRAME_SHORT,	   /* shorter than its headers or stated length */
	UR_FRAME_VERSION,  /* IP version neither 4 nor 6, or not 6 in a GRH */
	UR_FRAME_OPTIONS,  /* IPv4 header is not 20 bytes */
	UR_FRAME_CHECKSUM, /* IPv4 header checksum */
	UR_FRAME_FRAGMENT, /* an IPv4 fragment */
	UR_FRAME_PROTO,	   /* next header is not UDP, or not IBA in a GRH */
	UR_FRAME_PORT,	   /* UDP destination port is not RoCE's */
	UR_FRAME_LENGTH,   /* lengths disagree, or too small for BTH + ICRC */
	UR_FRAME_ICRC,	   /* all of the above right, but the ICRC wrong */
	UR_FRAME_ERRORS
};

/* A parsed packet. Pointers are into the caller's buffer. */
struct ur_frame {
	struct ur_frame_addr addr;
	const u8 *bth;
	size_t bth_bytes; /* BTH to last pad byte, without ICRC */
	u32 icrc;	  /* as received */
	u32 icrc_right;	  /* as computed */
};

/* Returns the bytes before the BTH: 28, 48 or 40. */
size_t ur_frame_header_bytes(enum ur_frame_kind kind);

/*
 * Writes the headers for bth_bytes bytes from BTH to pad at buf, and returns
 * their size. The lengths in them include the ICRC. The IPv4 header checksum is
 * set, the UDP checksum is zero.
 */
size_t ur_frame_headers(u8 *buf, const struct ur_frame_addr *addr,
			size_t bth_bytes);

/* Returns the ICRC of a contiguous packet. frame points at the IP header or
 * GRH, and there are bth_bytes (at least 12) behind the headers of kind. */
u32 ur_frame_icrc(enum ur_frame_kind kind, const u8 *frame, size_t bth_bytes);

/*
 * Makes a packet around the bth_bytes (at least 12) from BTH to pad that lie at
 * buf + ur_frame_header_bytes(). Writes the headers before them and the ICRC
 * behind them, and returns the whole length.
 */
size_t ur_frame_build(u8 *buf, const struct ur_frame_addr *addr,
		      size_t bth_bytes);

/*
 * Parses len bytes at pkt, which begin with the IP header, or with v1, as the
 * Ethernet type says, with the GRH. Any bytes may come. Bytes behind the stated
 * length (Ethernet padding) are ignored, and so is a UDP checksum, since the
 * ICRC is stronger. Returns the first fault. With UR_FRAME_OK and UR_FRAME_ICRC
 * all of *f is set, else nothing of it may be used.
 */
enum ur_frame_error ur_frame_parse(struct ur_frame *f, bool v1, const u8 *pkt,
				   size_t len);

/* Returns the Internet checksum of an IPv4 header of 20 bytes, to be stored
 * big-endian. It is zero over a header that has a correct checksum. */
u16 ur_frame_ipv4_checksum(const u8 *ip);

/* Returns whether the GID is an IPv4 address (::ffff:a.b.c.d). */
bool ur_gid_is_v4(const u8 *gid);

/* Returns whether the GID is a multicast address: ff00::/8, or of IPv4, mapped
 * as above. */
bool ur_gid_is_mcast(const u8 *gid);

/* Makes the GID of an IPv4 address, which is four bytes in network order. */
void ur_gid_from_v4(u8 *gid, const u8 *ipv4);

/* Returns the name of a verdict for counters and traces. Static storage. */
const char *ur_frame_error_name(enum ur_frame_error error);

#endif
