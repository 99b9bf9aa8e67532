// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flow rules: the key of frames of each kind, byte by byte and cut at every
 * length; the parts of a command, good, contradicting and not well formed; and
 * a rule of each kind against frames that it wants and does not want.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include "device/uverbs/raw/flow_parts.h"
#include "tests/check.h"
#include "util/rng.h"

static const u8 macs[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};

/* ---- frames ---- */

struct frame {
	u8 data[256];
	u32 len;
};

static void add(struct frame *f, const void *p, u32 n)
{
	memcpy(f->data + f->len, p, n);
	f->len += n;
}

static void add16(struct frame *f, u16 v)
{
	u8 b[2];

	ur_put_be16(b, v);
	add(f, b, 2);
}

static void add_ports(struct frame *f)
{
	static const u8 rest[16];

	add16(f, 6000);
	add16(f, 5000);
	add(f, rest, sizeof(rest));
}

static struct frame ethernet(int tags)
{
	struct frame f = {.len = 0};

	add(&f, macs, sizeof(macs));
	for (int i = 0; i < tags; i++) {
		add16(&f, tags == 2 && !i ? 0x88a8 : 0x8100);
		add16(&f, (u16)(0x6000 + 100 + i));
	}
	return f;
}

static struct frame ipv4(u8 proto, u16 fragment, u8 options, int tags)
{
	u8 ip[60] = {(u8)(0x45 + options), 0x28, 0, 0, 0, 0, 0, 0, 63, proto};
	struct frame f = ethernet(tags);

	ur_put_be16(ip + 6, fragment);
	memcpy(ip + 12, "\x0a\0\0\1\x0a\0\0\2", 8);
	add16(&f, 0x0800);
	add(&f, ip, 20 + options * 4u);
	add_ports(&f);
	return f;
}

static struct frame ipv6(u8 proto, int extensions)
{
	static const u8 next[] = {IPPROTO_HOPOPTS, IPPROTO_DSTOPTS};
	u8 ip[40] = {0x62, 0x81, 0x23, 0x45, 0, 0, 0, 62}, ext[8] = {0};
	struct frame f = ethernet(0);

	ip[6] = extensions ? next[0] : proto;
	ip[23] = 1;
	ip[39] = 2;
	add16(&f, 0x86dd);
	add(&f, ip, 40);
	for (int i = 0; i < extensions; i++) {
		ext[0] = i + 1 < extensions ? next[1] : proto;
		add(&f, ext, 8);
	}
	add_ports(&f);
	return f;
}

static struct ur_flow_key key_of(const struct frame *f)
{
	struct ur_flow_key k;

	ur_flow_key_parse(&k, f->data, f->len);
	return k;
}

static void test_ipv4(void)
{
	struct frame f = ipv4(IPPROTO_UDP, 0x4000, 0, 0);
	struct ur_flow_key k = key_of(&f);

	CHECK(!memcmp(k.dst_mac, macs, 6) && !memcmp(k.src_mac, macs + 6, 6));
	CHECK_EQ(ntohs(k.ether_type), 0x0800);
	CHECK_EQ(k.tagged, 0);
	CHECK_EQ(k.ip, UR_FLOW_IPV4);
	CHECK_EQ(k.tos, 0x28);
	CHECK_EQ(k.ttl, 63);
	CHECK_EQ(k.ip_flags, UR_FLOW_DONT_FRAG);
	CHECK_EQ(k.proto, IPPROTO_UDP);
	CHECK_EQ(k.src_ip[15], 1);
	CHECK_EQ(k.dst_ip[15], 2);
	CHECK_EQ(k.l4, IPPROTO_UDP);
	CHECK_EQ(ntohs(k.src_port), 6000);
	CHECK_EQ(ntohs(k.dst_port), 5000);
	f = ipv4(IPPROTO_TCP, 0x2000, 5, 1); /* options, the first fragment */
	k = key_of(&f);
	CHECK_EQ(k.l4, IPPROTO_TCP);
	CHECK_EQ(k.ip_flags, UR_FLOW_MORE_FRAG);
	CHECK_EQ(ntohs(k.dst_port), 5000);
	CHECK_EQ(k.tagged, 0xff);
	CHECK_EQ(ntohs(k.vlan_tag), 0x6064);
	f = ipv4(IPPROTO_UDP, 0x0010, 0, 2); /* a later one has no ports */
	k = key_of(&f);
	CHECK_EQ(k.ip, UR_FLOW_IPV4);
	CHECK_EQ(k.l4, 0);
	CHECK_EQ(k.dst_port, 0);
	CHECK_EQ(ntohs(k.vlan_tag), 0x6064);
	f = ipv4(IPPROTO_ICMP, 0, 0, 0);
	CHECK_EQ(key_of(&f).l4, 0);
}

static void test_ipv6(void)
{
	for (int extensions = 0; extensions < 3; extensions++) {
		struct frame f = ipv6(IPPROTO_UDP, extensions);
		struct ur_flow_key k = key_of(&f);

		CHECK_EQ(k.ip, UR_FLOW_IPV6);
		CHECK_EQ(k.tos, 0x28);
		CHECK_EQ(ntohl(k.flow_label), 0x12345);
		CHECK_EQ(k.ttl, 62);
		CHECK_EQ(k.src_ip[15], 1);
		CHECK_EQ(k.dst_ip[15], 2);
		CHECK_EQ(k.l4, IPPROTO_UDP);
		CHECK_EQ(ntohs(k.dst_port), 5000);
	}
}

/* In memory of that very size, for AddressSanitizer. */
static void parse_exact(const u8 *data, u32 len)
{
	u8 *copy = malloc(len ? len : 1);
	struct ur_flow_key k;

	memcpy(copy, data, len);
	ur_flow_key_parse(&k, copy, len);
	free(copy);
}

static void test_cut(void)
{
	struct ur_rng rng = {1};
	struct frame f;

	for (u32 len = 0; len < 128; len++) {
		f = ipv4(IPPROTO_UDP, 0, 10, 2);
		parse_exact(f.data, len < f.len ? len : f.len);
		f = ipv6(IPPROTO_TCP, 2);
		parse_exact(f.data, len < f.len ? len : f.len);
	}
	for (u32 i = 0; i < 20000; i++) {
		f = i & 1 ? ipv6(IPPROTO_UDP, 2) : ipv4(IPPROTO_UDP, 0, 2, 1);
		for (u32 n = 0; n < 8; n++)
			f.data[12 + ur_rng_u64(&rng) % (f.len - 12)] =
				(u8)ur_rng_u64(&rng);
		parse_exact(f.data, 14 + ur_rng_u64(&rng) % (f.len - 14));
	}
}

/* ---- parts ---- */

static struct frame parts;
static u8 n_parts;

static void none(void)
{
	parts.len = 0;
	n_parts = 0;
}

static void part(u32 type, const void *value, const void *mask, u16 n)
{
	struct ib_uverbs_flow_spec_hdr h = {type, (u16)(sizeof(h) + 2 * n), 0};

	add(&parts, &h, sizeof(h));
	add(&parts, value, n);
	add(&parts, mask, n);
	n_parts++;
}

static int read_parts(struct ur_flow_parts *p)
{
	struct ib_uverbs_flow_attr attr = {.size = (u16)parts.len,
					   .num_of_specs = n_parts};

	return ur_flow_parts_read(p, &attr, parts.data);
}

static bool wants(const struct ur_flow_parts *p, const struct frame *f)
{
	struct ur_flow_key have = key_of(f), want;

	ur_flow_key_mask(&have, &have, &p->mask);
	ur_flow_key_mask(&want, &p->key, &p->mask);
	return !memcmp(&have, &want, sizeof(have));
}

static void test_rules(void)
{
	struct ib_uverbs_flow_ipv4_filter ip = {.dst_ip = htonl(0x0a000002)},
					  ip_mask = {.dst_ip = ~0u};
	struct ib_uverbs_flow_tcp_udp_filter port = {.dst_port = htons(5000)},
					     port_mask = {.dst_port = 0xffff};
	struct ib_uverbs_flow_eth_filter eth = {.vlan_tag = htons(100)},
					 eth_mask = {.vlan_tag = htons(0xfff)};
	struct frame udp = ipv4(IPPROTO_UDP, 0, 0, 0),
		     tcp = ipv4(IPPROTO_TCP, 0, 0, 0),
		     tag = ipv4(IPPROTO_UDP, 0, 0, 1),
		     v6 = ipv6(IPPROTO_UDP, 0);
	struct ur_flow_parts p;

	none(); /* everything */
	CHECK_EQ(read_parts(&p), 0);
	CHECK(wants(&p, &udp) && wants(&p, &v6));
	part(0x30, &ip, &ip_mask, sizeof(ip));
	CHECK_EQ(read_parts(&p), 0);
	CHECK(wants(&p, &udp) && wants(&p, &tcp) && !wants(&p, &v6));
	part(0x41, &port, &port_mask, sizeof(port));
	CHECK_EQ(read_parts(&p), 0);
	CHECK(wants(&p, &udp) && !wants(&p, &tcp) && wants(&p, &tag));
	part(0x20, &eth, &eth_mask, sizeof(eth));
	CHECK_EQ(read_parts(&p), 0);
	CHECK(!wants(&p, &udp) && wants(&p, &tag));
	eth.vlan_tag = 0; /* VLAN 0 is a tag, too */
	none();
	part(0x20, &eth, &eth_mask, sizeof(eth));
	CHECK_EQ(read_parts(&p), 0);
	CHECK(!wants(&p, &udp) && !wants(&p, &tag));
	ip.dst_ip = htonl(0x0a000003);
	none();
	part(0x30, &ip, &ip_mask, sizeof(ip));
	CHECK_EQ(read_parts(&p), 0);
	CHECK(!wants(&p, &udp));
	none(); /* an older kernel's, without what came later */
	part(0x30, "\x0a\0\0\1\x0a\0\0\2", "\xff\xff\xff\xff\xff\xff\xff\xff",
	     8);
	CHECK_EQ(read_parts(&p), 0);
	CHECK(wants(&p, &udp) && !wants(&p, &v6));
}

static void test_bad_parts(void)
{
	static const u8 zero[64], ones[64] = {[0 ... 63] = 0xff};
	const struct ib_uverbs_flow_spec_hdr count = {0x1003, 16, 0},
					     drop = {0x1001, 8, 0};
	static const u32 unknown[] = {0,     0x34,  0x50,   0x51,   0x60,
				      0x120, 0x130, 0x1000, 0x1002, 0x1004};
	struct ur_flow_parts p;

	for (u32 i = 0; i < UR_ARRAY_SIZE(unknown); i++) {
		none();
		part(unknown[i], zero, zero, 4);
		CHECK_EQ(read_parts(&p), -EOPNOTSUPP);
	}
	none(); /* twice the same */
	part(0x20, zero, zero, 16);
	part(0x20, zero, zero, 16);
	CHECK_EQ(read_parts(&p), -EINVAL);
	none(); /* both versions of IP; both protocols */
	part(0x30, zero, zero, 12);
	part(0x31, zero, zero, 40);
	CHECK_EQ(read_parts(&p), -EINVAL);
	none();
	part(0x40, zero, zero, 4);
	part(0x41, zero, zero, 4);
	CHECK_EQ(read_parts(&p), -EINVAL);
	none(); /* longer than known: zeros only */
	part(0x40, zero, zero, 12);
	CHECK_EQ(read_parts(&p), 0);
	none();
	part(0x40, zero, ones, 12);
	CHECK_EQ(read_parts(&p), -EOPNOTSUPP);
	none(); /* flags that IPv4 has not */
	part(0x30, zero, ones, 12);
	CHECK_EQ(read_parts(&p), -EOPNOTSUPP);
	none();
	part(0x20, zero, zero, 0);
	CHECK_EQ(read_parts(&p), -EINVAL);
	none();
	add(&parts, &count, sizeof(count));
	add(&parts, "\5\0\0\0\0\0\0\0", 8);
	add(&parts, &drop, sizeof(drop));
	n_parts = 2;
	CHECK_EQ(read_parts(&p), 0);
	CHECK(p.drop && p.counted);
	CHECK_EQ(p.counters, 5);
	n_parts = 1; /* bytes that no part has */
	CHECK_EQ(read_parts(&p), -EINVAL);
	n_parts = 3;
	CHECK_EQ(read_parts(&p), -EINVAL);
}

/* Sizes that lie, and anything: an error or a rule, within the bytes given. */
static void test_any_parts(void)
{
	struct ur_rng rng = {1};

	for (u32 i = 0; i < 50000; i++) {
		static const u16 types[] = {0x20, 0x30, 0x31,	0x32,
					    0x40, 0x41, 0x1001, 0x1003};
		u32 len = (u32)(ur_rng_u64(&rng) % 200);
		u8 *data = malloc(len + 1);
		struct ib_uverbs_flow_attr attr = {
			.size = (u16)len,
			.num_of_specs = (u8)(ur_rng_u64(&rng) % 11)};
		struct ur_flow_parts p;

		for (u32 k = 0; k < len; k++)
			data[k] = (u8)(ur_rng_u64(&rng) & 1 ? 0 : 1);
		for (u32 at = 0; at + 8 <= len;) {
			struct ib_uverbs_flow_spec_hdr h = {
				types[ur_rng_u64(&rng) % 8],
				(u16)(ur_rng_u64(&rng) % 100), 0};

			memcpy(data + at, &h, sizeof(h));
			at += h.size > 8 ? h.size : 8u;
		}
		data = realloc(data, len ? len : 1);
		ur_flow_parts_read(&p, &attr, data);
		free(data);
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_ipv4());
	CASE(test_ipv6());
	CASE(test_cut());
	CASE(test_rules());
	CASE(test_bad_parts());
	CASE(test_any_parts());
	return cases_status();
}
