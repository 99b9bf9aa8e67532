// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Headers of Ethernet frames as keys: IEEE 802.3, 802.1Q, RFC 791, RFC 8200. */
#include <netinet/in.h>
#include <string.h>
#include "engine/raw/flow_key.h"

#define ETH_BYTES  12u /* the addresses; a tag or the type follows */
#define TAG_BYTES  4u
#define MAX_TAGS   2u
#define IPV6_BYTES 40u
/* Most IPv6 extension headers that are parsed: more than anybody sends. */
#define MAX_EXTENSIONS 8u

#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8

static void parse_ports(struct ur_flow_key *key, u8 proto, const u8 *p, u32 len)
{
	if ((proto != IPPROTO_TCP && proto != IPPROTO_UDP) || len < 4)
		return;
	key->l4 = proto;
	memcpy(&key->src_port, p, 2);
	memcpy(&key->dst_port, p + 2, 2);
}

static void parse_ipv4(struct ur_flow_key *key, const u8 *p, u32 len)
{
	u32 header = len ? (p[0] & 15u) * 4 : 0;
	u16 fragment;

	if (len < 20 || p[0] >> 4 != 4 || header < 20 || header > len)
		return;
	key->ip = UR_FLOW_IPV4;
	key->tos = p[1];
	fragment = ur_get_be16(p + 6);
	key->ip_flags = (fragment & 0x4000 ? UR_FLOW_DONT_FRAG : 0) |
			(fragment & 0x2000 ? UR_FLOW_MORE_FRAG : 0);
	key->ttl = p[8];
	key->proto = p[9];
	memcpy(key->src_ip + 12, p + 12, 4);
	memcpy(key->dst_ip + 12, p + 16, 4);
	if (!(fragment & 0x1fff))
		parse_ports(key, p[9], p + header, len - header);
}

static bool is_extension(u8 next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING ||
	       next == IPPROTO_DSTOPTS || next == IPPROTO_FRAGMENT;
}

static void parse_ipv6(struct ur_flow_key *key, const u8 *p, u32 len)
{
	u32 first = len >= IPV6_BYTES ? ur_get_be32(p) : 0;
	u8 next;

	if (first >> 28 != 6)
		return;
	key->ip = UR_FLOW_IPV6;
	key->tos = (u8)(first >> 20);
	ur_put_be32((u8 *)&key->flow_label, first & 0xfffff);
	key->proto = next = p[6];
	key->ttl = p[7];
	memcpy(key->src_ip, p + 8, 16);
	memcpy(key->dst_ip, p + 24, 16);
	p += IPV6_BYTES;
	len -= IPV6_BYTES;
	for (u32 i = 0; i < MAX_EXTENSIONS && is_extension(next); i++) {
		u32 bytes = len >= 8 ? 8 : 0;

		if (bytes && next != IPPROTO_FRAGMENT)
			bytes += p[1] * 8u;
		if (!bytes || bytes > len)
			return;
		if (next == IPPROTO_FRAGMENT && (ur_get_be16(p + 2) & 0xfff8))
			return;
		next = p[0];
		p += bytes;
		len -= bytes;
	}
	parse_ports(key, next, p, len);
}

void ur_flow_key_parse(struct ur_flow_key *key, const u8 *frame, u32 len)
{
	u32 at = ETH_BYTES;
	u16 type;

	memset(key, 0, sizeof(*key));
	if (len < ETH_BYTES + 2)
		return;
	memcpy(key->dst_mac, frame, 6);
	memcpy(key->src_mac, frame + 6, 6);
	type = ur_get_be16(frame + at);
	for (u32 i = 0; i < MAX_TAGS; i++) {
		if ((type != TYPE_VLAN && type != TYPE_QINQ) ||
		    len - at < TAG_BYTES + 2)
			break;
		if (!key->tagged)
			memcpy(&key->vlan_tag, frame + at + 2, 2);
		key->tagged = 0xff;
		at += TAG_BYTES;
		type = ur_get_be16(frame + at);
	}
	memcpy(&key->ether_type, frame + at, 2);
	at += 2;
	if (type == TYPE_IPV4)
		parse_ipv4(key, frame + at, len - at);
	else if (type == TYPE_IPV6)
		parse_ipv6(key, frame + at, len - at);
}

#define WORDS (sizeof(struct ur_flow_key) / 8)

void ur_flow_key_mask(struct ur_flow_key *out, const struct ur_flow_key *key,
		      const struct ur_flow_key *mask)
{
	u64 k[WORDS], m[WORDS];

	memcpy(k, key, sizeof(k));
	memcpy(m, mask, sizeof(m));
	for (u32 i = 0; i < WORDS; i++)
		k[i] &= m[i];
	memcpy(out, k, sizeof(k));
}

u64 ur_flow_key_hash(const struct ur_flow_key *key, u64 seed)
{
	u64 k[WORDS], h = seed;

	memcpy(k, key, sizeof(k));
	/* mixes each word by the finisher of MurmurHash3 */
	for (u32 i = 0; i < WORDS; i++) {
		h ^= k[i];
		h ^= h >> 33;
		h *= 0xff51afd7ed558ccdull;
		h ^= h >> 33;
		h *= 0xc4ceb9fe1a85ec53ull;
		h ^= h >> 33;
	}
	return h;
}
