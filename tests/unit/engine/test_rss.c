// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive hashing: the test vectors of Microsoft's "Verifying the RSS hash
 * calculation", and what has not all of the fields that are asked for.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include "engine/raw/raw.h"
#include "tests/check.h"

static const u8 key[UR_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static const struct vector {
	const char *dst;
	u16 dst_port;
	const char *src;
	u16 src_port;
	u32 addresses, ports;
} v4[] =
	{
		{"161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2,
		 0x51ccc178},
		{"65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a,
		 0xc626b0ea},
		{"12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de,
		 0x5c2b394a},
		{"209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176,
		 0xafc7327f},
		{"202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5,
		 0x10e828a2},
},
  v6[] = {
	  {"3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794,
	   0x2cc18cd5, 0x40207d3d},
	  {"ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c,
	   0xdde51bbf},
	  {"fe80::200:f8ff:fe21:67cf", 38024,
	   "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4b61e985,
	   0x02d1feef},
};

#define V4_ADDRESSES (UR_RSS_SRC_IPV4 | UR_RSS_DST_IPV4)
#define V6_ADDRESSES (UR_RSS_SRC_IPV6 | UR_RSS_DST_IPV6)
#define TCP_PORTS    (UR_RSS_SRC_PORT_TCP | UR_RSS_DST_PORT_TCP)
#define UDP_PORTS    (UR_RSS_SRC_PORT_UDP | UR_RSS_DST_PORT_UDP)

static struct ur_flow_key key_of(const struct vector *v, bool six, u8 proto)
{
	struct ur_flow_key k = {.ip = six ? UR_FLOW_IPV6 : UR_FLOW_IPV4,
				.proto = proto,
				.l4 = proto,
				.src_port = htons(v->src_port),
				.dst_port = htons(v->dst_port)};
	int family = six ? AF_INET6 : AF_INET, off = six ? 0 : 12;

	CHECK_EQ(inet_pton(family, v->src, k.src_ip + off), 1);
	CHECK_EQ(inet_pton(family, v->dst, k.dst_ip + off), 1);
	return k;
}

static u32 hash(const struct ur_flow_key *k, u32 fields)
{
	struct ur_rss_conf conf = {.fields = fields, .size = 1};

	memcpy(conf.key, key, sizeof(key));
	return ur_rss_hash(&conf, k);
}

static void test_vectors(void)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(v4); i++) {
		struct ur_flow_key k = key_of(&v4[i], false, IPPROTO_TCP);

		CHECK_EQ(hash(&k, V4_ADDRESSES), v4[i].addresses);
		CHECK_EQ(hash(&k, V4_ADDRESSES | TCP_PORTS), v4[i].ports);
		k = key_of(&v4[i], false, IPPROTO_UDP);
		CHECK_EQ(hash(&k, V4_ADDRESSES | UDP_PORTS), v4[i].ports);
		/* The other protocol's are not asked for. */
		CHECK_EQ(hash(&k, V4_ADDRESSES | TCP_PORTS), v4[i].addresses);
	}
	for (u32 i = 0; i < UR_ARRAY_SIZE(v6); i++) {
		struct ur_flow_key k = key_of(&v6[i], true, IPPROTO_TCP);

		CHECK_EQ(hash(&k, V6_ADDRESSES), v6[i].addresses);
		CHECK_EQ(hash(&k, V6_ADDRESSES | TCP_PORTS), v6[i].ports);
	}
}

/* Each field by itself decides, and nothing else does. */
static void test_fields(void)
{
	struct ur_flow_key k = key_of(&v4[0], false, IPPROTO_UDP), other;
	u32 with;

	with = hash(&k, UR_RSS_SRC_IPV4);
	other = k;
	other.dst_ip[15] ^= 1;
	other.src_port ^= 1;
	CHECK_EQ(hash(&other, UR_RSS_SRC_IPV4), with);
	other.src_ip[15] ^= 1;
	CHECK(hash(&other, UR_RSS_SRC_IPV4) != with);
	with = hash(&k, UR_RSS_DST_PORT_UDP);
	other = k;
	other.src_ip[15] ^= 1;
	other.src_port ^= 1;
	CHECK_EQ(hash(&other, UR_RSS_DST_PORT_UDP), with);
	other.dst_port ^= 1;
	CHECK(hash(&other, UR_RSS_DST_PORT_UDP) != with);
}

static void test_missing(void)
{
	struct ur_flow_key k = key_of(&v4[0], false, IPPROTO_UDP), none = {0};

	CHECK_EQ(hash(&none, V4_ADDRESSES | UDP_PORTS), 0);
	CHECK_EQ(hash(&k, V6_ADDRESSES), 0);
	CHECK_EQ(hash(&k, 0), 0);
	/* The first of several fragments, as those without ports. */
	k.ip_flags = UR_FLOW_MORE_FRAG;
	CHECK_EQ(hash(&k, V4_ADDRESSES | UDP_PORTS), v4[0].addresses);
	k = key_of(&v6[0], true, IPPROTO_UDP);
	k.proto = IPPROTO_FRAGMENT;
	CHECK_EQ(hash(&k, V6_ADDRESSES | UDP_PORTS), v6[0].addresses);
}

int main(void)
{
	test_vectors();
	test_fields();
	test_missing();
	return 0;
}
