// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The door of QP1: any bytes from BTH to pad, from any sender that the host knows or not.
 *
 * Input: one byte of mode, one of ToS, two of the sender's slot, then the packet. Mode bits 0 to 2: RoCEv1,
 * a realm, a slot. Bit 3: the header of a datagram for QP1 first, so that mutations reach what lies behind
 * those checks.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/gsi/gsi_packet.h"
#include "tests/check.h"
#include "transport/packet.h"

#define MODE_V1	   0x01
#define MODE_REALM 0x02
#define MODE_SLOT  0x04
#define MODE_FIX   0x08
#define FRONT	   4
#define MAX_BYTES  16384
#define CLASS_CM   7

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void fix(u8 *bth, size_t len)
{
	if (len < UR_BTH_BYTES + UR_DETH_BYTES)
		return;
	bth[0] = UR_OP_UD_SEND_ONLY;
	bth[1] &= (u8)~UR_BTH_TVER_MASK;
	ur_put_be16(bth + 2, UR_PKEY_DEFAULT);
	ur_put_be32(bth + 4, UR_QPN_GSI);
	ur_put_be32(bth + 12, UR_QKEY_GSI);
}

static void check_taken(const struct ur_gsi_packet *packet,
			const struct ur_rx_meta *meta, const u8 *bth, u32 len)
{
	u8 built[UR_GSI_PACKET_BYTES];
	struct ur_gsi_packet again;
	struct ur_rx_meta host = {0};
	enum ur_counter fault;

	CHECK(packet->mad >= bth + UR_BTH_BYTES + UR_DETH_BYTES);
	CHECK(packet->mad + UR_MAD_BYTES <= bth + len);
	CHECK(!meta->realm && ur_rx_slot_fits(meta, packet->src_qpn));
	CHECK_EQ(ur_get_be32(bth + 12), UR_QKEY_GSI);
	CHECK(packet->mad[1] != CLASS_CM || packet->src_qpn == UR_QPN_GSI);
	ur_gsi_packet_build(built, UR_QPN_GSI, ur_bth_psn(bth), packet->mad);
	CHECK(ur_gsi_packet_parse(&again, &host, built, sizeof(built), &fault));
	CHECK(!memcmp(again.mad, packet->mad, UR_MAD_BYTES));
	CHECK_EQ(again.src_qpn, UR_QPN_GSI);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ur_rx_meta meta = {0};
	struct ur_gsi_packet packet;
	enum ur_counter fault = UR_CNT_COUNT;
	u32 len;
	u8 *bth;

	if (size <= FRONT || size > MAX_BYTES)
		return 0;
	meta.v1 = data[0] & MODE_V1;
	meta.realm = data[0] & MODE_REALM;
	meta.tos = data[1];
	if (data[0] & MODE_SLOT) {
		meta.slot_bits = data[2] & 8 ? 13 : 5;
		meta.slot = (u16)(ur_get_be16(data + 2) &
				  ((1u << meta.slot_bits) - 1));
	}
	/* Exactly as many bytes: what reads more is found. */
	len = (u32)size - FRONT;
	bth = malloc(len);
	CHECK(bth);
	memcpy(bth, data + FRONT, len);
	if (data[0] & MODE_FIX)
		fix(bth, len);
	if (ur_gsi_packet_parse(&packet, &meta, bth, len, &fault))
		check_taken(&packet, &meta, bth, len);
	else
		CHECK(fault < UR_CNT_COUNT && !packet.mad);
	free(bth);
	return 0;
}
