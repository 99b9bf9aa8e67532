// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Specs of a flow rule: a header, a value and a mask of equal size. Both may be shorter
 * than known, or longer if the rest is zero. A spec of IP or of a port also implies the
 * frame's protocol.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include "device/uverbs/raw/flow_parts.h"

/* enum ibv_flow_spec_type */
#define PART_ETH	  0x20
#define PART_IPV4	  0x30
#define PART_IPV6	  0x31
#define PART_IPV4_EXT	  0x32
#define PART_TCP	  0x40
#define PART_UDP	  0x41
#define PART_ACTION_DROP  0x1001
#define PART_ACTION_COUNT 0x1003

#define IPV4_FLAGS (UR_FLOW_DONT_FRAG | UR_FLOW_MORE_FRAG)

union filter {
	struct ib_uverbs_flow_eth_filter eth;
	struct ib_uverbs_flow_ipv4_filter ipv4;
	struct ib_uverbs_flow_ipv6_filter ipv6;
	struct ib_uverbs_flow_tcp_udp_filter ports;
	u8 bytes[64];
};

static int read_filter(union filter *f, size_t known, const u8 *at, size_t n)
{
	memset(f, 0, sizeof(*f));
	memcpy(f, at, n < known ? n : known);
	for (size_t i = known; i < n; i++)
		if (at[i])
			return -EOPNOTSUPP;
	return 0;
}

static void put_eth(struct ur_flow_key *k, const union filter *f)
{
	memcpy(k->dst_mac, f->eth.dst_mac, 6);
	memcpy(k->src_mac, f->eth.src_mac, 6);
	k->ether_type = f->eth.ether_type;
	k->vlan_tag = f->eth.vlan_tag;
}

static void put_ipv4(struct ur_flow_key *k, const union filter *f)
{
	memcpy(k->src_ip + 12, &f->ipv4.src_ip, 4);
	memcpy(k->dst_ip + 12, &f->ipv4.dst_ip, 4);
	k->proto = f->ipv4.proto;
	k->tos = f->ipv4.tos;
	k->ttl = f->ipv4.ttl;
	k->ip_flags = f->ipv4.flags;
}

static void put_ipv6(struct ur_flow_key *k, const union filter *f)
{
	memcpy(k->src_ip, f->ipv6.src_ip, 16);
	memcpy(k->dst_ip, f->ipv6.dst_ip, 16);
	k->flow_label = f->ipv6.flow_label;
	k->proto = f->ipv6.next_hdr;
	k->tos = f->ipv6.traffic_class;
	k->ttl = f->ipv6.hop_limit;
}

static void put_ports(struct ur_flow_key *k, const union filter *f)
{
	k->src_port = f->ports.src_port;
	k->dst_port = f->ports.dst_port;
}

static int is_ip(struct ur_flow_parts *p, u8 version)
{
	if (p->mask.ip)
		return -EINVAL;
	p->key.ip = version;
	p->mask.ip = 0xff;
	return 0;
}

static int is_l4(struct ur_flow_parts *p, u8 proto)
{
	if (p->mask.l4)
		return -EINVAL;
	p->key.l4 = proto;
	p->mask.l4 = 0xff;
	return 0;
}

static const struct part {
	u32 type;
	size_t known;
	void (*put)(struct ur_flow_key *key, const union filter *f);
	int (*also)(struct ur_flow_parts *p, u8 what);
	u8 what;
} kinds[] = {
	{PART_ETH, sizeof(struct ib_uverbs_flow_eth_filter), put_eth, NULL, 0},
	{PART_IPV4, sizeof(struct ib_uverbs_flow_ipv4_filter), put_ipv4, is_ip,
	 UR_FLOW_IPV4},
	{PART_IPV4_EXT, sizeof(struct ib_uverbs_flow_ipv4_filter), put_ipv4,
	 is_ip, UR_FLOW_IPV4},
	{PART_IPV6, sizeof(struct ib_uverbs_flow_ipv6_filter), put_ipv6, is_ip,
	 UR_FLOW_IPV6},
	{PART_TCP, sizeof(struct ib_uverbs_flow_tcp_udp_filter), put_ports,
	 is_l4, IPPROTO_TCP},
	{PART_UDP, sizeof(struct ib_uverbs_flow_tcp_udp_filter), put_ports,
	 is_l4, IPPROTO_UDP},
};

static int read_headers(struct ur_flow_parts *p, const struct part *kind,
			const u8 *at, size_t bytes)
{
	union filter value, mask;
	int err;

	if (!bytes || bytes % 2 || bytes / 2 > sizeof(value))
		return -EINVAL;
	err = read_filter(&value, kind->known, at, bytes / 2);
	if (!err)
		err = read_filter(&mask, kind->known, at + bytes / 2,
				  bytes / 2);
	if (!err && kind->also)
		err = kind->also(p, kind->what);
	if (err)
		return err;
	kind->put(&p->key, &value);
	kind->put(&p->mask, &mask);
	return 0;
}

static int read_part(struct ur_flow_parts *p, u32 *seen, u32 type,
		     const u8 *body, size_t bytes)
{
	u32 words[2];

	for (u32 i = 0; i < UR_ARRAY_SIZE(kinds); i++) {
		if (kinds[i].type != type)
			continue;
		/* A repeated header would be an inner one, which is not supported. */
		if (*seen & (1u << i))
			return -EINVAL;
		*seen |= 1u << i;
		return read_headers(p, &kinds[i], body, bytes);
	}
	if (type == PART_ACTION_DROP) {
		p->drop = true;
		return bytes ? -EINVAL : 0;
	}
	if (type != PART_ACTION_COUNT)
		return -EOPNOTSUPP;
	if (bytes != sizeof(words) || p->counted)
		return -EINVAL;
	memcpy(words, body, sizeof(words));
	p->counted = true;
	p->counters = words[0];
	return 0;
}

int ur_flow_parts_read(struct ur_flow_parts *out,
		       const struct ib_uverbs_flow_attr *attr, const u8 *parts)
{
	size_t left = attr->size;
	u32 seen = 0;
	int err;

	memset(out, 0, sizeof(*out));
	for (u32 i = 0; i < attr->num_of_specs; i++) {
		struct ib_uverbs_flow_spec_hdr h;

		if (left < sizeof(h))
			return -EINVAL;
		memcpy(&h, parts, sizeof(h));
		if (h.size < sizeof(h) || h.size > left || h.reserved)
			return -EINVAL;
		err = read_part(out, &seen, h.type, parts + sizeof(h),
				h.size - sizeof(h));
		if (err)
			return err;
		parts += h.size;
		left -= h.size;
	}
	/* A rule about a VLAN tag matches tagged frames only. */
	if (out->mask.vlan_tag)
		out->key.tagged = out->mask.tagged = 0xff;
	if (out->mask.ip_flags & ~IPV4_FLAGS)
		return -EOPNOTSUPP;
	return left ? -EINVAL : 0;
}
