// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Outer headers of RoCE: RFC 791, 8200 and 768 for v2, the GRH of IBTA
 * volume 1, 8.3 for v1.
 */
#include "transport/frame.h"

#define PROTO_UDP 17

static const u8 v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool ur_gid_is_v4(const u8 *gid)
{
	return !memcmp(gid, v4_prefix, sizeof(v4_prefix));
}

bool ur_gid_is_mcast(const u8 *gid)
{
	return gid[0] == 0xff ||
	       (ur_gid_is_v4(gid) && (gid[12] & 0xf0) == 0xe0);
}

void ur_gid_from_v4(u8 *gid, const u8 *ipv4)
{
	memcpy(gid, v4_prefix, sizeof(v4_prefix));
	memcpy(gid + 12, ipv4, 4);
}

size_t ur_frame_header_bytes(enum ur_frame_kind kind)
{
	switch (kind) {
	case UR_FRAME_V4:
		return UR_IPV4_BYTES + UR_UDP_BYTES;
	case UR_FRAME_V6:
		return UR_IPV6_BYTES + UR_UDP_BYTES;
	case UR_FRAME_V1:
		break;
	}
	return UR_GRH_BYTES;
}

u16 ur_frame_ipv4_checksum(const u8 *ip)
{
	u32 sum = 0;

	for (int i = 0; i < UR_IPV4_BYTES; i += 2)
		sum += ur_get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (u16)~sum;
}

static void put_ipv4(u8 *ip, const struct ur_frame_addr *addr, size_t bytes)
{
	ip[0] = 0x45;
	ip[1] = addr->tos;
	ur_put_be16(ip + 2, (u16)(UR_IPV4_BYTES + bytes));
	ur_put_be16(ip + 4, addr->ip_id);
	ur_put_be16(ip + 6, addr->df ? UR_IPV4_DF : 0);
	ip[8] = addr->ttl;
	ip[9] = PROTO_UDP;
	ur_put_be16(ip + 10, 0);
	memcpy(ip + 12, addr->sgid + 12, 4);
	memcpy(ip + 16, addr->dgid + 12, 4);
	ur_put_be16(ip + 10, ur_frame_ipv4_checksum(ip));
}

/* IPv6 header or GRH: same layout, but next header. */
static void put_ipv6(u8 *ip, const struct ur_frame_addr *addr, size_t bytes,
		     u8 next)
{
	ur_put_be32(ip, 6u << 28 | (u32)addr->tos << 20 |
				(addr->flow_label & 0xfffff));
	ur_put_be16(ip + 4, (u16)bytes);
	ip[6] = next;
	ip[7] = addr->ttl;
	memcpy(ip + 8, addr->sgid, 16);
	memcpy(ip + 24, addr->dgid, 16);
}

static void put_udp(u8 *udp, const struct ur_frame_addr *addr, size_t bytes)
{
	ur_put_be16(udp, addr->sport);
	ur_put_be16(udp + 2, addr->dport);
	ur_put_be16(udp + 4, (u16)bytes);
	ur_put_be16(udp + 6, 0);
}

size_t ur_frame_headers(u8 *buf, const struct ur_frame_addr *addr,
			size_t bth_bytes)
{
	size_t body = bth_bytes + UR_ICRC_BYTES, udp = body + UR_UDP_BYTES;

	switch (addr->kind) {
	case UR_FRAME_V4:
		put_ipv4(buf, addr, udp);
		put_udp(buf + UR_IPV4_BYTES, addr, udp);
		break;
	case UR_FRAME_V6:
		put_ipv6(buf, addr, udp, PROTO_UDP);
		put_udp(buf + UR_IPV6_BYTES, addr, udp);
		break;
	case UR_FRAME_V1:
		put_ipv6(buf, addr, body, UR_GRH_NEXT_HDR_IBA);
		break;
	}
	return ur_frame_header_bytes(addr->kind);
}

u32 ur_frame_icrc(enum ur_frame_kind kind, const u8 *frame, size_t bth_bytes)
{
	const u8 *bth = frame + ur_frame_header_bytes(kind);
	u32 crc = 0;

	switch (kind) {
	case UR_FRAME_V4:
		crc = ur_icrc_seed_v4(frame, bth);
		break;
	case UR_FRAME_V6:
		crc = ur_icrc_seed_v6(frame, bth);
		break;
	case UR_FRAME_V1:
		crc = ur_icrc_seed_v1(frame, bth);
		break;
	}
	return ur_icrc_update(crc, bth + UR_BTH_BYTES,
			      bth_bytes - UR_BTH_BYTES);
}

size_t ur_frame_build(u8 *buf, const struct ur_frame_addr *addr,
		      size_t bth_bytes)
{
	size_t len = ur_frame_headers(buf, addr, bth_bytes) + bth_bytes;

	ur_put_le32(buf + len, ur_frame_icrc(addr->kind, buf, bth_bytes));
	return len + UR_ICRC_BYTES;
}

static enum ur_frame_error parse_ipv4(struct ur_frame_addr *addr, const u8 *ip,
				      size_t len, size_t *ret_body)
{
	u16 total, fragment;

	if (len < UR_IPV4_BYTES)
		return UR_FRAME_SHORT;
	if (ip[0] != 0x45)
		return UR_FRAME_OPTIONS;
	if (ur_frame_ipv4_checksum(ip))
		return UR_FRAME_CHECKSUM;
	total = ur_get_be16(ip + 2);
	if (total > len)
		return UR_FRAME_SHORT;
	if (total < UR_IPV4_BYTES)
		return UR_FRAME_LENGTH;
	fragment = ur_get_be16(ip + 6);
	if (fragment & ~UR_IPV4_DF)
		return UR_FRAME_FRAGMENT;
	if (ip[9] != PROTO_UDP)
		return UR_FRAME_PROTO;
	addr->kind = UR_FRAME_V4;
	ur_gid_from_v4(addr->sgid, ip + 12);
	ur_gid_from_v4(addr->dgid, ip + 16);
	addr->tos = ip[1];
	addr->ttl = ip[8];
	addr->ip_id = ur_get_be16(ip + 4);
	addr->df = fragment & UR_IPV4_DF;
	*ret_body = total - UR_IPV4_BYTES;
	return UR_FRAME_OK;
}

static enum ur_frame_error parse_ipv6(struct ur_frame_addr *addr, const u8 *ip,
				      size_t len, bool v1, size_t *ret_body)
{
	size_t body;

	if (len < UR_IPV6_BYTES)
		return UR_FRAME_SHORT;
	body = ur_get_be16(ip + 4);
	if (body > len - UR_IPV6_BYTES)
		return UR_FRAME_SHORT;
	if (ip[6] != (v1 ? UR_GRH_NEXT_HDR_IBA : PROTO_UDP))
		return UR_FRAME_PROTO;
	addr->kind = v1 ? UR_FRAME_V1 : UR_FRAME_V6;
	memcpy(addr->sgid, ip + 8, 16);
	memcpy(addr->dgid, ip + 24, 16);
	addr->tos = (u8)(ur_get_be16(ip) >> 4);
	addr->flow_label = ur_get_be32(ip) & 0xfffff;
	addr->ttl = ip[7];
	*ret_body = body;
	return UR_FRAME_OK;
}

/* *body: bytes behind the IP header, all present. */
static enum ur_frame_error parse_udp(struct ur_frame_addr *addr, const u8 *udp,
				     size_t *body)
{
	if (*body < UR_UDP_BYTES)
		return UR_FRAME_LENGTH;
	addr->sport = ur_get_be16(udp);
	addr->dport = ur_get_be16(udp + 2);
	if (addr->dport != UR_ROCE_V2_UDP_PORT)
		return UR_FRAME_PORT;
	if (ur_get_be16(udp + 4) != *body)
		return UR_FRAME_LENGTH;
	*body -= UR_UDP_BYTES;
	return UR_FRAME_OK;
}

enum ur_frame_error ur_frame_parse(struct ur_frame *f, bool v1, const u8 *pkt,
				   size_t len)
{
	enum ur_frame_error error;
	size_t body = 0, ip_bytes;

	*f = (struct ur_frame){0};
	if (!len)
		return UR_FRAME_SHORT;
	if (!v1 && pkt[0] >> 4 == 4) {
		ip_bytes = UR_IPV4_BYTES;
		error = parse_ipv4(&f->addr, pkt, len, &body);
	} else if (pkt[0] >> 4 == 6) {
		ip_bytes = UR_IPV6_BYTES;
		error = parse_ipv6(&f->addr, pkt, len, v1, &body);
	} else {
		return UR_FRAME_VERSION;
	}
	if (!error && !v1)
		error = parse_udp(&f->addr, pkt + ip_bytes, &body);
	if (error)
		return error;
	if (body < UR_BTH_BYTES + UR_ICRC_BYTES)
		return UR_FRAME_LENGTH;

	f->bth = pkt + ur_frame_header_bytes(f->addr.kind);
	f->bth_bytes = body - UR_ICRC_BYTES;
	f->icrc = ur_get_le32(f->bth + f->bth_bytes);
	f->icrc_right = ur_frame_icrc(f->addr.kind, pkt, f->bth_bytes);
	return f->icrc == f->icrc_right ? UR_FRAME_OK : UR_FRAME_ICRC;
}

const char *ur_frame_error_name(enum ur_frame_error error)
{
	static const char *const names[] = {
		[UR_FRAME_OK] = "ok",
		[UR_FRAME_SHORT] = "short",
		[UR_FRAME_VERSION] = "version",
		[UR_FRAME_OPTIONS] = "options",
		[UR_FRAME_CHECKSUM] = "checksum",
		[UR_FRAME_FRAGMENT] = "fragment",
		[UR_FRAME_PROTO] = "proto",
		[UR_FRAME_PORT] = "port",
		[UR_FRAME_LENGTH] = "length",
		[UR_FRAME_ICRC] = "icrc",
	};

	return error < UR_ARRAY_SIZE(names) ? names[error] : "?";
}
