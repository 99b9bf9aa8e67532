// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages that a neighbour puts into his ring: right but for what their patches change. */
#include "tests/fuzz/peer_enemy.h"
#include "transport/wire_format.h"

#define BTH 12u

static struct peer_world *const w = &peer_world;

struct packet {
	u32 qp, opcode, n, payload, seg;
	bool split, shown;
	u8 head[64]; /* BTH and what follows it */
	u32 head_bytes;
};

static u32 service_of(u32 qp)
{
	static const u32 services[] = {UR_SVC_RC, UR_SVC_RC, UR_SVC_UC,
				       UR_SVC_UD};

	return services[qp];
}

static u32 key_of(u8 which)
{
	return which < PEER_REGIONS ? ur_mr_key(w->mr[which]->mr)
				    : which * 257u;
}

static u8 *extend(struct packet *k, u32 bytes)
{
	u8 *at = k->head + k->head_bytes;

	k->head_bytes += bytes;
	return at;
}

static void add_place(struct packet *k, struct input *in, bool atomic)
{
	u32 off = take16(in), len = take(in);
	u8 *at = extend(k, atomic ? 28 : 16);

	/* From before the region to behind it. */
	ur_put_be64(at, (uintptr_t)w->at[PEER_REMOTE] + off * 2u - 512);
	ur_put_be32(at + 8, key_of(take(in)));
	if (!atomic)
		ur_put_be32(at + 12, len ? len * 512 : k->payload);
}

static void add_headers(struct packet *k, struct input *in)
{
	u32 op = k->opcode & UR_OPC_MASK;

	if (k->qp == PEER_UD) {
		u8 *deth = extend(k, 8);

		ur_put_be32(deth, PEER_QKEY);
		ur_put_be24(deth + 5, PEER_QPN);
	}
	switch (op) {
	case UR_OPC_WRITE_FIRST:
	case UR_OPC_WRITE_ONLY:
	case UR_OPC_WRITE_ONLY_IMM:
	case UR_OPC_READ_REQ:
		add_place(k, in, false);
		break;
	case UR_OPC_CMP_SWAP:
	case UR_OPC_FETCH_ADD:
		add_place(k, in, true);
		break;
	case UR_OPC_ACK:
	case UR_OPC_READ_RESP_FIRST:
	case UR_OPC_READ_RESP_LAST:
	case UR_OPC_READ_RESP_ONLY:
		extend(k, 4)[0] = take(in);
		break;
	case UR_OPC_ATOMIC_ACK:
		extend(k, 12)[0] = take(in);
		break;
	}
	if (op == UR_OPC_SEND_LAST_IMM || op == UR_OPC_SEND_ONLY_IMM ||
	    op == UR_OPC_WRITE_LAST_IMM || op == UR_OPC_WRITE_ONLY_IMM)
		extend(k, 4);
	if (op == UR_OPC_SEND_LAST_INV || op == UR_OPC_SEND_ONLY_INV)
		ur_put_be32(extend(k, 4), key_of(take(in)));
}

/* A few before or behind. */
static int near(u8 byte)
{
	return byte & 0x80 ? (int)byte - 256 : (int)byte;
}

static bool is_answer(u32 opcode)
{
	u32 op = opcode & UR_OPC_MASK;

	return op >= UR_OPC_READ_RESP_FIRST && op <= UR_OPC_ATOMIC_ACK;
}

/* Puts the BTH and what follows it of each packet of a message to at, and counts. */
static void put_packets(struct enemy *p, struct packet *k, u8 *at, u32 each,
			u32 psn)
{
	for (u32 i = 0; i < k->n; i++, at += each) {
		u32 room = each < k->head_bytes ? each : k->head_bytes;

		ur_put_be24(k->head + 9, psn + i);
		memcpy(at, k->head, k->split ? BTH : room);
	}
	if (!is_answer(k->opcode))
		p->psn[k->qp] = psn + k->n;
}

/* Returns where their bytes are in the bulk. */
static u32 reserve(struct enemy *p, u32 bytes)
{
	u32 at = (u32)ur_align_up(p->bulk, UR_PEER_PAGE);

	if (UR_PEER_BULK_BYTES - at % UR_PEER_BULK_BYTES < bytes)
		at += UR_PEER_BULK_BYTES - at % UR_PEER_BULK_BYTES;
	p->bulk = at + bytes;
	return at;
}

void peer_say_way(struct enemy *p, u8 *r, bool other)
{
	u8 which = other ? take(&p->in) : 0;
	u8 stranger[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};

	memcpy(r + RING_ADDRS, which & 4 ? stranger : peer_gids[which & 1], 16);
	memcpy(r + RING_ADDRS + 16,
	       which & 8 ? stranger : peer_gids[which >> 1 & 1], 16);
}

void peer_put_message(struct enemy *p)
{
	u8 what = take(&p->in), op = take(&p->in), count = take(&p->in);
	u16 size = take16(&p->in);
	bool says = !p->says || what & 0x30;
	struct packet k = {.qp = what & 3,
			   .n = 1 + (count & 63),
			   .payload = size & 0x8000 ? size & 0x7fff
						    : size % 1056 & ~3u,
			   .split = what & 4 && !p->relays,
			   .shown = (what & 12) == 12 && !p->relays,
			   .head_bytes = BTH};
	u32 psn, each, len;
	u8 *r, flags;

	k.opcode = op & 0x80 ? take(&p->in)
			     : service_of(k.qp) | (op & UR_OPC_MASK);
	psn = is_answer(k.opcode) ? PEER_PSN + (u32)near(take(&p->in))
				  : p->psn[k.qp];
	if (what & 0x40)
		psn += (u32)near(take(&p->in));
	k.head[0] = (u8)k.opcode;
	k.head[2] = k.head[3] = 0xff;
	ur_put_be24(k.head + 5, PEER_OWN_SLOT << 19 | (k.qp + 3));
	k.head[8] = op & 0x40 ? 0x80 : 0;
	add_headers(&k, &p->in);
	k.seg = k.split ? k.payload : k.head_bytes + k.payload + 4;
	each = k.split ? UR_PEER_BTH_ROOM : k.seg;
	while (k.n > 1 && k.n * each > UR_PEER_BYTES)
		k.n--;
	len = k.n * each;
	flags = (u8)((says ? RING_HAS_ADDRS : 0) | (k.split ? RING_SPLIT : 0) |
		     (k.shown ? RING_SHOWN : 0));
	r = ring_begin(&p->ring, len, k.seg, flags);
	if (says)
		peer_say_way(p, r, what & 0x20);
	if (p->relays) {
		r[RING_SPORT] = take(&p->in);
		r[RING_SPORT + 1] = take(&p->in);
	} else if (k.shown) {
		r[RING_SPORT] = take(&p->in);
		ur_put_le32(r + RING_BULK, take16(&p->in) * 16u);
	} else if (k.split) {
		ur_put_le32(r + RING_BULK,
			    reserve(p, ur_min_u32(k.n * k.seg,
						  UR_PEER_BULK_BYTES / 2)));
		ur_put_le32(r + RING_FREED, p->bulk);
	}
	put_packets(p, &k, r + (says ? RING_UNIT : RING_SHORT), each, psn);
	if (what & 0x80)
		ring_patch(&p->in, r, (says ? RING_UNIT : RING_SHORT) + len);
	p->says = true;
	ring_show(&p->ring, (says ? RING_UNIT : RING_SHORT) + len);
}
