// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two UDP wires on the loopback device: bursts and single packets arrive
 * whole with a right ICRC, whatever identification they had; damaged ones are
 * counted and dropped, and so are those of another program that uses one of our
 * addresses as its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <unistd.h>
#include "engine/core/datagrams.h"
#include "engine/faults/faults.h"
#include "engine/raw/flow.h"
#include "engine/core/engine_impl.h"
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"
#include "transport/packet.h"
#include "tests/check.h"
#include "tests/own_net.h"

#define MAX_PACKETS 4096

/* ---- what the wire needs of the engine and the port ---- */

static struct {
	u64 counters[UR_CNT_COUNT]; /* of both engines */
	u32 count;
	u32 runs; /* of packets that were taken at once */
	u32 psn[MAX_PACKETS], len[MAX_PACKETS];
	struct ur_rx_meta meta;
} got;
static bool takes_runs;

int ur_engine_watch(struct ur_engine *engine, int fd, u32 events,
		    struct ur_watch *watch)
{
	return 0;
}

void ur_engine_unwatch(struct ur_engine *engine, int fd)
{
}

/* There are no faults, and nothing is recorded. */
void ur_record_received(struct ur_engine *engine, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	abort();
}

void ur_faults_received(struct ur_engine *engine, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	abort();
}

/* It is in no program. */
void ur_inproc_check_error(struct ur_engine *engine, int error)
{
	abort();
}

void ur_chore_ask(struct ur_engine *engine, struct ur_chore *chore)
{
	abort();
}

void ur_chore_forget(struct ur_engine *engine, struct ur_chore *chore)
{
}

void ur_chore_steps_aside(struct ur_engine *engine)
{
	abort();
}

bool ur_chore_steps_back(struct ur_engine *engine)
{
	abort();
}

bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid)
{
	return false;
}

static void rx(struct ur_engine *e, const struct ur_rx_meta *meta,
	       const u8 *bth, u32 len)
{
	CHECK(got.count < MAX_PACKETS);
	for (u32 i = UR_BTH_BYTES; i < len; i++)
		CHECK_EQ(bth[i], (u8)(ur_bth_psn(bth) + i));
	got.psn[got.count] = ur_bth_psn(bth);
	got.len[got.count] = len;
	got.meta = *meta;
	got.count++;
}

static u32 rx_run(struct ur_engine *e, const struct ur_rx_meta *meta,
		  const u8 *bth, u32 len, u32 stride, u32 n)
{
	u32 took = 0;

	if (!takes_runs || n < 2 || *bth != UR_OP_RC_SEND_MIDDLE)
		return 0;
	got.runs++;
	for (; took < n && *bth == UR_OP_RC_SEND_MIDDLE; took++, bth += stride)
		rx(e, meta, bth, len);
	return took;
}

/* Nothing of neighbours. */
static const struct ur_engine_kind kind = {.rx = rx, .rx_run = rx_run};

/* No raw Ethernet here. */
void ur_flow_rx(struct ur_engine *engine, u32 sender, const u8 *frame, u32 len)
{
	CHECK(!"a frame for flow rules");
}

struct ur_flow_table *ur_flow_table_create(u64 seed)
{
	abort();
}

void ur_flow_table_destroy(struct ur_flow_table *table)
{
	abort();
}

/* ---- */

static u8 buf[1 << 20];
static struct ur_tx_desc desc[256];
static struct ur_tx tx = {
	.buf = buf, .cap = sizeof(buf), .desc = desc, .max_desc = 256};
static u32 psn;

static void add_packet(const struct ur_av *av, u32 payload)
{
	struct ur_tx_desc *d = &tx.desc[tx.n_desc++];

	d->off = tx.used;
	d->len = UR_BTH_BYTES + payload;
	d->av = av;
	ur_bth_build(tx.buf + d->off, UR_OP_RC_SEND_MIDDLE, 0, 0, 0xffff, 17,
		     false, psn);
	for (u32 i = UR_BTH_BYTES; i < d->len; i++)
		tx.buf[d->off + i] = (u8)(psn + i);
	psn++;
	tx.used += d->len + UR_ICRC_BYTES;
}

static struct ur_wire_udp *wire_of(struct ur_wire *w)
{
	return ur_container_of(w, struct ur_wire_udp, wire);
}

/* Wait until count packets and bad damaged ones came to w. */
static void wait_for(struct ur_wire *w, u32 count, u32 bad)
{
	struct ur_udp_addr *a =
		ur_list_first(&wire_of(w)->addrs, struct ur_udp_addr, node);
	struct pollfd p = {.fd = a->fd, .events = POLLIN};

	while (got.count < count ||
	       got.counters[UR_CNT_rx_icrc_encapsulated] < bad) {
		CHECK(poll(&p, 1, 10000) == 1);
		ur_udp_readable(&a->watch, 0);
	}
	CHECK_EQ(got.count, count);
	CHECK_EQ(got.counters[UR_CNT_rx_icrc_encapsulated], bad);
}

static void send_all(struct ur_wire *w)
{
	int fd;

	CHECK_EQ(w->ops->send(w, &tx, 0, tx.n_desc, &fd), tx.n_desc);
	tx.n_desc = 0;
	tx.used = 0;
	memset(&got, 0, sizeof(got));
}

static void test_bursts(struct ur_wire *a, struct ur_wire *b, struct ur_av *av)
{
	for (int i = 0; i < 100; i++)
		add_packet(av, 1024);
	add_packet(av, 100); /* ends the second burst */
	for (u32 i = 0; i < 20; i++)
		add_packet(av, 4 * i); /* all sizes differ: single ones */
	add_packet(av, 4096);
	send_all(a);
	wait_for(b, 122, 0);
	for (u32 i = 1; i < got.count; i++)
		CHECK_EQ(got.psn[i], got.psn[0] + i);
	CHECK_EQ(got.len[121], UR_BTH_BYTES + 4096);
	CHECK(!memcmp(got.meta.saddr, av->sgid, 16));
	CHECK(!memcmp(got.meta.daddr, av->dgid, 16));
	CHECK_EQ(got.meta.tos, av->traffic_class);
	CHECK_EQ(got.meta.ttl, av->hop_limit);
	CHECK(got.meta.udp_sport >= UR_UDP_SPORT_MIN);
}

/* Packets of several queue pairs that leave the same way are one message; those
 * to somebody else, or with other headers, are not of it. */
static void test_together(struct ur_wire *a, struct ur_wire *b,
			  const struct ur_av *like)
{
	static struct ur_av av[8], far, other;
	const u32 *messages = wire_of(a)->tx.count;

	for (u32 i = 0; i < 8; i++)
		av[i] = *like;
	other = *like;
	other.hop_limit++;
	far = *like;
	far.dgid[15]++;
	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < 8; i++)
			add_packet(&av[i], 64);
		add_packet(&av[3], 32); /* a shorter one is the last */
		add_packet(&av[4], 64);
		add_packet(&other, 64);
		add_packet(&av[5], 64);
		send_all(a);
		wait_for(b, 12, 0);
		for (u32 i = 1; i < got.count; i++)
			CHECK_EQ(got.psn[i], got.psn[0] + i);
	}
	/* In the first round none but one had a socket yet. */
	CHECK_EQ(messages[0], 9);
	CHECK_EQ(messages[1], 1);
	CHECK_EQ(messages[2], 1);
	CHECK_EQ(messages[3], 1);
	for (u32 round = 0; round < 2; round++) {
		add_packet(&av[0], 64);
		add_packet(&far, 64);
		add_packet(&av[1], 64);
		send_all(a);
		wait_for(b, 2, 0);
	}
	CHECK_EQ(messages[0], 1);
	CHECK_EQ(messages[1], 1);
	CHECK_EQ(messages[2], 1);
	/* The peer's kernel looks at the first number alone: another program's is not with it. */
	add_packet(&av[0], 64);
	add_packet(&av[1], 64);
	add_packet(&av[2], 64);
	tx.buf[tx.desc[2].off + 5] = 1u << (8 - UR_PLACE_BITS);
	send_all(a);
	wait_for(b, 3, 0);
	CHECK_EQ(messages[0], 2);
	CHECK_EQ(messages[1], 1);
}

/* Packets leave without the owner lock if they leave the same way. */
static void test_packed(struct ur_wire *a, struct ur_wire *b, struct ur_av *av)
{
	struct ur_udp_pack *p = ur_udp_pack_new();
	struct ur_av other = *av;

	CHECK(p != NULL);
	other.hop_limit++;
	for (u32 i = 0; i < 100; i++)
		add_packet(av, i < 70 ? 256 : 64);
	CHECK(ur_udp_pack(a, &tx, p));
	CHECK_EQ(p->out->packs, 1);
	memset(&got, 0, sizeof(got));
	CHECK_EQ(ur_udp_pack_send(p, &tx), 100);
	ur_udp_pack_end(p);
	CHECK_EQ(p->out->packs, 0);
	wait_for(b, 100, 0);
	for (u32 i = 1; i < got.count; i++)
		CHECK_EQ(got.psn[i], got.psn[0] + i);
	tx.desc[7].av = &other;
	CHECK(!ur_udp_pack(a, &tx, p));
	tx.desc[7].av = av;
	tx.desc[7].split = tx.buf;
	CHECK(!ur_udp_pack(a, &tx, p));
	tx.desc[7].split = NULL;
	av->loop = true;
	CHECK(!ur_udp_pack(a, &tx, p));
	av->loop = false;
	tx.n_desc = tx.used = 0;
	memset(&got, 0, sizeof(got));
	free(p);
}

/* Datagrams to three peers in turn are one message for each, from bytes that are not back to back. */
static void test_in_turn(struct ur_wire *a, struct ur_wire *b, struct ur_av *av)
{
	static struct ur_av far;
	const u32 *messages = wire_of(a)->tx.count;

	far = *av;
	far.dgid[15]++;
	for (u32 i = 0; i < 12; i++) {
		add_packet(i % 3 == 1 ? &far : av, 64);
		tx.buf[tx.desc[i].off] = UR_OP_UD_SEND_ONLY;
		if (i % 3 == 2)
			tx.buf[tx.desc[i].off + 5] = 1u << (8 - UR_PLACE_BITS);
	}
	ur_datagrams_together(&tx);
	send_all(a);
	for (u32 m = 0; m < 3; m++)
		CHECK_EQ(messages[m], 4);
	wait_for(b, 8, 0);
	for (u32 i = 1; i < got.count; i++)
		CHECK_EQ(got.psn[i], got.psn[i - 1] + (i == 4 ? -7 : 3));
}

/* Where a datagram has a request and an acknowledgement, that is taken first; behind an
 * answer to a READ, and elsewhere, it is not. */
static void test_answer_last(struct ur_wire *a, struct ur_wire *b,
			     const struct ur_av *av)
{
	static const struct {
		u8 first, second;
		bool swaps;
	} cases[] = {
		{UR_OP_RC_SEND_ONLY, UR_OP_RC_ACK, true},
		{UR_OP_RC_WRITE_LAST, UR_OP_RC_ACK, true},
		{UR_OP_RC_READ_RESP_ONLY, UR_OP_RC_ACK, false},
		{UR_OP_RC_ACK, UR_OP_RC_ACK, false},
		{UR_OP_RC_SEND_ONLY, UR_OP_RC_SEND_ONLY, false},
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(cases); i++) {
		u32 first = psn, at;

		add_packet(av, 64);
		tx.buf[tx.desc[0].off] = cases[i].first;
		at = tx.n_desc;
		add_packet(av, 4);
		tx.buf[tx.desc[at].off] = cases[i].second;
		send_all(a);
		CHECK_EQ(wire_of(a)->tx.count[0], 2);
		wait_for(b, 2, 0);
		CHECK_EQ(got.psn[0], first + cases[i].swaps);
		CHECK_EQ(got.psn[1], first + !cases[i].swaps);
	}
}

/* The end of a message and the begin of the next are between two runs, which both are taken
 * at once. */
static void test_runs(struct ur_wire *a, struct ur_wire *b,
		      const struct ur_av *av)
{
	u32 first = psn;

	for (u32 i = 0; i < 12; i++)
		add_packet(av, 64);
	tx.buf[tx.desc[5].off] = UR_OP_RC_SEND_LAST;
	tx.buf[tx.desc[6].off] = UR_OP_RC_SEND_FIRST;
	takes_runs = true;
	send_all(a);
	CHECK_EQ(wire_of(a)->tx.count[0], 12);
	wait_for(b, 12, 0);
	CHECK_EQ(got.runs, 2);
	for (u32 i = 0; i < got.count; i++)
		CHECK_EQ(got.psn[i], first + i);
	takes_runs = false;
}

/* A packet by another program, with that identification in its ICRC. */
static void strange_packet(struct ur_wire *b, const struct ur_av *av, u16 id,
			   bool df, u32 damage)
{
	struct ur_frame_addr fa = {.kind = UR_FRAME_V4,
				   .ttl = 64,
				   .ip_id = id,
				   .df = df,
				   .dport = UR_ROCE_V2_UDP_PORT};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union ur_sockaddr from, to;
	socklen_t len;
	u8 pkt[256] = {0};
	size_t bytes;

	len = ur_udp_sockaddr(wire_of(b), &from, av->sgid, 0);
	CHECK(!bind(fd, &from.sa, len));
	CHECK(!getsockname(fd, &from.sa, &len));
	memcpy(fa.sgid, av->sgid, 16);
	memcpy(fa.dgid, av->dgid, 16);
	fa.sport = ntohs(from.v4.sin_port);
	ur_bth_build(pkt + 28, UR_OP_RC_SEND_ONLY, 0, 0, 0xffff, 17, false, 0);
	for (u32 i = UR_BTH_BYTES; i < 112; i++)
		pkt[28 + i] = (u8)i;
	bytes = ur_frame_build(pkt, &fa, 112);
	if (damage)
		pkt[28 + damage] ^= 0x10;
	len = ur_udp_sockaddr(wire_of(b), &to, av->dgid, UR_ROCE_V2_UDP_PORT);
	CHECK(sendto(fd, pkt + 28, bytes - 28, 0, &to.sa, len) > 0);
	close(fd);
}

static void test_strangers(struct ur_wire *b, const struct ur_av *av)
{
	struct ur_av other = *av;

	other.sgid[15] = 99; /* ours would be a forgery */
	av = &other;
	memset(&got, 0, sizeof(got));
	for (u32 i = 0; i < 200; i++) /* as a UDP socket of our kind */
		strange_packet(b, av, 0, true, 0);
	wait_for(b, 200, 0);
	memset(&got, 0, sizeof(got));
	for (u32 i = 0; i < 200; i++) /* kernel rxe counts up */
		strange_packet(b, av, (u16)(40000 + 3 * i), true, 0);
	strange_packet(b, av, 40601, false, 0);
	/* not what that address sent so far: believed after a few */
	wait_for(b, 198, 3);
	memset(&got, 0, sizeof(got));
	for (u32 i = 1; i < 112; i++)
		if (i != 4) /* masked */
			strange_packet(b, av, 40602, true, i);
	wait_for(b, 0, 110);
	memset(&got, 0, sizeof(got));
	for (u32 i = 0; i < 4; i++)
		strange_packet(b, av, (u16)(10000 + 5000 * i), true, 0);
	wait_for(b, 1, 3);
}

/* Returns the result of bind(): of a socket at one address of that family to
 * the port. With such a one, and IP_PKTINFO, packets could leave from any
 * address. */
static int bind_to(int family, const char *text, u16 port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons(port)};
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0, off = 0,
	    on = 1;

	if (fd < 0 && errno == EAFNOSUPPORT)
		return EADDRINUSE;
	CHECK(fd >= 0);
	if (family == AF_INET6)
		CHECK(!setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
				  sizeof(off)));
	CHECK_EQ(inet_pton(family, text,
			   family == AF_INET ? (void *)&v4.sin_addr
					     : (void *)&v6.sin6_addr),
		 1);
	/* not even by one that shares willingly */
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	if (family == AF_INET ? bind(fd, (struct sockaddr *)&v4, sizeof(v4))
			      : bind(fd, (struct sockaddr *)&v6, sizeof(v6)))
		err = errno;
	close(fd);
	return err;
}

/* Whoever uses our address cannot use a port that we send from. */
static void test_forged(struct ur_wire *a, struct ur_wire *b, struct ur_av *av)
{
	static const struct {
		int family;
		const char *addr;
	} others[] = {
		{AF_INET, "127.77.0.1"}, {AF_INET, "127.77.0.9"},
		{AF_INET, "0.0.0.0"},	 {AF_INET6, "::"},
		{AF_INET6, "::1"},	 {AF_INET6, "::ffff:127.77.0.9"},
	};
	u16 port;

	add_packet(av, 64);
	send_all(a);
	wait_for(b, 1, 0);
	port = got.meta.udp_sport;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK_EQ(bind_to(others[i].family, others[i].addr, port),
			 EADDRINUSE);
	memset(&got, 0, sizeof(got));
	for (int i = 0; i < 3; i++)
		strange_packet(b, av, 0, true, 0);
	add_packet(av, 64);
	CHECK_EQ(a->ops->send(a, &tx, 0, 1, &(int){0}), 1);
	tx.n_desc = tx.used = 0;
	wait_for(b, 1, 0);
	CHECK_EQ(got.counters[UR_CNT_bad_gid], 3);
}

static struct ur_wire *make_wire(struct ur_engine *e, const u8 *gid)
{
	struct ur_wire *w;

	e->kind = &kind;
	e->opt.gso = true;
	e->opt.gro = true;
	e->config.ifindex = if_nametoindex("lo");
	e->counters = got.counters;
	e->shard_bits = UR_PLACE_BITS;
	CHECK_EQ(ur_wire_udp_create(e, &w), 0);
	if (w->ops->addr_add(w, gid))
		SKIP("UDP port 4791 of the loopback device is in use");
	return w;
}

/* More source ports than there are sockets: some are shared, all arrive. */
static void test_many_ports(struct ur_wire *a, struct ur_wire *b,
			    const struct ur_av *like)
{
	static struct ur_av av[2 * UR_UDP_OUTS];

	for (u32 i = 0; i < 2 * UR_UDP_OUTS; i++) {
		av[i] = *like;
		av[i].udp_sport = (u16)(0xc000 + 7 * i);
		av[i].wire = 0;
	}
	for (u32 round = 0; round < 2; round++) {
		for (u32 part = 0; part < 4; part++) {
			u32 n = UR_UDP_OUTS / 2;

			for (u32 i = 0; i < n; i++)
				add_packet(&av[part * n + i], 64);
			send_all(a);
			wait_for(b, n, 0);
		}
	}
}

static void test_pair(const u8 *from, const u8 *to, bool strangers)
{
	static struct ur_engine ea, eb;
	struct ur_wire *a, *b;
	struct ur_av av = {
		.udp_sport = 0xd123,
		.traffic_class = 0x62,
		.hop_limit = 33,
		.v4 = ur_gid_is_v4(from),
	};

	memcpy(av.sgid, from, 16);
	memcpy(av.dgid, to, 16);
	a = make_wire(&ea, from);
	b = make_wire(&eb, to);
	CHECK_EQ(a->ops->check(a, &av), 0);
	for (int i = 0; i < 3; i++)
		test_bursts(a, b, &av);
	if (strangers)
		test_strangers(b, &av);
	test_forged(a, b, &av);
	test_many_ports(a, b, &av);
	test_together(a, b, &av);
	test_in_turn(a, b, &av);
	test_packed(a, b, &av);
	test_answer_last(a, b, &av);
	test_runs(a, b, &av);
	/* without segmentation offload */
	wire_of(a)->outs[(av.wire & 0xffff) - 1].no_gso = true;
	test_bursts(a, b, &av);
	a->ops->destroy(a);
	b->ops->destroy(b);
}

int main(void)
{
	static const u8 one[4] = {127, 77, 0, 1}, two[4] = {127, 77, 0, 2};
	u8 a[16], b[16];

	own_net();
	ur_gid_from_v4(a, one);
	ur_gid_from_v4(b, two);
	test_pair(a, b, true);
	return 0;
}
