// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queue pair door: queue pairs in RTS that talk to each other, under
 * packets, posted work and time as the input says.
 *
 * Input: a stream of steps, each an operation byte and its arguments (what
 * is missing at the end reads as zero). See step(). Whatever comes in, the
 * port must not touch memory it was not given, every packet it sends must
 * parse, and no work request may complete twice.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/qp_world.h"
#include "transport/packet.h"

#define STEPS_MAX   400
#define TX_DESCS    16
#define INPUT_MAX   4096
#define BIND_ACCESS 0x30e /* all remote rights */

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct world *w;

/* Offers the packet, with two that follow it, as what came in one burst. Returns how
 * many were taken. */
static u32 receive_burst(const struct ur_rx_meta *meta, const u8 *bth, u32 len)
{
	u8 *copy = malloc((size_t)3 * len);
	u32 took;

	CHECK(copy);
	for (u32 i = 0; i < 3; i++) {
		memcpy(copy + i * len, bth, len);
		ur_put_be24(copy + i * len + 9,
			    (ur_bth_psn(bth) + i) & 0xffffff);
	}
	took = ur_port_rx_run(w->port, w->now, meta, copy, len, len, 3);
	CHECK(took <= 3);
	free(copy);
	return took;
}

/* Feed a packet from memory of exactly its size. */
static void receive_at(const u8 *daddr, const u8 *bth, u32 len, u8 tos)
{
	struct ur_rx_meta meta = {
		.v4 = true, .tos = tos, .ttl = 64, .udp_sport = 0xc000};
	u8 *copy = malloc(len ? len : 1);

	CHECK(copy);
	memcpy(copy, bth, len);
	memcpy(meta.saddr, w->av.dgid, 16);
	memcpy(meta.daddr, daddr, 16);
	if (len < UR_BTH_BYTES || !receive_burst(&meta, bth, len))
		ur_port_rx(w->port, w->now, &meta, copy, len);
	free(copy);
}

static void receive(const u8 *bth, u32 len, u8 tos)
{
	receive_at(w->av.sgid, bth, len, tos);
}

/* To the group of the UD queue pairs, as it would come from the wire. */
static void receive_multicast(u8 *bth, u32 len)
{
	ur_put_be24(bth + 5, UR_QPN_MULTICAST);
	receive_at(world_group, bth, len, 0);
}

/* Any bytes as a packet. */
static void step_raw(struct input *in)
{
	u8 bytes[300];
	u32 len = take_be(in, 2) % sizeof(bytes);

	for (u32 i = 0; i < len; i++)
		bytes[i] = (u8)take(in);
	receive(bytes, len, 0);
}

/* Keys and addresses that are often right and at the edges. */
static u32 take_key(struct input *in)
{
	u32 how = take(in);

	if (how & 0x80)
		return take_be(in, 4);
	if (how & 0x40)
		return ur_mw_rkey(w->mw[how & 1]) ^ (how >> 1 & 0x1f);
	return ur_mr_key(how & 1 ? w->mr_ops : w->mr) ^ (how >> 1 & 0x1f);
}

static u64 take_va(struct input *in)
{
	u32 how = take(in);

	if (how & 0x80)
		return (u64)take_be(in, 4) << 32 | take_be(in, 4);
	return IOVA + (how & 0x40 ? MEM_BYTES - 64 : 0) + (how & 0x3f);
}

static u32 take_len(struct input *in)
{
	u32 how = take(in);

	return how & 0x80 ? take_be(in, 4) : how * 16;
}

/* A well-formed packet of any meaning. */
static void step_packet(struct input *in)
{
	u32 where = take(in), to = where % SIDES, payload;
	u8 buf[UR_HEADERS_MAX_BYTES + 1024 + 8] = {0};
	struct ur_pkt pkt = {
		.opcode = (u8)take(in),
		.dqpn = where & 0x80 ? take_be(in, 3)
				     : ur_qp_number(w->sides[to].qp),
		.psn = (FIRST_PSN + take(in) - 8) & UR_PSN_MASK,
		.pkey = UR_PKEY_DEFAULT,
		.qkey = QKEY,
		.xrc_srqn = ur_srq_number(w->srq),
		.sqpn = ur_qp_number(w->sides[PEER(to)].qp),
	};
	u32 flags, bits = take(in);

	if ((where & 0xe0) == 0x40) {
		pkt.dqpn = UR_QPN_GSI;
		pkt.qkey = UR_QKEY_GSI;
	}
	flags = ur_opcode_lookup(pkt.opcode)->flags;
	if (!flags)
		return;
	pkt.ackreq = bits & 1;
	pkt.se = bits & 2;
	if (flags & (UR_OPF_RETH | UR_OPF_ATOMICETH)) {
		pkt.va = take_va(in);
		pkt.rkey = take_key(in);
		pkt.dma_bytes = take_len(in);
		pkt.compare = take(in);
		pkt.swap_add = take(in);
	}
	if (flags & UR_OPF_AETH) {
		pkt.syndrome = (u8)take(in);
		pkt.msn = take(in);
	}
	if (flags & UR_OPF_INV)
		pkt.inv_rkey = take_key(in);
	if (flags & UR_OPF_FETH) {
		pkt.flush_placement = (u8)take(in);
		pkt.flush_selectivity = pkt.flush_placement >> 4;
	}
	payload = flags & UR_OPF_PAYLOAD ? take_be(in, 2) % 1028 : 0;
	if (payload >= 1024) /* the path MTU, most often wanted */
		payload = 256;
	pkt.payload_bytes = payload;
	payload += (u32)ur_pkt_build(&pkt, buf) + ur_pkt_pad(payload);
	if ((where & 0xe0) == 0x20)
		receive_multicast(buf, payload);
	else
		receive(buf, payload, bits >> 6);
}

/* Post a send work request. */
static void step_post(struct input *in)
{
	int i = (int)(take(in) % SIDES);
	struct side *s = &w->sides[i];
	struct ur_send_wr posted = {0}, *wr = &posted;

	if (i == XRC_TGT || s->ring.send_tail - s->ring.retired >= WRS_MAX)
		return;
	wr->opcode = (u8)(take(in) % UR_WR_OPCODES);
	wr->flags = take(in) & 7;
	wr->num_sge = (u16)(take(in) % 4);
	wr->raddr = take_va(in);
	wr->rkey = take_key(in);
	wr->swap_add = take(in);
	wr->compare = take(in);
	wr->swap_add_mask = wr->compare_mask = UINT64_MAX;
	for (u32 k = 0; k < wr->num_sge; k++)
		wr->sge[k] = (struct ur_sge){take_va(in), take_len(in),
					     take_key(in)};
	wr->imm_inv = ur_mw_rkey(w->mw[1]);
	wr->xrc_srqn = ur_srq_number(w->srq);
	wr->bind_addr = wr->raddr;
	wr->bind_length = wr->swap_add * 16;
	wr->bind_mw_rkey = ur_mw_rkey(w->mw[wr->compare & 1]);
	wr->bind_new_rkey = wr->bind_mw_rkey + 1;
	wr->bind_mr_lkey = wr->rkey;
	wr->bind_access = BIND_ACCESS >> (wr->compare >> 1 & 7);
	wr->flush_type = UR_FETH_GLOBAL;
	wr->flush_length = 64;
	if (i == UD_A || i == UD_B) {
		wr->av = &w->av;
		wr->dqpn = ur_qp_number(w->sides[PEER(i)].qp);
		wr->qkey = QKEY;
	}
	ring_post(&s->ring, wr);
	ur_qp_kick(s->qp);
}

static void step_recv(struct input *in)
{
	struct side *s = &w->sides[take(in) % SIDES];

	s->ring.recv_tail += take(in) % 8;
	if (!s->ring.want_kick)
		return;
	if (s == &w->sides[XRC_TGT])
		ur_srq_kick(w->srq);
	else
		ur_qp_rq_kick(s->qp);
}

/* Lets the port send; a byte, for all or for each, decides what the network
 * does to a packet. */
static void step_tx(struct input *in)
{
	u32 count = take(in), every = take(in);
	struct ur_tx_desc descs[TX_DESCS];
	struct ur_tx tx = {
		.buf = w->tx,
		.cap = TX_BYTES,
		.desc = descs,
		.max_desc = 1 + count % TX_DESCS,
	};
	struct ur_pkt pkt;

	ur_port_tx(w->port, w->now, &tx);
	CHECK(tx.n_desc <= tx.max_desc && tx.used <= tx.cap);
	for (u32 i = 0; i < tx.n_desc; i++) {
		struct ur_tx_desc *d = &descs[i];
		u32 how = count & 0x80 ? take(in) : every;

		CHECK(d->off + d->len + UR_ICRC_BYTES <= tx.used);
		CHECK_EQ(ur_pkt_parse(&pkt, tx.buf + d->off, d->len),
			 UR_PKT_OK);
		switch (how & 7) {
		case 0: /* lost */
			break;
		case 1: /* changed */
			tx.buf[d->off + take(in) % d->len] ^= (u8)take(in);
			receive(tx.buf + d->off, d->len, 0);
			break;
		case 2: /* twice */
			receive(tx.buf + d->off, d->len, 0);
			receive(tx.buf + d->off, d->len, 0);
			break;
		case 3: /* congestion on the way */
			receive(tx.buf + d->off, d->len, UR_ECN_CE);
			break;
		default:
			receive(tx.buf + d->off, d->len, 0);
		}
	}
}

static void step_time(struct input *in)
{
	ur_time deadline = ur_port_deadline(w->port);
	u32 how = take(in);

	if (how & 0x80 && deadline != UR_NEVER) {
		if (deadline > w->now)
			w->now = deadline;
	} else {
		w->now += (u64)how * how * 1000;
	}
	if (w->now >= deadline)
		ur_port_expire(w->port, w->now);
}

static void step_modify(struct input *in)
{
	int i = (int)(take(in) % SIDES);
	struct ur_qp *qp = w->sides[i].qp;
	u32 how = take(in);
	struct ur_qp_attr a = {.state = UR_QP_ERR};

	switch (how % 4) {
	case 0:
		ur_qp_modify(qp, w->now, &a, UR_QP_ATTR_STATE);
		break;
	case 1: /* start again from RESET, rings empty */
		a.state = UR_QP_RESET;
		CHECK(!ur_qp_modify(qp, w->now, &a, UR_QP_ATTR_STATE));
		w->sides[i].ring.send_head = w->sides[i].ring.retired =
			w->sides[i].ring.send_tail;
		world_bring_up(w, i);
		break;
	case 2:
		a.state = UR_QP_SQD;
		ur_qp_modify(qp, w->now, &a, UR_QP_ATTR_STATE);
		break;
	case 3:
		a.state = UR_QP_RTS;
		ur_qp_modify(qp, w->now, &a, UR_QP_ATTR_STATE);
		break;
	}
	w->cq_full = how & 0x80;
}

static void step(struct input *in)
{
	switch (take(in) % 8) {
	case 0:
		step_raw(in);
		break;
	case 1:
	case 2:
		step_packet(in);
		break;
	case 3:
		step_post(in);
		break;
	case 4:
		step_recv(in);
		break;
	case 5:
		step_tx(in);
		break;
	case 6:
		step_time(in);
		break;
	case 7:
		step_modify(in);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};

	if (size > INPUT_MAX)
		return 0;
	w = world_create(take(&in));
	for (int i = 0; i < STEPS_MAX && in.left; i++) {
		step(&in);
		world_check(w);
	}
	world_destroy(w);
	return 0;
}
