// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Parses received frames of the RoCEv1 wire, and sends frames. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/faults/faults.h"
#include "engine/core/engine_impl.h"
#include "engine/wire/v1/wire_v1.h"
#include "transport/frame.h"

/* Most recvmmsg calls for a readable socket in one turn. */
#define ROUNDS 4

/* ---- receive ---- */

/* Returns whether the frame came the way that its addresses say: from this device itself by the
 * loopback interface, from others by the netdev. Fills in *meta which engine sent it. */
static bool is_genuine(const struct ur_wire_v1 *w, bool lo,
		       const struct sockaddr_ll *from, const u8 sgid[16],
		       struct ur_rx_meta *meta)
{
	const struct ur_engine *e = w->wire.engine;
	u32 slot;

	/* Frames of our own never come back from the wire: this one is forged. */
	if (ur_v1_is_mine(w, sgid) != lo)
		return false;
	if (!lo)
		return true;
	slot = ur_get_be16(from->sll_addr + 4);
	/* A frame that this engine sent to a group: its members here have it already. */
	if (from->sll_halen != 6 || slot >= UR_SLOTS ||
	    slot == e->config.grant.slot)
		return false;
	ur_wire_udp_sender(ur_wire_of(e, false), slot, meta);
	return true;
}

static void take_frame(const struct ur_wire_v1 *w, bool lo,
		       const struct sockaddr_ll *from, const u8 *data, u32 len)
{
	struct ur_engine *e = w->wire.engine;
	struct ur_rx_meta meta = {.v1 = true};
	enum ur_frame_error error;
	struct ur_frame f;

	if (from->sll_pkttype != PACKET_HOST &&
	    from->sll_pkttype != PACKET_MULTICAST)
		return;
	error = ur_frame_parse(&f, true, data, len);
	if (error) {
		ur_engine_tally(e,
				error == UR_FRAME_ICRC
					? UR_CNT_rx_icrc_encapsulated
					: UR_CNT_bad_length,
				1);
		return;
	}
	if (f.bth_bytes % 4) {
		ur_engine_tally(e, UR_CNT_bad_length, 1);
		return;
	}
	if (!is_genuine(w, lo, from, f.addr.sgid, &meta) ||
	    (!ur_gid_is_mcast(f.addr.dgid) && !ur_v1_is_mine(w, f.addr.dgid))) {
		/* By the loopback interface go other devices' frames, too. */
		if (!lo)
			ur_engine_tally(e, UR_CNT_bad_gid, 1);
		return;
	}
	memcpy(meta.saddr, f.addr.sgid, 16);
	memcpy(meta.daddr, f.addr.dgid, 16);
	meta.v4 = ur_gid_is_v4(meta.daddr);
	meta.tos = f.addr.tos;
	meta.ttl = f.addr.ttl;
	meta.flow_label = f.addr.flow_label;
	ur_engine_rx(e, &meta, f.bth, (u32)f.bth_bytes);
}

/* Receives from one of the sockets. */
static bool receive(struct ur_wire_v1 *w, u32 which)
{
	bool any = false;

	for (int round = 0; w->fd[which] >= 0 && round < ROUNDS; round++) {
		int n;

		for (u32 i = 0; i < UR_V1_RX_MSGS; i++)
			w->rx_msg[i].msg_hdr.msg_namelen =
				sizeof(w->rx_name[i]);
		n = recvmmsg(w->fd[which], w->rx_msg, UR_V1_RX_MSGS,
			     MSG_DONTWAIT, NULL);
		if (n <= 0)
			break;
		any = true;
		w->last = which;
		w->wire.engine->rx_any = true;
		for (int i = 0; i < n; i++)
			if (!(w->rx_msg[i].msg_hdr.msg_flags & MSG_TRUNC))
				take_frame(w, which == UR_V1_LO_RX,
					   &w->rx_name[i],
					   w->rx_iov[i].iov_base,
					   w->rx_msg[i].msg_len);
		if ((u32)n < UR_V1_RX_MSGS)
			break;
	}
	return any;
}

void ur_v1_readable(struct ur_watch *watch, u32 events)
{
	receive(ur_container_of(watch, struct ur_wire_v1, watch), UR_V1_RX);
}

void ur_v1_lo_readable(struct ur_watch *watch, u32 events)
{
	receive(ur_container_of(watch, struct ur_wire_v1, lo_watch),
		UR_V1_LO_RX);
}

bool ur_v1_poll(struct ur_wire *wire)
{
	struct ur_wire_v1 *w = ur_container_of(wire, struct ur_wire_v1, wire);

	return receive(w, w->last);
}

/* ---- send ---- */

void ur_v1_addr(const struct ur_wire_v1 *w, struct sockaddr_ll *to,
		const u8 mac[6])
{
	*to = (struct sockaddr_ll){
		.sll_family = AF_PACKET,
		.sll_protocol = htons(UR_ROCE_V1_ETHERTYPE),
		.sll_ifindex = (int)w->wire.engine->config.ifindex,
		.sll_halen = 6,
	};
	memcpy(to->sll_addr, mac, 6);
}

/* Writes the GRH, and the ICRC behind packet i. */
static void finish(const struct ur_wire_v1 *w, const struct ur_tx *tx, u32 i,
		   u8 grh[UR_GRH_BYTES])
{
	const struct ur_av *av = tx->desc[i].av;
	u8 *bth = tx->buf + tx->desc[i].off;
	u32 len = tx->desc[i].len;
	struct ur_frame_addr addr = {
		.kind = UR_FRAME_V1,
		.tos = av->traffic_class,
		.ttl = av->hop_limit,
		.flow_label = av->flow_label,
	};
	u32 crc;

	memcpy(addr.sgid, av->sgid, 16);
	memcpy(addr.dgid, av->dgid, 16);
	ur_frame_headers(grh, &addr, len);
	crc = ur_icrc_seed_v1(grh, bth);
	crc = ur_icrc_update(crc, bth + UR_BTH_BYTES, len - UR_BTH_BYTES);
	if (ur_faults_spoils(w->wire.engine, i))
		crc = ~crc;
	ur_put_le32(bth + len, crc);
}

static void fill(struct ur_wire_v1 *w, u32 m, const struct ur_tx *tx, u32 i,
		 const u8 mac[6])
{
	const struct ur_tx_desc *d = &tx->desc[i];
	struct msghdr *msg = &w->tx_msg[m].msg_hdr;
	u8 *bth = tx->buf + d->off;

	finish(w, tx, i, w->tx_grh[m]);
	w->tx_iov[m][1].iov_base = w->tx_grh[m];
	w->tx_iov[m][1].iov_len = UR_GRH_BYTES;
	w->tx_iov[m][2].iov_base = bth;
	w->tx_iov[m][2].iov_len = d->len + UR_ICRC_BYTES;
	ur_v1_addr(w, &w->tx_name[m], mac);
	msg->msg_name = &w->tx_name[m];
	msg->msg_namelen = sizeof(w->tx_name[m]);
	msg->msg_iov = w->tx_iov[m] + 1;
	msg->msg_iovlen = 2;
}

/* Makes message m go by the loopback interface. */
static void turn_round(struct ur_wire_v1 *w, u32 m, bool mcast)
{
	struct msghdr *msg = &w->tx_msg[m].msg_hdr;

	w->tx_name[m].sll_ifindex = 1;
	w->tx_iov[m][0].iov_base = w->tx_eth[mcast];
	w->tx_iov[m][0].iov_len = UR_V1_ETH_BYTES;
	msg->msg_iov = w->tx_iov[m];
	msg->msg_iovlen = 3;
}

/* Gives other engines of this host what went to groups. */
static void copy_to_groups(struct ur_wire_v1 *w, const struct ur_tx *tx,
			   u32 first, u32 n)
{
	for (u32 m = 0; m < n; m++) {
		if (!tx->desc[first + m].av->mcast)
			continue;
		turn_round(w, m, true);
		sendmsg(w->fd[UR_V1_LO_TX], &w->tx_msg[m].msg_hdr, 0);
	}
}

static bool keep_pending(struct ur_wire_v1 *w, const struct ur_tx *tx, u32 i)
{
	const struct ur_tx_desc *d = &tx->desc[i];
	u8 grh[UR_GRH_BYTES];

	finish(w, tx, i, grh);
	return ur_v1_pending(w, d->av, grh, tx->buf + d->off,
			     d->len + UR_ICRC_BYTES);
}

static void lost(struct ur_wire_v1 *w, int error)
{
	ur_engine_tally(w->wire.engine, UR_CNT_send_err, 1);
	if (error == EMSGSIZE && !w->logged_msgsize) {
		w->logged_msgsize = true;
		fprintf(stderr,
			"uroced: %s: the netdev does not carry RoCEv1 packets "
			"of the MTU in use; lower the QPs' path MTU\n",
			w->wire.engine->netdev);
	}
}

/* Sends messages [0, n). Returns how many were handled; fewer than n: there is no room. */
static u32 put_out(struct ur_wire_v1 *w, int fd, u32 n)
{
	u32 done = 0;
	int refused;

	for (;;) {
		done += ur_wire_put(fd, w->tx_msg + done, n - done, &refused);
		if (!refused)
			return done;
		lost(w, refused); /* no netdev, or too big */
		done++;
	}
}

/* Where a packet goes. */
struct path {
	int fd; /* -1: nowhere yet */
	bool lo;
	const u8 *mac; /* NULL: not known yet */
};

static struct path find_path(struct ur_wire_v1 *w, const struct ur_av *av)
{
	static const u8 none[6];
	struct ur_engine *e = w->wire.engine;
	struct path path = {.lo = !av->mcast && ur_v1_is_mine(w, av->dgid)};

	if (path.lo) {
		path.fd = w->fd[UR_V1_LO_TX];
		path.mac = none;
		return path;
	}
	path.fd = ur_v1_out(w, av->sl);
	if (path.fd >= 0)
		path.mac = ur_neigh_mac(w->neigh, e->config.ifindex, av->sgid,
					av->dgid, e->now);
	return path;
}

/* Fills messages with packets from *i on that go out by one socket with one priority. Returns their
 * number. */
static u32 gather(struct ur_wire_v1 *w, const struct ur_tx *tx, u32 *i, u32 end,
		  struct path *first)
{
	u8 sl = tx->desc[*i].av->sl;
	u32 n = 0;

	for (; *i < end && n < UR_V1_TX_MSGS && tx->desc[*i].av->sl == sl;
	     (*i)++) {
		struct path path = find_path(w, tx->desc[*i].av);

		if (n && (!path.mac || path.lo != first->lo))
			break;
		if (!path.mac) {
			if (path.fd < 0 || !keep_pending(w, tx, *i))
				lost(w, EHOSTUNREACH);
			continue;
		}
		*first = path;
		fill(w, n, tx, *i, path.mac);
		if (path.lo)
			turn_round(w, n, false);
		n++;
	}
	return n;
}

u32 ur_v1_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first, u32 end,
	       int *wait_fd)
{
	struct ur_wire_v1 *w = ur_container_of(wire, struct ur_wire_v1, wire);
	u32 i = first;

	ur_neigh_update(w->neigh);
	ur_v1_pending_retry(w);
	while (i < end) {
		struct path path;
		u32 n = gather(w, tx, &i, end, &path), done;

		if (!n)
			continue;
		done = put_out(w, path.fd, n);
		if (!path.lo)
			copy_to_groups(w, tx, i - n, done);
		if (done < n) {
			*wait_fd = path.fd;
			return i - n + done - first;
		}
	}
	return end - first;
}

static void write_eth(const struct ur_wire_v1 *w, u8 *eth, bool mcast)
{
	memset(eth, 0, UR_V1_ETH_BYTES);
	eth[0] = mcast ? 0x33 : 0;
	eth[1] = eth[0];
	eth[6] = 0x02; /* locally administered */
	ur_put_be16(eth + 10, (u16)w->wire.engine->config.grant.slot);
	ur_put_be16(eth + 12, UR_ROCE_V1_ETHERTYPE);
}

int ur_v1_io_init(struct ur_wire_v1 *w)
{
	if (posix_memalign((void **)&w->rx_buf, 4096,
			   (size_t)UR_V1_RX_MSGS * UR_V1_RX_STRIDE)) {
		w->rx_buf = NULL;
		return -ENOMEM;
	}
	write_eth(w, w->tx_eth[false], false);
	write_eth(w, w->tx_eth[true], true);
	for (u32 i = 0; i < UR_V1_RX_MSGS; i++) {
		struct msghdr *m = &w->rx_msg[i].msg_hdr;

		w->rx_iov[i].iov_base = w->rx_buf + i * UR_V1_RX_STRIDE;
		w->rx_iov[i].iov_len = UR_V1_RX_STRIDE;
		m->msg_iov = &w->rx_iov[i];
		m->msg_iovlen = 1;
		m->msg_name = &w->rx_name[i];
	}
	return 0;
}
