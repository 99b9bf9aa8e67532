/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Outgoing datagrams: which packets share one, and its control data. */
#ifndef UR_ENGINE_WIRE_UDP_MESSAGE_H
#define UR_ENGINE_WIRE_UDP_MESSAGE_H

#include <netinet/udp.h>
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* Adds a piece of control data to a message. */
static inline void ur_udp_add_cmsg(struct msghdr *msg, int level, int type,
				   const void *data, size_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)((u8 *)msg->msg_control +
					       msg->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	msg->msg_controllen += CMSG_SPACE(len);
}

/* Adds the source address to a message, since the socket is bound to none. */
static inline void ur_udp_add_source(const struct ur_wire_udp *w,
				     struct msghdr *msg, const u8 sgid[16])
{
	struct in_pktinfo v4 = {0};
	struct in6_pktinfo v6 = {0};
	union ur_sockaddr sa;

	if (ur_gid_is_v4(sgid)) {
		memcpy(&v4.ipi_spec_dst, sgid + 12, 4);
		ur_udp_add_cmsg(msg, IPPROTO_IP, IP_PKTINFO, &v4, sizeof(v4));
		return;
	}
	ur_udp_sockaddr(w, &sa, sgid, 0);
	v6.ipi6_addr = sa.v6.sin6_addr;
	v6.ipi6_ifindex = sa.v6.sin6_scope_id;
	ur_udp_add_cmsg(msg, IPPROTO_IPV6, IPV6_PKTINFO, &v6, sizeof(v6));
}

/* Adds the hop limit, if the kernel's default differs. */
static inline void ur_udp_add_ttl(struct msghdr *msg, bool v4, int ttl,
				  bool mcast)
{
	if (ttl != 64 || mcast)
		ur_udp_add_cmsg(msg, v4 ? IPPROTO_IP : IPPROTO_IPV6,
				v4 ? IP_TTL : IPV6_HOPLIMIT, &ttl, sizeof(ttl));
}

/* Returns whether packets of both address vectors leave with the same headers.
 * May return false if one has no socket yet, or a closed one. */
static inline bool ur_udp_same_path(const struct ur_av *a,
				    const struct ur_av *b)
{
	return a == b ||
	       (a->wire == b->wire && a->hop_limit == b->hop_limit &&
		a->mcast == b->mcast && a->flow_label == b->flow_label &&
		a->traffic_class == b->traffic_class &&
		!memcmp(a->dgid, b->dgid, 16) && !memcmp(a->sgid, b->sgid, 16));
}

/* Returns whether two packets are for the same engine of the peer. A datagram arrives at one socket, so
 * all its packets must be. */
static inline bool ur_udp_same_slot(const struct ur_tx *tx, u32 a, u32 b)
{
	return !(
		(tx->buf[tx->desc[a].off + 5] ^ tx->buf[tx->desc[b].off + 5]) >>
		(8 - UR_PLACE_BITS));
}

/* Returns how many packets from first on can form one datagram, of any queue pairs. gaps: their bytes
 * need not be back to back. */
static inline u32 ur_udp_run_length(const struct ur_tx *tx, u32 first, u32 end,
				    bool gaps)
{
	const struct ur_tx_desc *d = &tx->desc[first];
	u32 size = d->len + UR_ICRC_BYTES, at = d->off + size, i;

	for (i = first + 1; i < end && i - first < UR_UDP_SEGS; i++) {
		const struct ur_tx_desc *n = &tx->desc[i];
		u32 bytes = n->len + UR_ICRC_BYTES;

		if (!ur_udp_same_path(n->av, d->av) ||
		    (n->off != at && !gaps) || bytes > size ||
		    at + bytes - d->off > UR_UDP_BURST || n->split ||
		    !ur_udp_same_slot(tx, first, i))
			break;
		at += bytes;
		if (bytes < size) {
			i++;
			break;
		}
	}
	return i - first;
}

#endif
