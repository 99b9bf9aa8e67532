// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Parser and builder of IB transport headers (IBTA volume 1, chapter 9.2 to
 * 9.4). Checks form only: whether the packet is welcome is the responder's
 * and completer's business.
 */
#include "transport/packet.h"

/*
 * The order of the headers is that of the specification, so one walk over
 * the flags serves every opcode. The caller has checked the total length.
 */
static const u8 *parse_headers(struct ur_pkt *pkt, const u8 *p, u32 flags)
{
	if (flags & UR_OPF_DETH) {
		pkt->qkey = ur_get_be32(p);
		pkt->sqpn = ur_get_be24(p + 5);
		p += UR_DETH_BYTES;
	}
	if (flags & UR_OPF_XRCETH) {
		pkt->xrc_srqn = ur_get_be24(p + 1);
		p += UR_XRCETH_BYTES;
	}
	if (flags & UR_OPF_FETH) {
		u32 feth = ur_get_be32(p);

		pkt->flush_placement = feth & 0xf;
		pkt->flush_selectivity = (feth >> 4) & 3;
		p += UR_FETH_BYTES;
	}
	if (flags & UR_OPF_RETH) {
		pkt->va = ur_get_be64(p);
		pkt->rkey = ur_get_be32(p + 8);
		pkt->dma_bytes = ur_get_be32(p + 12);
		p += UR_RETH_BYTES;
	}
	if (flags & UR_OPF_ATOMICETH) {
		pkt->va = ur_get_be64(p);
		pkt->rkey = ur_get_be32(p + 8);
		pkt->swap_add = ur_get_be64(p + 12);
		pkt->compare = ur_get_be64(p + 20);
		p += UR_ATOMICETH_BYTES;
	}
	if (flags & UR_OPF_AETH) {
		pkt->syndrome = p[0];
		pkt->msn = ur_get_be24(p + 1);
		p += UR_AETH_BYTES;
	}
	if (flags & UR_OPF_ATOMICACKETH) {
		pkt->atomic_orig = ur_get_be64(p);
		p += UR_ATOMICACKETH_BYTES;
	}
	if (flags & UR_OPF_IMM) {
		pkt->imm = ur_get_be32(p);
		p += UR_IMMDT_BYTES;
	}
	if (flags & UR_OPF_INV) {
		pkt->inv_rkey = ur_get_be32(p);
		p += UR_IETH_BYTES;
	}
	if (flags & UR_OPF_CNP)
		p += UR_CNP_RSVD_BYTES;
	return p;
}

static enum ur_pkt_error check_payload(u32 flags, size_t rest, u32 pad)
{
	if (rest < pad)
		return UR_PKT_PAD;
	if (!(flags & UR_OPF_PAYLOAD) && rest)
		return UR_PKT_TRAILING;
	if (rest - pad > UR_MTU_MAX_BYTES)
		return UR_PKT_PAYLOAD;
	if ((flags & UR_OPF_ATOMIC_WRITE) && rest - pad != 8)
		return UR_PKT_PAYLOAD;
	return UR_PKT_OK;
}

enum ur_pkt_error ur_pkt_parse(struct ur_pkt *pkt, const u8 *bth, size_t len)
{
	const struct ur_opcode *op;
	enum ur_pkt_error error;
	u32 pad;

	if (len < UR_BTH_BYTES)
		return UR_PKT_SHORT;
	op = ur_opcode_lookup(bth[0]);
	if (!op->flags)
		return UR_PKT_OPCODE;
	if (bth[1] & UR_BTH_TVER_MASK) /* IBTA C9-6 */
		return UR_PKT_TVER;
	if (len < op->header_bytes)
		return UR_PKT_SHORT;
	if (len & 3)
		return UR_PKT_ALIGN;
	pad = (bth[1] & UR_BTH_PAD_MASK) >> UR_BTH_PAD_SHIFT;
	error = check_payload(op->flags, len - op->header_bytes, pad);
	if (error)
		return error;

	*pkt = (struct ur_pkt){
		.op = op,
		.opcode = bth[0],
		.se = bth[1] & UR_BTH_SE,
		.migreq = bth[1] & UR_BTH_MIGREQ,
		.fecn = bth[4] & UR_BTH_FECN,
		.becn = bth[4] & UR_BTH_BECN,
		.ackreq = bth[8] & UR_BTH_ACKREQ,
		.pkey = ur_get_be16(bth + 2),
		.dqpn = ur_bth_dqpn(bth),
		.psn = ur_bth_psn(bth),
		.pad = (u8)pad,
		.header_bytes = op->header_bytes,
		.payload_bytes = (u32)(len - op->header_bytes - pad),
	};
	pkt->payload = parse_headers(pkt, bth + UR_BTH_BYTES, op->flags);
	return UR_PKT_OK;
}

static u8 *build_headers(const struct ur_pkt *pkt, u8 *p, u32 flags)
{
	if (flags & UR_OPF_DETH) {
		ur_put_be32(p, pkt->qkey);
		ur_put_be32(p + 4, pkt->sqpn & UR_QPN_MASK);
		p += UR_DETH_BYTES;
	}
	if (flags & UR_OPF_XRCETH) {
		ur_put_be32(p, pkt->xrc_srqn & UR_24BIT_MASK);
		p += UR_XRCETH_BYTES;
	}
	if (flags & UR_OPF_FETH) {
		ur_put_be32(p, (pkt->flush_placement & 0xfu) |
				       (pkt->flush_selectivity & 3u) << 4);
		p += UR_FETH_BYTES;
	}
	if (flags & UR_OPF_RETH) {
		ur_put_be64(p, pkt->va);
		ur_put_be32(p + 8, pkt->rkey);
		ur_put_be32(p + 12, pkt->dma_bytes);
		p += UR_RETH_BYTES;
	}
	if (flags & UR_OPF_ATOMICETH) {
		ur_put_be64(p, pkt->va);
		ur_put_be32(p + 8, pkt->rkey);
		ur_put_be64(p + 12, pkt->swap_add);
		ur_put_be64(p + 20, pkt->compare);
		p += UR_ATOMICETH_BYTES;
	}
	if (flags & UR_OPF_AETH) {
		ur_put_be32(p, (u32)pkt->syndrome << 24 |
				       (pkt->msn & UR_MSN_MASK));
		p += UR_AETH_BYTES;
	}
	if (flags & UR_OPF_ATOMICACKETH) {
		ur_put_be64(p, pkt->atomic_orig);
		p += UR_ATOMICACKETH_BYTES;
	}
	if (flags & UR_OPF_IMM) {
		ur_put_be32(p, pkt->imm);
		p += UR_IMMDT_BYTES;
	}
	if (flags & UR_OPF_INV) {
		ur_put_be32(p, pkt->inv_rkey);
		p += UR_IETH_BYTES;
	}
	if (flags & UR_OPF_CNP) {
		memset(p, 0, UR_CNP_RSVD_BYTES);
		p += UR_CNP_RSVD_BYTES;
	}
	return p;
}

size_t ur_pkt_build(const struct ur_pkt *pkt, u8 *buf)
{
	u32 flags = ur_opcode_lookup(pkt->opcode)->flags;

	ur_bth_build(buf, pkt->opcode,
		     (u8)((pkt->se ? UR_BTH_SE : 0) |
			  (pkt->migreq ? UR_BTH_MIGREQ : 0)),
		     ur_pkt_pad(pkt->payload_bytes), pkt->pkey, pkt->dqpn,
		     pkt->ackreq, pkt->psn);
	buf[4] = (u8)((pkt->fecn ? UR_BTH_FECN : 0) |
		      (pkt->becn ? UR_BTH_BECN : 0));
	return (size_t)(build_headers(pkt, buf + UR_BTH_BYTES, flags) - buf);
}

const char *ur_pkt_error_name(enum ur_pkt_error error)
{
	static const char *const names[] = {
		[UR_PKT_OK] = "ok",
		[UR_PKT_SHORT] = "short",
		[UR_PKT_OPCODE] = "opcode",
		[UR_PKT_TVER] = "tver",
		[UR_PKT_ALIGN] = "align",
		[UR_PKT_PAD] = "pad",
		[UR_PKT_TRAILING] = "trailing",
		[UR_PKT_PAYLOAD] = "payload",
	};

	return error < UR_ARRAY_SIZE(names) ? names[error] : "?";
}
