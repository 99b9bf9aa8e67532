// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hosts: the transport and its turns. */
#include "tests/check.h"
#include "tests/sim/net/alien.h"
#include "tests/sim/net/net.h"
#include <stdlib.h>

#define MEM_BYTES  (1u << 20)
#define TX_BYTES   (64u << 10)
#define TX_PACKETS 64

static void gid_of(u32 host, u8 gid[16])
{
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	gid[12] = 10;
	gid[15] = (u8)(host + 1);
}

static void make_av(struct net_host *h, u32 to)
{
	struct ur_av *av = &h->av[to];
	u8 ecn = h->node.net->cfg.control == CONTROL_LOSS ? 0 : 2; /* ECT(0) */

	*av = (struct ur_av){.v4 = true,
			     .hop_limit = 64,
			     .traffic_class = ecn,
			     .ecn = ecn,
			     .refs = 1};
	gid_of(h->index, av->sgid);
	gid_of(to, av->dgid);
}

void net_host_start(struct net *n, u32 index)
{
	struct net_host *h = &n->host[index];
	struct ur_mr_attr mr = {
		.pd = 1,
		.access = UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |
			  UR_ACCESS_REMOTE_READ,
		.iova = NET_IOVA,
		.length = MEM_BYTES,
	};
	bool path = n->cfg.control == CONTROL_PATH ||
		    n->cfg.control == CONTROL_LOSS;
	struct ur_port_config c = {
		.seed = index + 1,
		.mtu_bytes = NET_MTU,
		.max_qp = 1024,
		.window_pkts = n->cfg.window_pkts,
		.max_mr = 8,
		.first_qpn = 17,
		.aimd = n->cfg.control == CONTROL_AIMD,
		.path = path,
		.short_reads = path,
		.cc = n->cfg.cc,
		.ooo = true,
		.coalesce = true,
		.credits = true,
		.fast = true,
		.burst_pkts = 62,
		.burst_bytes = 65000,
		.ops = &net_flow_ops,
	};

	c.cc.enable = n->cfg.control == CONTROL_DCQCN;
	h->index = index;
	h->node.net = n;
	h->node.host = h;
	h->wake_at = UR_NEVER;
	h->port = ur_port_create(&c);
	h->mem = calloc(1, MEM_BYTES);
	CHECK(h->port && h->mem);
	mr.direct = h->mem;
	CHECK_EQ(ur_mr_create(h->port, &mr, &h->mr), 0);
	for (u32 i = 0; i < n->n_hosts; i++)
		make_av(h, i);
}

void net_host_stop(struct net_host *h)
{
	struct net_frame *f, *next;

	CHECK_EQ(ur_mr_destroy(h->mr), 0);
	ur_port_destroy(h->port);
	free(h->mem);
	for (f = h->rx_head; f; f = next) {
		next = f->next;
		free(f);
	}
}

/* ---- turns ---- */

static u32 receive(struct net_host *h)
{
	struct net *n = h->node.net;
	struct net_frame *f;
	u32 count = 0;

	while ((f = h->rx_head)) {
		struct ur_rx_meta meta;

		h->rx_head = f->next;
		ur_av_meta(&n->host[f->src].av[h->index], &meta);
		meta.tos = f->tos;
		meta.udp_sport = f->sport;
		ur_port_rx(h->port, n->now, &meta, f->bth, f->len);
		free(f);
		count++;
	}
	h->rx_tail = NULL;
	return count;
}

static void count_burst(struct net_host *h)
{
	ur_time now = h->node.net->now;
	u32 length = h->burst < NET_BURST ? h->burst : NET_BURST - 1;

	if (now - h->sent_at > NET_BURST_NS) {
		h->in_bursts[length] += h->burst;
		h->burst = 0;
	}
	h->burst++;
	h->sent_at = now;
}

u32 net_host_burst(const struct net_host *h)
{
	u64 all = 0, longer = 0;
	u32 length = NET_BURST;

	for (u32 i = 0; i < NET_BURST; i++)
		all += h->in_bursts[i];
	while (length && longer * 10 < all)
		longer += h->in_bursts[--length];
	return length;
}

static void put_frame(struct net_host *h, const struct ur_tx *tx, u32 i)
{
	const struct ur_tx_desc *d = &tx->desc[i];
	struct net_frame *f = malloc(sizeof(*f) + d->len);

	CHECK(f);
	*f = (struct net_frame){
		.src = h->index,
		.dst = d->av->dgid[15] - 1u,
		.bytes = d->len + NET_HEAD_BYTES,
		.tos = d->av->traffic_class,
		.prio = d->av->sl,
		.len = d->len,
	};
	memcpy(f->bth, tx->buf + d->off, d->len);
	/* Without own_ports the number that the packet names stands for
   * those of both queue pairs. */
	f->sport = d->av->udp_sport
			   ? d->av->udp_sport
			   : (u16)(0xc000 |
				   (ur_get_be32(f->bth + 4) * 40503u >> 4 &
				    0x3fff));
	count_burst(h);
	net_send(&h->node.port[0], f);
}

/* Fills the NIC. Returns the packets; *more: the transport has more. */
static u32 transmit(struct net_host *h, bool *more)
{
	static u8 buf[TX_BYTES];
	static struct ur_tx_desc desc[TX_PACKETS];
	struct ur_tx tx = {.buf = buf,
			   .cap = sizeof(buf),
			   .desc = desc,
			   .max_desc = TX_PACKETS};

	*more = false;
	if (h->node.port[0].queued > h->node.net->cfg.nic_bytes)
		return 0;
	*more = ur_port_tx(h->port, h->node.net->now, &tx);
	for (u32 i = 0; i < tx.n_desc; i++)
		put_frame(h, &tx, i);
	return tx.n_desc;
}

static void run(struct sim_world *w, void *arg, u64 at)
{
	struct net_host *h = arg;
	struct net *n = h->node.net;
	ur_time deadline;
	u32 packets;
	bool more;

	(void)w;
	if (at != h->wake_at)
		return; /* an earlier one came in between */
	h->wake_at = UR_NEVER;
	packets = receive(h);
	net_flow_kick(h);
	if (ur_port_deadline(h->port) <= n->now)
		ur_port_expire(h->port, n->now);
	packets += transmit(h, &more);
	h->free_at = n->now + packets * n->cfg.cost;
	deadline = ur_port_deadline(h->port);
	if (h->rx_head || more)
		net_host_wake(h, n->now);
	else if (deadline != UR_NEVER)
		net_host_wake(h, deadline);
}

void net_host_wake(struct net_host *h, ur_time at)
{
	struct net *n = h->node.net;

	if (at < n->now)
		at = n->now;
	if (at < h->free_at)
		at = h->free_at;
	else
		at += n->cfg.turn;
	if (at >= h->wake_at)
		return;
	h->wake_at = at;
	sim_event_add(&n->events, at, run, h, at);
}

void net_host_rx(struct net_host *h, struct net_frame *f)
{
	if (f->alien) {
		net_alien_rx(f);
		return;
	}
	f->next = NULL;
	if (h->rx_tail)
		h->rx_tail->next = f;
	else
		h->rx_head = f;
	h->rx_tail = f;
	net_host_wake(h, h->node.net->now);
}
