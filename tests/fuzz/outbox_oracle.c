// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The judge of the outbox door, who knows nothing of the device's checks: RoCE packets from the program's own
 * addresses to port 4791 of others, of queue pairs that verbs could have made, with their ICRC as they are on
 * the wire.
 */
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include "tests/check.h"
#include "tests/fuzz/outbox_world.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define ROCE	 4791
#define BTH	 12u
#define ICRC	 4u
#define DETH	 8u
#define HEADERS	 44u /* the longest: BTH, an extended atomic's */
#define PAYLOAD	 4096u
#define SEGMENTS 64u
#define DATAGRAM 65507u

struct way {
	bool v4;
	const u8 *to; /* of 4 or 16 bytes, as from is */
	const u8 *from;
	u8 source[16]; /* as a GID */
	u32 segment;
};

/* ---- the ICRC, a byte at a time ---- */

static u32 crc_table[256];

static void make_table(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 v = i;

		for (u32 bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? 0xedb88320u : 0);
		crc_table[i] = v;
	}
}

static u32 crc(u32 v, const u8 *p, size_t n)
{
	while (n--)
		v = v >> 8 ^ crc_table[(v ^ *p++) & 0xff];
	return v;
}

/* The packet as the wire has it, up to the BTH, with ones where routers write. */
static u32 headers(u8 h[64], const struct way *way, u32 bytes, u16 sport, u32 n)
{
	u32 udp = 8 + bytes, at = way->v4 ? 20 : 40;

	memset(h, 0xff, 64);
	if (way->v4) {
		h[8] = 0x45;
		ur_put_be16(h + 10, (u16)(20 + udp));
		ur_put_be16(h + 12, (u16)n);
		ur_put_be16(h + 14, 0x4000);
		h[17] = IPPROTO_UDP;
		memcpy(h + 20, way->from, 4);
		memcpy(h + 24, way->to, 4);
	} else {
		h[8] = 0x6f;
		ur_put_be16(h + 12, (u16)udp);
		h[14] = IPPROTO_UDP;
		memcpy(h + 16, way->from, 16);
		memcpy(h + 32, way->to, 16);
	}
	at += 8;
	ur_put_be16(h + at, sport);
	ur_put_be16(h + at + 2, ROCE);
	ur_put_be16(h + at + 4, (u16)udp);
	return at + 8;
}

/* Returns whether the ICRC is right; else it is all wrong, as a fault rule asks for. */
static bool has_icrc(const struct way *way, const u8 *p, u32 bytes, u16 sport,
		     u32 n)
{
	u8 h[64];
	u32 len = headers(h, way, bytes, sport, n), v = crc(~0u, h, len);
	u8 bth[BTH];

	memcpy(bth, p, BTH);
	bth[4] = 0xff;
	v = crc(v, bth, BTH);
	v = ~crc(v, p + BTH, bytes - BTH - ICRC);
	if (ur_get_le32(p + bytes - ICRC) == v)
		return true;
	CHECK_EQ(ur_get_le32(p + bytes - ICRC), ~v);
	return false;
}

/* ---- packets ---- */

static bool is_group(const struct way *way)
{
	return way->v4 ? way->to[0] >> 4 == 14 : way->to[0] == 0xff;
}

static void check_datagram(const struct outbox_rights *rights,
			   const struct way *way, const u8 *p, u32 bytes)
{
	u32 qpn = ur_get_be24(p + 5);

	/* SEND, with an immediate or not. */
	CHECK(p[0] == 0x64 || p[0] == 0x65);
	CHECK(bytes >= BTH + DETH + ICRC);
	CHECK_EQ(is_group(way), qpn == 0xffffff);
	/* Not a controlled Q_Key. */
	CHECK(!(p[BTH] & 0x80));
	/* Its own queue pair: five bits are the slot. */
	CHECK_EQ(p[BTH + 5] >> 3, rights->slot);
}

static void check_packet(const struct outbox_rights *rights,
			 const struct way *way, const u8 *p, u32 bytes)
{
	u32 qpn;

	CHECK(bytes >= BTH + ICRC && bytes <= HEADERS + PAYLOAD + ICRC);
	CHECK_EQ(bytes % 4, 0);
	qpn = ur_get_be24(p + 5);
	CHECK(qpn > 1);
	if (p[0] >> 5 == 3) {
		check_datagram(rights, way, p, bytes);
		return;
	}
	/* RC, UC, XRC, and the notification of congestion. */
	CHECK(p[0] >> 5 < 2 || p[0] >> 5 == 5 || p[0] == 0x81);
	CHECK(!is_group(way) && qpn != 0xffffff);
}

/* ---- ways ---- */

static void check_destination(const struct way *way)
{
	static const u8 none[16], host[16] = {[15] = 1};

	if (way->v4) {
		CHECK(way->to[0] && way->to[0] != 127);
		CHECK(memcmp(way->to, "\xff\xff\xff\xff", 4));
		return;
	}
	CHECK(memcmp(way->to, none, 16) && memcmp(way->to, host, 16));
	/* Linux sends such by IPv4. */
	CHECK(memcmp(way->to, outbox_gids[PEER_V4], 12));
}

static void check_source(const struct outbox_rights *rights, struct way *way)
{
	u32 i = 0;

	if (way->v4) {
		memcpy(way->source, outbox_gids[PEER_V4], 12);
		memcpy(way->source + 12, way->from, 4);
	} else {
		memcpy(way->source, way->from, 16);
	}
	while (i < rights->n_gids && memcmp(rights->gids[i], way->source, 16))
		i++;
	CHECK(i < rights->n_gids);
}

static void take_control(struct way *way, const struct cmsghdr *c)
{
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		const struct in_pktinfo *info = (const void *)CMSG_DATA(c);

		CHECK(way->v4 && !info->ipi_ifindex);
		way->from = (const u8 *)&info->ipi_spec_dst;
	} else if (c->cmsg_level == IPPROTO_IPV6 &&
		   c->cmsg_type == IPV6_PKTINFO) {
		const struct in6_pktinfo *info = (const void *)CMSG_DATA(c);

		CHECK(!way->v4);
		way->from = (const u8 *)&info->ipi6_addr;
	} else if (c->cmsg_type == UDP_SEGMENT) {
		u16 size;

		CHECK_EQ(c->cmsg_level, IPPROTO_UDP);
		memcpy(&size, CMSG_DATA(c), sizeof(size));
		way->segment = size;
	} else {
		int ttl;

		CHECK(way->v4 ? c->cmsg_level == IPPROTO_IP &&
					c->cmsg_type == IP_TTL
			      : c->cmsg_level == IPPROTO_IPV6 &&
					c->cmsg_type == IPV6_HOPLIMIT);
		memcpy(&ttl, CMSG_DATA(c), sizeof(ttl));
		CHECK(ttl >= 1 && ttl <= 255);
	}
}

/* Returns the port it goes to. */
static u16 find_way(const struct outbox_rights *rights,
		    const struct msghdr *msg, struct way *way)
{
	const struct sockaddr_in *v4 = msg->msg_name;
	const struct sockaddr_in6 *v6 = msg->msg_name;

	*way = (struct way){.v4 = v4->sin_family == AF_INET};
	CHECK(way->v4 || v6->sin6_family == AF_INET6);
	CHECK_EQ(msg->msg_namelen, way->v4 ? sizeof(*v4) : sizeof(*v6));
	way->to = way->v4 ? (const u8 *)&v4->sin_addr
			  : (const u8 *)&v6->sin6_addr;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR((struct msghdr *)msg, c))
		take_control(way, c);
	CHECK(way->from);
	check_source(rights, way);
	return ntohs(way->v4 ? v4->sin_port : v6->sin6_port);
}

u32 outbox_oracle_datagram(const struct outbox_rights *rights,
			   const struct msghdr *msg)
{
	struct way way;
	u32 n = 0, good = 0, bytes = 0, all;
	const u8 *p;

	if (!crc_table[1])
		make_table();
	CHECK_EQ(find_way(rights, msg, &way), ROCE);
	check_destination(&way);
	CHECK_EQ(msg->msg_iovlen, 1);
	p = msg->msg_iov->iov_base;
	all = (u32)msg->msg_iov->iov_len;
	CHECK(all && all <= DATAGRAM);
	if (!way.segment)
		way.segment = all;
	for (u32 at = 0; at < all; at += bytes, n++) {
		bytes = ur_min_u32(way.segment, all - at);
		check_packet(rights, &way, p + at, bytes);
		good += has_icrc(&way, p + at, bytes, rights->port, n);
	}
	CHECK(n <= SEGMENTS && (!good || good == n));
	return n;
}

void outbox_oracle_wake(const struct outbox_rights *rights,
			const struct msghdr *msg)
{
	struct way way;
	u16 port = find_way(rights, msg, &way);
	const u8 *p = msg->msg_iov->iov_base;
	u8 to[16];

	CHECK(!way.segment && msg->msg_iovlen == 1);
	CHECK_EQ(msg->msg_iov->iov_len, 12); /* shorter than any packet */
	for (u32 i = 0; i < 12; i++)
		CHECK(i == 5 || !p[i]);
	/* Another program of this device, and no other port. */
	CHECK(port == ROCE || (port >= 0x8000 && port < 0xc000));
	memcpy(to, outbox_gids[PEER_V4], 12);
	if (way.v4)
		memcpy(to + 12, way.to, 4);
	else
		memcpy(to, way.to, 16);
	CHECK(!memcmp(to, outbox_gids[OWN_V4], 16) ||
	      !memcmp(to, outbox_gids[OWN_V6], 16) ||
	      !memcmp(to, outbox_gids[ALIEN_V4], 16));
}
