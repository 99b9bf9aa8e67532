// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * QP1: management datagrams in and out. IBTA volume 1, 3.9.1.
 */
#include "transport/internal.h"

#include <errno.h>

#define MAD_CLASS_CM 0x07 /* IBTA volume 1, 13.4.4 */

int ur_gsi_send(struct ur_port *port, struct ur_av *av, u32 dqpn, const u8 *mad)
{
	struct ur_gsi_send *s;

	if (port->gsi_tail - port->gsi_head == UR_GSI_SLOTS)
		return -ENOMEM;
	s = &port->gsi[port->gsi_tail++ % UR_GSI_SLOTS];
	s->av = ur_av_get(av);
	s->dqpn = dqpn;
	memcpy(s->mad, mad, UR_MAD_BYTES);
	return 0;
}

bool ur_gsi_tx(struct ur_port *port, struct ur_tx *tx)
{
	while (port->gsi_head != port->gsi_tail) {
		struct ur_gsi_send *s =
			&port->gsi[port->gsi_head % UR_GSI_SLOTS];
		struct ur_pkt pkt = {
			.opcode = UR_OP_UD_SEND_ONLY,
			.pkey = UR_PKEY_DEFAULT,
			.dqpn = s->dqpn,
			.psn = port->gsi_psn,
			.qkey = UR_QKEY_GSI,
			.sqpn = UR_QPN_GSI,
			.payload_bytes = UR_MAD_BYTES,
		};
		u32 len = UR_BTH_BYTES + UR_DETH_BYTES + UR_MAD_BYTES;
		u8 *p = ur_tx_room(tx, len);

		if (!p || port->av_put_count == UR_AV_PUT_SLOTS)
			return true;
		memcpy(p + ur_pkt_build(&pkt, p), s->mad, UR_MAD_BYTES);
		ur_tx_commit(port, tx, s->av, len);
		port->gsi_psn = ur_psn_add(port->gsi_psn, 1);
		ur_port_av_put(port, s->av);
		port->gsi_head++;
	}
	return false;
}

/* CM messages come from and go to QP1: every implementation sends from there, and replies to there.
 * Other queue pairs of a host belong to programs, which do not speak for the host. Other classes
 * are answered to their source. */
static bool source_fits(const struct ur_pkt *pkt)
{
	return pkt->sqpn == UR_QPN_GSI || pkt->payload[1] != MAD_CLASS_CM;
}

void ur_gsi_rx(struct ur_port *port, const struct ur_rx_meta *meta,
	       const struct ur_pkt *pkt)
{
	if ((pkt->opcode & UR_SVC_MASK) != UR_SVC_UD) {
		ur_count(port, UR_CNT_bad_opcode);
		return;
	}
	if (pkt->qkey != UR_QKEY_GSI) {
		ur_count(port, UR_CNT_bad_qkey);
		return;
	}
	/* Where users are kept apart, only the host knows who sends. */
	if (meta->realm || !ur_rx_slot_fits(meta, pkt->sqpn)) {
		ur_count(port, UR_CNT_bad_gid);
		return;
	}
	if (pkt->payload_bytes != UR_MAD_BYTES) {
		ur_count(port, UR_CNT_bad_length);
		return;
	}
	if (!source_fits(pkt)) {
		ur_count(port, UR_CNT_bad_qpn);
		return;
	}
	if (port->ops->gsi_rx)
		port->ops->gsi_rx(port->ctx, meta, pkt->sqpn, pkt->payload,
				  pkt->payload_bytes);
}
