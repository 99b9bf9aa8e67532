// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets as text, in the words of the specification and in wire order.
 */
#include "transport/dump.h"

/* Text being written; what does not fit is dropped. */
struct text {
	char *buf;
	size_t size, len;
};

static void put_char(struct text *t, char c)
{
	if (t->len + 1 < t->size)
		t->buf[t->len++] = c;
}

static void put_text(struct text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

static void put_digits(struct text *t, u64 v, u32 base)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n)
		put_char(t, digits[--n]);
}

static void put_dec(struct text *t, const char *label, u64 v)
{
	put_text(t, label);
	put_digits(t, v, 10);
}

static void put_hex(struct text *t, const char *label, u64 v)
{
	put_text(t, label);
	put_text(t, "0x");
	put_digits(t, v, 16);
}

static void put_gid(struct text *t, const u8 *gid)
{
	if (ur_gid_is_v4(gid)) {
		for (int i = 12; i < 16; i++)
			put_dec(t, i > 12 ? "." : "", gid[i]);
		return;
	}
	for (int i = 0; i < 16; i += 2) {
		if (i)
			put_char(t, ':');
		put_digits(t, ur_get_be16(gid + i), 16);
	}
}

static void put_aeth(struct text *t, const struct ur_pkt *pkt)
{
	static const char *const naks[] = {
		[UR_NAK_PSN_SEQ] = "psn-sequence",
		[UR_NAK_INV_REQ] = "invalid-request",
		[UR_NAK_REM_ACCESS] = "remote-access",
		[UR_NAK_REM_OP] = "remote-operational",
		[UR_NAK_INV_RD_REQ] = "invalid-rd-request",
	};
	u32 value = pkt->syndrome & UR_AETH_VALUE_MASK;

	switch (pkt->syndrome & UR_AETH_CLASS_MASK) {
	case UR_AETH_ACK:
		if (value == UR_AETH_CREDIT_NONE)
			put_text(t, " ack");
		else
			put_dec(t, " ack credits-code ", value);
		break;
	case UR_AETH_RNR_NAK:
		put_dec(t, " rnr-nak timer ", value);
		break;
	case UR_AETH_NAK:
		put_text(t, " nak ");
		if (value < UR_ARRAY_SIZE(naks))
			put_text(t, naks[value]);
		else
			put_dec(t, "code ", value);
		break;
	default:
		put_hex(t, " syndrome ", pkt->syndrome);
	}
	put_dec(t, " msn ", pkt->msn);
}

static void put_headers(struct text *t, const struct ur_pkt *pkt, u32 flags)
{
	if (flags & UR_OPF_DETH) {
		put_hex(t, " qkey ", pkt->qkey);
		put_hex(t, " sqpn ", pkt->sqpn);
	}
	if (flags & UR_OPF_XRCETH)
		put_hex(t, " srqn ", pkt->xrc_srqn);
	if (flags & UR_OPF_FETH) {
		put_hex(t, " placement ", pkt->flush_placement);
		put_dec(t, " selectivity ", pkt->flush_selectivity);
	}
	if (flags & (UR_OPF_RETH | UR_OPF_ATOMICETH)) {
		put_hex(t, " va ", pkt->va);
		put_hex(t, " rkey ", pkt->rkey);
	}
	if (flags & UR_OPF_RETH)
		put_dec(t, " dmalen ", pkt->dma_bytes);
	if (flags & UR_OPF_ATOMICETH) {
		put_hex(t, " swap-add ", pkt->swap_add);
		put_hex(t, " compare ", pkt->compare);
	}
	if (flags & UR_OPF_AETH)
		put_aeth(t, pkt);
	if (flags & UR_OPF_ATOMICACKETH)
		put_hex(t, " orig ", pkt->atomic_orig);
	if (flags & UR_OPF_IMM)
		put_hex(t, " imm ", pkt->imm);
	if (flags & UR_OPF_INV)
		put_hex(t, " inv ", pkt->inv_rkey);
	if (flags & UR_OPF_PAYLOAD)
		put_dec(t, " len ", pkt->payload_bytes);
}

#define MGMT_CLASS_CM 7 /* IBTA volume 1, 13.4.4 */
#define MAD_CLASS_AT  1
#define MAD_ATTR_AT   16
#define MAD_BYTES     256

/* Messages of the connection manager: IBTA volume 1, 16.7.2, by attribute. */
static void put_cm(struct text *t, const struct ur_pkt *pkt)
{
	static const char *const names[] = {
		[0x10] = "ConnectRequest",
		[0x11] = "MsgRcptAck",
		[0x12] = "ConnectReject",
		[0x13] = "ConnectReply",
		[0x14] = "ReadyToUse",
		[0x15] = "DisconnectRequest",
		[0x16] = "DisconnectReply",
		[0x17] = "ServiceIDResReq",
		[0x18] = "ServiceIDResReqResp",
		[0x19] = "LoadAlternatePath",
		[0x1a] = "AlternatePathResponse",
	};
	u16 attr;

	if (pkt->opcode != UR_OP_UD_SEND_ONLY || pkt->dqpn != UR_QPN_GSI ||
	    pkt->payload_bytes < MAD_BYTES ||
	    pkt->payload[MAD_CLASS_AT] != MGMT_CLASS_CM)
		return;
	attr = ur_get_be16(pkt->payload + MAD_ATTR_AT);
	put_char(t, ' ');
	if (attr < UR_ARRAY_SIZE(names) && names[attr])
		put_text(t, names[attr]);
	else
		put_hex(t, "cm ", attr);
}

static void put_pkt(struct text *t, const struct ur_pkt *pkt)
{
	put_text(t, ur_opcode_name(pkt->opcode));
	put_hex(t, " dqpn ", pkt->dqpn);
	put_dec(t, " psn ", pkt->psn);
	put_headers(t, pkt, ur_opcode_lookup(pkt->opcode)->flags);
	put_cm(t, pkt);
	if (pkt->ackreq)
		put_text(t, " ackreq");
	if (pkt->se)
		put_text(t, " solicited");
	if (pkt->migreq)
		put_text(t, " migreq");
	if (pkt->fecn)
		put_text(t, " fecn");
	if (pkt->becn)
		put_text(t, " becn");
	if (pkt->pkey != UR_PKEY_DEFAULT)
		put_hex(t, " pkey ", pkt->pkey);
}

static size_t finish(struct text *t)
{
	t->buf[t->len] = '\0';
	return t->len;
}

size_t ur_pkt_dump(char *buf, size_t size, const struct ur_pkt *pkt)
{
	struct text t = {buf, size, 0};

	put_pkt(&t, pkt);
	return finish(&t);
}

static void put_addr(struct text *t, const struct ur_frame_addr *addr)
{
	/* RFC 3168, 5. */
	static const char *const ecn[] = {" not-ect", " ect1", " ect0", " ce"};

	put_gid(t, addr->sgid);
	put_text(t, " > ");
	put_gid(t, addr->dgid);
	if (addr->kind == UR_FRAME_V1) {
		put_dec(t, " v1 tclass ", addr->tos);
	} else {
		put_dec(t, " sport ", addr->sport);
		put_dec(t, " dscp ", addr->tos >> 2);
		put_text(t, ecn[addr->tos & UR_ECN_MASK]);
	}
	put_dec(t, " ttl ", addr->ttl);
	put_char(t, ' ');
}

size_t ur_frame_dump(char *buf, size_t size, const struct ur_frame *f,
		     enum ur_frame_error error)
{
	struct text t = {buf, size, 0};
	struct ur_pkt pkt;
	enum ur_pkt_error pkt_error;

	if (error != UR_FRAME_OK && error != UR_FRAME_ICRC) {
		put_text(&t, "bad frame: ");
		put_text(&t, ur_frame_error_name(error));
		return finish(&t);
	}
	put_addr(&t, &f->addr);
	pkt_error = ur_pkt_parse(&pkt, f->bth, f->bth_bytes);
	if (pkt_error) {
		put_hex(&t, "opcode ", ur_bth_opcode(f->bth));
		put_text(&t, " bad packet: ");
		put_text(&t, ur_pkt_error_name(pkt_error));
	} else {
		put_pkt(&t, &pkt);
	}
	if (error == UR_FRAME_ICRC)
		put_text(&t, " bad icrc");
	return finish(&t);
}
