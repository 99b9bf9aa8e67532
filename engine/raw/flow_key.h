/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A flow key is the input of flow rules and receive hashing: the headers of an
 * Ethernet frame, each field at a fixed place. A rule is a key and a mask. Pure
 * functions, any thread.
 */
#ifndef UR_ENGINE_RAW_FLOW_KEY_H
#define UR_ENGINE_RAW_FLOW_KEY_H

#include "util/bytes.h"

#define UR_FLOW_IPV4	  4 /* values of ip */
#define UR_FLOW_IPV6	  6
#define UR_FLOW_DONT_FRAG 2 /* ip_flags, enum ib_ipv4_flags of the kernel */
#define UR_FLOW_MORE_FRAG 4

/* Fields of more than a byte are big endian, as on the wire. Fields that a frame does
 * not have are zero. */
struct ur_flow_key {
	u8 dst_mac[6], src_mac[6];
	u16 ether_type;		   /* behind the last tag */
	u16 vlan_tag;		   /* priority, DEI and VLAN of the first one */
	u8 src_ip[16], dst_ip[16]; /* IPv4: in the last four bytes */
	u32 flow_label;
	u8 tagged; /* 0xff: there is a tag */
	u8 ip;	   /* UR_FLOW_IPV4, UR_FLOW_IPV6 or 0 */
	u8 proto;  /* IPv6: next header of the fixed header */
	u8 tos, ttl, ip_flags;
	u8 l4; /* IPPROTO_TCP or IPPROTO_UDP if there are ports, else 0 */
	u8 reserved;
	u16 src_port, dst_port;
};

_Static_assert(sizeof(struct ur_flow_key) == 64, "whole words, no padding");

/* Fills *key from a frame with any content. */
void ur_flow_key_parse(struct ur_flow_key *key, const u8 *frame, u32 len);
/* Puts key & mask into *out. */
void ur_flow_key_mask(struct ur_flow_key *out, const struct ur_flow_key *key,
		      const struct ur_flow_key *mask);
/* Returns a hash of all bytes of the key, and of seed. */
u64 ur_flow_key_hash(const struct ur_flow_key *key, u64 seed);

#endif
