// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Linux' mapping, so that a flow label means the same path as in other RoCE
 * implementations.
 */
#include "transport/sport.h"
#include "transport/wire_format.h"

#define FLOW_LABEL_MASK 0xfffffu

u16 ur_udp_sport(u32 flow_label, u32 lqpn, u32 rqpn)
{
	u32 label = flow_label & FLOW_LABEL_MASK;

	if (!label) {
		u64 v = (u64)(lqpn & UR_QPN_MASK) * (rqpn & UR_QPN_MASK);

		v ^= v >> 20;
		v ^= v >> 40;
		label = v & FLOW_LABEL_MASK;
	}
	return (u16)(UR_UDP_SPORT_MIN | ((label & 0x3fff) ^ (label >> 14)));
}
