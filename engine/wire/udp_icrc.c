// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ICRC of the IP and UDP headers, which a UDP socket neither shows nor lets us
 * write. Fields that routers change count as ones (IBTA annex A17). */
#include "engine/wire/wire_udp.h"

void ur_udp_icrc_init(struct ur_wire_udp *w)
{
	u8 lrh[8], head[UR_IPV4_BYTES + UR_UDP_BYTES] = {0};
	u32 zero;

	memset(lrh, 0xff, sizeof(lrh));
	w->lrh_crc = ur_icrc_update(0, lrh, sizeof(lrh));
	zero = ur_icrc_update(0, head, sizeof(head));
	for (u32 id = 0; id < UR_UDP_SEGS; id++) {
		ur_put_be16(head + 4, (u16)id);
		w->id_crc[id] = zero ^ ur_icrc_update(0, head, sizeof(head));
	}
}

static u8 *put_v4(u8 *ip, const struct ur_udp_flow *flow, u32 udp_bytes, u16 id)
{
	ip[0] = 0x45;
	ip[1] = 0xff;
	ur_put_be16(ip + 2, (u16)(UR_IPV4_BYTES + udp_bytes));
	ur_put_be16(ip + 4, id);
	ur_put_be16(ip + 6, UR_IPV4_DF);
	ip[8] = 0xff;
	ip[9] = IPPROTO_UDP;
	memset(ip + 10, 0xff, 2);
	memcpy(ip + 12, flow->sgid + 12, 4);
	memcpy(ip + 16, flow->dgid + 12, 4);
	return ip + UR_IPV4_BYTES;
}

static u8 *put_v6(u8 *ip, const struct ur_udp_flow *flow, u32 udp_bytes)
{
	ip[0] = 0x6f;
	memset(ip + 1, 0xff, 3);
	ur_put_be16(ip + 4, (u16)udp_bytes);
	ip[6] = IPPROTO_UDP;
	ip[7] = 0xff;
	memcpy(ip + 8, flow->sgid, 16);
	memcpy(ip + 24, flow->dgid, 16);
	return ip + UR_IPV6_BYTES;
}

u32 ur_udp_icrc_headers(const struct ur_wire_udp *w,
			const struct ur_udp_flow *flow, u32 len, u16 id)
{
	u32 udp_bytes = UR_UDP_BYTES + len + UR_ICRC_BYTES;
	u8 h[UR_IPV6_BYTES + UR_UDP_BYTES], *udp;

	udp = flow->v4 ? put_v4(h, flow, udp_bytes, id)
		       : put_v6(h, flow, udp_bytes);
	ur_put_be16(udp, flow->sport);
	ur_put_be16(udp + 2, UR_ROCE_V2_UDP_PORT);
	ur_put_be16(udp + 4, (u16)udp_bytes);
	memset(udp + 6, 0xff, 2);
	return ur_icrc_update(w->lrh_crc, h, (size_t)(udp + UR_UDP_BYTES - h));
}
