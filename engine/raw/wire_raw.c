// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packet sockets of raw packet queue pairs. See wire_raw.h. */
#include <errno.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/raw/flow.h"
#include "engine/raw/wire_raw.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define ETH_ALL	  0x0003 /* ETH_P_ALL */
#define RX_MSGS	  16u
#define TX_MSGS	  64u
#define TAG_BYTES 4u
/* A frame that the other side's stack or our own netdev has put together (GRO)
 * has up to 64 KiB; before it there is room for a tag. */
#define RX_STRIDE (80u << 10)
#define RX_BYTES  (RX_STRIDE - TAG_BYTES)
/* recvmmsg calls for a readable socket in one turn. */
#define ROUNDS 4

struct ur_wire_raw {
	struct ur_wire wire;
	struct ur_watch watch;
	int rx, tx;		  /* -1: not open */
	struct ur_wire_wants has; /* of the receiving socket */
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

/* type 0: it receives nothing. Bound before it is asked for a type, so that no
 * frame of another netdev gets in. */
static int open_socket(struct ur_wire_raw *w, u16 type)
{
	struct sockaddr_ll sa = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(type),
		.sll_ifindex = (int)w->wire.engine->config.ifindex,
	};
	int err, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			     0);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int member(struct ur_wire_raw *w, int type, bool want, bool *has)
{
	struct packet_mreq m = {
		.mr_ifindex = (int)w->wire.engine->config.ifindex,
		.mr_type = (u16)type,
	};
	int what = want ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP;

	if (want == *has)
		return 0;
	if (setsockopt(w->rx, SOL_PACKET, what, &m, sizeof(m)) < 0)
		return -errno;
	*has = want;
	return 0;
}

static void close_rx(struct ur_wire_raw *w)
{
	if (w->rx < 0)
		return;
	ur_engine_unwatch(w->wire.engine, w->rx);
	close(w->rx);
	w->rx = -1;
	memset(&w->has, 0, sizeof(w->has));
}

static int open_rx(struct ur_wire_raw *w)
{
	int one = 1, err;

	if (w->rx >= 0)
		return 0;
	w->rx = err = open_socket(w, ETH_ALL);
	if (err < 0)
		return err;
	ur_wire_rx_buffer(w->rx);
	setsockopt(w->rx, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		   sizeof(one));
	/* The kernel takes a tag out of the frame, and says so beside it. */
	setsockopt(w->rx, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one));
	err = ur_engine_watch(w->wire.engine, w->rx, EPOLLIN, &w->watch);
	if (err) {
		close(w->rx);
		w->rx = -1;
	}
	return err;
}

static int raw_listen(struct ur_wire *wire, const struct ur_wire_wants *want)
{
	struct ur_wire_raw *w = to_raw(wire);
	int err;

	w->want = *want;
	if (!want->any) {
		close_rx(w);
		return 0;
	}
	err = open_rx(w);
	if (!err)
		err = member(w, PACKET_MR_PROMISC, want->promisc,
			     &w->has.promisc);
	if (!err)
		err = member(w, PACKET_MR_ALLMULTI, want->multicast,
			     &w->has.multicast);
	return err;
}

static void raw_rebind(struct ur_wire *wire)
{
	struct ur_wire_raw *w = to_raw(wire);

	close_rx(w);
	if (w->tx >= 0)
		close(w->tx);
	w->tx = -1;
	/* Without a netdev nothing comes; the call is repeated when there is
	 * one. */
	raw_listen(wire, &w->want);
}

/* ---- receive ---- */

/* Puts the tag back that the kernel has taken out. Returns where the frame
 * begins; *len is its length. */
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

	for (int round = 0; w->rx >= 0 && round < ROUNDS; round++) {
		int n;

		for (u32 i = 0; i < RX_MSGS; i++)
			w->rx_msg[i].msg_hdr.msg_controllen =
				sizeof(w->rx_ctl[i]);
		n = recvmmsg(w->rx, w->rx_msg, RX_MSGS, MSG_DONTWAIT, NULL);
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
	receive(ur_container_of(watch, struct ur_wire_raw, watch));
}

static bool raw_poll(struct ur_wire *wire)
{
	return receive(to_raw(wire));
}

/* ---- send ---- */

static int open_tx(struct ur_wire_raw *w)
{
	if (w->tx < 0) {
		w->tx = open_socket(w, 0);
		if (w->tx >= 0)
			ur_wire_tx_buffer(w->tx);
	}
	return w->tx;
}

/* Messages [0, n); returns how many were dealt with: fewer means no room. */
static u32 put_out(struct ur_wire_raw *w, int fd, u32 n)
{
	u32 done = 0;
	int refused;

	for (;;) {
		done += ur_wire_put(fd, w->tx_msg + done, n - done, &refused);
		if (!refused)
			return done;
		/* no netdev, or too long for it */
		ur_port_count(w->wire.engine->port, UR_CNT_send_err, 1);
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
	int fd = open_tx(w);
	u32 i = first;

	while (i < end) {
		u32 n = ur_min_u32(end - i, TX_MSGS), done = n;

		for (u32 m = 0; m < n; m++) {
			w->tx_iov[m].iov_base = tx->buf + tx->desc[i + m].off;
			w->tx_iov[m].iov_len = tx->desc[i + m].len;
		}
		if (fd >= 0)
			done = put_out(w, fd, n);
		else
			ur_port_count(wire->engine->port, UR_CNT_send_err, n);
		offer(w, tx, i, done);
		i += done;
		if (done < n) {
			*wait_fd = fd;
			break;
		}
	}
	return i - first;
}

/* ---- life ---- */

static void destroy_wire(struct ur_wire *wire)
{
	struct ur_wire_raw *w = to_raw(wire);

	close_rx(w);
	if (w->tx >= 0)
		close(w->tx);
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

int ur_wire_raw_create(struct ur_engine *engine, struct ur_wire **wire)
{
	struct ur_wire_raw *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->wire.ops = &raw_ops;
	w->wire.engine = engine;
	w->watch.fn = readable;
	w->rx = w->tx = -1;
	engine->flows = ur_flow_table_create(engine->config.secret[0] ^
					     engine->config.seed);
	err = engine->flows ? make_buffers(w) : -ENOMEM;
	/* Better refused now than by the first frame. */
	if (!err && open_tx(w) < 0)
		err = w->tx;
	w->tx = err ? -1 : w->tx;
	if (err) {
		destroy_wire(&w->wire);
		return err;
	}
	*wire = &w->wire;
	return 0;
}
