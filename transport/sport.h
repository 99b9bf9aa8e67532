/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The UDP source port of RoCEv2: entropy for ECMP, always in
 * 0xC000..0xFFFF, the same for all packets of a connection.
 */
#ifndef UR_TRANSPORT_SPORT_H
#define UR_TRANSPORT_SPORT_H

#include "util/bytes.h"

/*
 * Returns the port for a 20-bit flow label, or, where that is zero, for both QP
 * numbers. Both directions of a connection get the same port.
 */
u16 ur_udp_sport(u32 flow_label, u32 lqpn, u32 rqpn);

#endif
