// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Management datagrams of QP1 as packets. IBTA volume 1, 3.9.1 and 9.6.1. */
#include "engine/gsi/gsi_packet.h"
#include "transport/packet.h"

#define MAD_CLASS_CM 0x07 /* IBTA volume 1, 13.4.4 */

void ur_gsi_packet_build(u8 *buf, u32 dqpn, u32 psn, const u8 *mad)
{
	const struct ur_pkt pkt = {
		.opcode = UR_OP_UD_SEND_ONLY,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = dqpn,
		.psn = psn,
		.qkey = UR_QKEY_GSI,
		.sqpn = UR_QPN_GSI,
		.payload_bytes = UR_MAD_BYTES,
	};

	memcpy(buf + ur_pkt_build(&pkt, buf), mad, UR_MAD_BYTES);
}

/* CM messages come from and go to QP1: every implementation sends from there, and replies to there.
 * Other queue pairs of a host belong to programs, which do not speak for the host. Other classes
 * are answered to their source. */
static bool source_fits(const struct ur_pkt *pkt)
{
	return pkt->sqpn == UR_QPN_GSI || pkt->payload[1] != MAD_CLASS_CM;
}

bool ur_gsi_packet_parse(struct ur_gsi_packet *packet,
			 const struct ur_rx_meta *meta, const u8 *bth, u32 len,
			 enum ur_counter *fault)
{
	struct ur_pkt pkt;
	enum ur_pkt_error error = ur_pkt_parse(&pkt, bth, len);

	*packet = (struct ur_gsi_packet){0};
	if (error) {
		*fault = ur_pkt_error_counter(error);
		return false;
	}
	packet->marked = (pkt.opcode & UR_SVC_MASK) == UR_SVC_UD &&
			 ur_pkey_fits(pkt.pkey) && ur_rx_is_marked(meta);
	if (!ur_pkey_fits(pkt.pkey))
		*fault = UR_CNT_bad_pkey;
	else if ((pkt.opcode & UR_SVC_MASK) != UR_SVC_UD)
		*fault = UR_CNT_bad_opcode;
	else if (pkt.qkey != UR_QKEY_GSI)
		*fault = UR_CNT_bad_qkey;
	/* With isolated users, a packet of a program or engine process of this host (it has a
	 * realm) is no datagram of the connection manager. */
	else if (meta->realm || !ur_rx_slot_fits(meta, pkt.sqpn))
		*fault = UR_CNT_bad_gid;
	else if (pkt.payload_bytes != UR_MAD_BYTES)
		*fault = UR_CNT_bad_length;
	else if (!source_fits(&pkt))
		*fault = UR_CNT_bad_qpn;
	else {
		packet->src_qpn = pkt.sqpn;
		packet->mad = pkt.payload;
		return true;
	}
	return false;
}

enum ur_counter ur_gsi_stray(const struct ur_rx_meta *meta, const u8 *bth,
			     u32 len, bool *marked)
{
	struct ur_pkt pkt;
	enum ur_pkt_error error = ur_pkt_parse(&pkt, bth, len);
	bool datagram;

	*marked = false;
	if (error)
		return ur_pkt_error_counter(error);
	if (!ur_pkey_fits(pkt.pkey))
		return UR_CNT_bad_pkey;
	datagram = (pkt.opcode & UR_SVC_MASK) == UR_SVC_UD;
	*marked = datagram && ur_rx_is_marked(meta);
	if (pkt.dqpn == UR_QPN_MULTICAST)
		return datagram ? UR_CNT_COUNT : UR_CNT_bad_opcode;
	return pkt.op->flags & UR_OPF_CNP ? UR_CNT_rp_cnp_ignored
					  : UR_CNT_bad_qpn;
}
