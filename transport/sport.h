/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The UDP source port of RoCEv2: entropy for ECMP, always in
 * 0xC000..0xFFFF, the same for all packets of a connection.
 */
#ifndef UR_TRANSPORT_SPORT_H
#define UR_TRANSPORT_SPORT_H

#include "util/bytes.h"

/*
 * Port from a 20-bit flow label, or, where it is zero, from both QP numbers
 * (symmetric, so both directions of a connection use the same port).
 */
u16 ur_udp_sport(u32 flow_label, u32 lqpn, u32 rqpn);

#endif
