// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "engine/local/udp_outbox_fits.h"

#include "engine/engine_grant.h"
#include "engine/core/engine_impl.h"
#include "engine/local/udp_outbox.h"
#include "engine/wire/wire.h"
#include "transport/frame.h"
#include "util/assert.h"

/* Bytes of the longest and the shortest packet, including the ICRC. */
#define LONGEST	 (UR_HEADERS_MAX_BYTES + UR_MTU_MAX_BYTES + UR_ICRC_BYTES)
#define SHORTEST (UR_BTH_BYTES + UR_ICRC_BYTES)

_Static_assert(UR_PEER_PACKETS <= UR_UDP_SEGS,
	       "a message of the ring is one datagram at most");

static bool lengths_fit(const struct ur_peer_message *m)
{
	u32 last = m->len % m->seg ? m->len % m->seg : m->seg;

	return !m->split && m->seg >= SHORTEST && m->seg <= LONGEST &&
	       !(m->seg % 4) && m->len <= UR_UDP_BURST && last >= SHORTEST &&
	       !(last % 4);
}

/* Returns false for broadcast, and for destinations on the device's host itself: loopback addresses, and 0.0.0.0 and ::, which
 * Linux treats as the host. */
static bool may_go_to(const u8 gid[16])
{
	static const u8 host[2][16] = {{0}, {[15] = 1}};

	if (ur_gid_is_v4(gid))
		return gid[12] && gid[12] != 127 &&
		       ur_get_be32(gid + 12) != UINT32_MAX;
	return memcmp(gid, host[0], 16) && memcmp(gid, host[1], 16);
}

static bool way_fits(const struct ur_peer_message *m)
{
	return ur_gid_is_v4(m->saddr) == ur_gid_is_v4(m->daddr) &&
	       !ur_gid_is_mcast(m->saddr) && may_go_to(m->daddr) && m->ttl &&
	       !(m->flow_label >> 20) &&
	       !(m->first & ~(UR_OUTBOX_SL | UR_OUTBOX_SPOILT));
}

/* The DETH of a UD packet names its sender. Q_Keys with the high bit need a privilege: they allow to send to QP1. */
static bool datagram_fits(const u8 *bth, u32 len, u32 dqpn, bool mcast,
			  u32 slot)
{
	const u8 *deth = bth + UR_BTH_BYTES;

	return (bth[0] == (UR_SVC_UD | UR_OPC_SEND_ONLY) ||
		bth[0] == (UR_SVC_UD | UR_OPC_SEND_ONLY_IMM)) &&
	       len >= SHORTEST + UR_DETH_BYTES &&
	       mcast == (dqpn == UR_QPN_MULTICAST) &&
	       !(ur_get_be32(deth) & UR_QKEY_PRIVILEGED) &&
	       ur_slot_of(ur_get_be24(deth + 5)) == slot;
}

static bool packet_fits(const u8 *bth, u32 len, bool mcast, u32 slot)
{
	u32 dqpn = ur_get_be24(bth + 5), service = bth[0] & UR_SVC_MASK;

	if (dqpn == UR_QPN_SMI || dqpn == UR_QPN_GSI)
		return false;
	if (service == UR_SVC_UD)
		return datagram_fits(bth, len, dqpn, mcast, slot);
	return (service == UR_SVC_RC || service == UR_SVC_UC ||
		service == UR_SVC_XRC || bth[0] == UR_OP_CNP) &&
	       !mcast && dqpn != UR_QPN_MULTICAST;
}

bool ur_udp_outbox_fits(const struct ur_peer_message *m, const u8 *data,
			u32 slot)
{
	bool mcast = ur_gid_is_mcast(m->daddr);

	ur_assert(slot && slot < UR_SLOTS);
	if (!m->len || !m->seg || !lengths_fit(m) || !way_fits(m))
		return false;
	for (u32 at = 0; at < m->len; at += m->seg)
		if (!packet_fits(data + at, ur_min_u32(m->seg, m->len - at),
				 mcast, slot))
			return false;
	return true;
}
