// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packet sockets of raw packet queue pairs. See wire_raw.h. */
#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/raw/flow.h"
#include "engine/raw/raw_sockets.h"
#include "engine/raw/wire_raw.h"

#define RX_MSGS	  16u
#define TX_MSGS	  64u
#define TAG_BYTES 4u
/* A frame that was merged (GRO) has up to 64 KiB; before it there is room for a
 * tag. */
#define RX_STRIDE (80u << 10)
#define RX_BYTES  (RX_STRIDE - TAG_BYTES)
/* Most recvmmsg calls for a readable socket in one turn. */
#define ROUNDS 4

struct ur_wire_raw {
	struct ur_wire wire;
	struct ur_watch watch;
	bool watched;
	int fd[UR_RAW_SOCKETS];	  /* -1: none */
	struct ur_wire_wants has; /* what the receiving socket receives now */
	struct ur_wire_wants want;
	u8 *rx_buf;
	struct mmsghdr rx_msg[RX_MSGS];
	struct iovec rx_iov[RX_MSGS];
	u8 rx_ctl[RX_MSGS][CMSG_SPACE(sizeof(struct tpacket_auxdata))]
		__attribute__((aligned(8)));
	struct mmsghdr tx_msg[TX_MSGS];
	struct iovec tx_iov[TX_MSGS];
};

static struct ur_wire_raw *to_raw(struct ur_wire *wire)
{
	return ur_container_of(wire, struct ur_wire_raw, wire);
}

/* ---- sockets ---- */

static int member(struct ur_wire_raw *w, int type, bool want, bool *has)
{
	struct packet_mreq m = {
		.mr_ifindex = (int)w->wire.engine->config.ifindex,
		.mr_type = (u16)type,
	};
	int what = want ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP;

	if (want == *has)
		return 0;
	if (setsockopt(w->fd[UR_RAW_RX], SOL_PACKET, what, &m, sizeof(m)) < 0)
		return -errno;
	*has = want;
	return 0;
}

/* Drops old frames: they must not match a later rule. */
static void drain(struct ur_wire_raw *w)
{
	u8 byte;

	while (recv(w->fd[UR_RAW_RX], &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0)
		;
}

static int set_any(struct ur_wire_raw *w, bool any)
{
	int err;

	if (any == w->has.any)
		return 0;
	err = ur_raw_receive(w->fd[UR_RAW_RX], w->wire.engine->config.ifindex,
			     any);
	if (err)
		return err;
	w->has.any = any;
	if (!any)
		drain(w);
	return 0;
}

static int raw_listen(struct ur_wire *wire, const struct ur_wire_wants *want)
{
	struct ur_wire_raw *w = to_raw(wire);
	int err;

	w->want = *want;
	err = set_any(w, want->any);
	if (!err)
		err = member(w, PACKET_MR_PROMISC, want->promisc,
			     &w->has.promisc);
	if (!err)
		err = member(w, PACKET_MR_ALLMULTI, want->multicast,
			     &w->has.multicast);
	return err;
}

/* The memberships ended with the netdev. Without a netdev nothing is received; the call
 * is repeated when there is one. */
static void raw_rebind(struct ur_wire *wire)
{
	struct ur_wire_raw *w = to_raw(wire);
	u32 ifindex = wire->engine->config.ifindex;

	if (!ifindex)
		return;
	w->has = (struct ur_wire_wants){.any = !w->want.any};
	ur_raw_move(w->fd[UR_RAW_TX], ifindex);
	raw_listen(wire, &w->want);
}

/* ---- receive ---- */

/* Restores the tag that the kernel has removed. Returns the begin of the frame; *len is
 * its length. */
static u8 *restore_tag(struct msghdr *msg, u8 *frame, u32 *len)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	if (!c || c->cmsg_level != SOL_PACKET ||
	    c->cmsg_type != PACKET_AUXDATA || *len < UR_RAW_MIN_BYTES)
		return frame;
	memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return frame;
	memmove(frame - TAG_BYTES, frame, 12);
	ur_put_be16(frame + 8, aux.tp_status & TP_STATUS_VLAN_TPID_VALID
				       ? aux.tp_vlan_tpid
				       : 0x8100);
	ur_put_be16(frame + 10, aux.tp_vlan_tci);
	*len += TAG_BYTES;
	return frame - TAG_BYTES;
}

static bool receive(struct ur_wire_raw *w)
{
	struct ur_engine *e = w->wire.engine;
	bool any = false;

	for (int round = 0; w->has.any && round < ROUNDS; round++) {
		int n;

		for (u32 i = 0; i < RX_MSGS; i++)
			w->rx_msg[i].msg_hdr.msg_controllen =
				sizeof(w->rx_ctl[i]);
		n = recvmmsg(w->fd[UR_RAW_RX], w->rx_msg, RX_MSGS, MSG_DONTWAIT,
			     NULL);
		if (n <= 0)
			break;
		any = true;
		e->rx_any = true;
		for (int i = 0; i < n; i++) {
			u32 len = w->rx_msg[i].msg_len;
			u8 *frame;

			if (w->rx_msg[i].msg_hdr.msg_flags & MSG_TRUNC)
				continue;
			frame = restore_tag(&w->rx_msg[i].msg_hdr,
					    w->rx_iov[i].iov_base, &len);
			ur_flow_rx(e, 0, frame, len);
		}
		if ((u32)n < RX_MSGS)
			break;
	}
	return any;
}

static void readable(struct ur_watch *watch, u32 events)
{
	struct ur_wire_raw *w =
		ur_container_of(watch, struct ur_wire_raw, watch);

	/* Reads even without rules: the error of a netdev that went down has to be read. */
	if (w->has.any)
		receive(w);
	else
		drain(w);
}

static bool raw_poll(struct ur_wire *wire)
{
	return receive(to_raw(wire));
}

/* ---- send ---- */

/* Sends messages [0, n). Returns how many were handled; fewer than n: there is no room. */
static u32 put_out(struct ur_wire_raw *w, u32 n)
{
	u32 done = 0;
	int refused;

	for (;;) {
		done += ur_wire_put(w->fd[UR_RAW_TX], w->tx_msg + done,
				    n - done, &refused);
		if (!refused)
			return done;
		/* There is no netdev, or the frame is too long for it. */
		ur_engine_tally(w->wire.engine, UR_CNT_send_err, 1);
		done++;
	}
}

static void offer(struct ur_wire_raw *w, const struct ur_tx *tx, u32 first,
		  u32 n)
{
	for (u32 i = first; i < first + n; i++)
		ur_flow_rx(w->wire.engine, (u32)tx->desc[i].av->wire,
			   tx->buf + tx->desc[i].off, tx->desc[i].len);
}

static u32 raw_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		    u32 end, int *wait_fd)
{
	struct ur_wire_raw *w = to_raw(wire);
	u32 i = first;

	while (i < end) {
		u32 n = ur_min_u32(end - i, TX_MSGS), done;

		for (u32 m = 0; m < n; m++) {
			w->tx_iov[m].iov_base = tx->buf + tx->desc[i + m].off;
			w->tx_iov[m].iov_len = tx->desc[i + m].len;
		}
		done = put_out(w, n);
		offer(w, tx, i, done);
		i += done;
		if (done < n) {
			*wait_fd = w->fd[UR_RAW_TX];
			break;
		}
	}
	return i - first;
}

/* ---- life ---- */

static void destroy_wire(struct ur_wire *wire)
{
	struct ur_wire_raw *w = to_raw(wire);

	if (w->watched)
		ur_engine_unwatch(wire->engine, w->fd[UR_RAW_RX]);
	for (u32 i = 0; i < UR_RAW_SOCKETS; i++)
		if (w->fd[i] >= 0)
			close(w->fd[i]);
	ur_flow_table_destroy(wire->engine->flows);
	wire->engine->flows = NULL;
	free(w->rx_buf);
	free(w);
}

static const struct ur_wire_ops raw_ops = {
	.name = "raw",
	.poll = raw_poll,
	.send = raw_send,
	.listen = raw_listen,
	.rebind = raw_rebind,
	.destroy = destroy_wire,
};

static int make_buffers(struct ur_wire_raw *w)
{
	w->rx_buf = malloc((size_t)RX_MSGS * RX_STRIDE);
	if (!w->rx_buf)
		return -ENOMEM;
	for (u32 i = 0; i < RX_MSGS; i++) {
		struct msghdr *m = &w->rx_msg[i].msg_hdr;

		w->rx_iov[i].iov_base = w->rx_buf + i * RX_STRIDE + TAG_BYTES;
		w->rx_iov[i].iov_len = RX_BYTES;
		m->msg_iov = &w->rx_iov[i];
		m->msg_iovlen = 1;
		m->msg_control = w->rx_ctl[i];
	}
	for (u32 i = 0; i < TX_MSGS; i++) {
		w->tx_msg[i].msg_hdr.msg_iov = &w->tx_iov[i];
		w->tx_msg[i].msg_hdr.msg_iovlen = 1;
	}
	return 0;
}

int ur_wire_raw_take(struct ur_engine *engine, const int fd[UR_RAW_SOCKETS],
		     struct ur_wire **wire)
{
	struct ur_wire_raw *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->wire.ops = &raw_ops;
	w->wire.packing = &ur_no_packing;
	w->wire.near = &ur_no_near;
	w->wire.granting = &ur_no_granting;
	w->wire.engine = engine;
	w->watch.fn = readable;
	w->fd[UR_RAW_RX] = w->fd[UR_RAW_TX] = -1;
	engine->flows = ur_flow_table_create(engine->config.secret[0] ^
					     engine->config.seed);
	err = engine->flows ? make_buffers(w) : -ENOMEM;
	if (!err)
		err = ur_engine_watch(engine, fd[UR_RAW_RX], EPOLLIN,
				      &w->watch);
	if (err) {
		destroy_wire(&w->wire);
		return err;
	}
	w->watched = true;
	memcpy(w->fd, fd, sizeof(w->fd));
	*wire = &w->wire;
	return 0;
}
