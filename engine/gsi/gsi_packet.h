/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The packets of QP1 as bytes, from the BTH to the pad: a management datagram in a UD SEND_ONLY. The wire
 * adds the headers before them and the ICRC, and has verified it. Calls nothing but transport/packet.h.
 */
#ifndef UR_ENGINE_GSI_GSI_PACKET_H
#define UR_ENGINE_GSI_GSI_PACKET_H

#include "transport/counters.h"
#include "transport/host.h"
#include "transport/wire_format.h"

#define UR_GSI_PACKET_BYTES (UR_BTH_BYTES + UR_DETH_BYTES + UR_MAD_BYTES)

/* Writes a packet of UR_GSI_PACKET_BYTES from QP1 at buf. mad: UR_MAD_BYTES. */
void ur_gsi_packet_build(u8 *buf, u32 dqpn, u32 psn, const u8 *mad);

/* A received packet. */
struct ur_gsi_packet {
	bool marked; /* a datagram that a switch has marked (ECN) */
	u32 src_qpn;
	const u8 *mad; /* UR_MAD_BYTES in the packet */
};

/*
 * Parses a packet of len bytes to QP1 into *packet, and checks that it is a datagram with QP1's Q_Key, and
 * that its sender may send it. Any bytes may come. Returns true; or false with its counter in *fault, and
 * only marked set in *packet.
 */
bool ur_gsi_packet_parse(struct ur_gsi_packet *packet,
			 const struct ur_rx_meta *meta, const u8 *bth, u32 len,
			 enum ur_counter *fault);

/* Returns the counter of a packet that nobody receives, as the transport counts it; UR_CNT_COUNT: none,
 * since it is for a group. *marked: a datagram with a congestion mark. */
enum ur_counter ur_gsi_stray(const struct ur_rx_meta *meta, const u8 *bth,
			     u32 len, bool *marked);

#endif
