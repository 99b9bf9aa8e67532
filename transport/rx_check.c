// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Classifies a request of RC or XRC: the checks of IBTA volume 1, 9.7.4.1, in
 * their order. Each of them only reads. */
#include "transport/internal.h"

/* Each runs once per request. ur_rx_check_reason() calls them again for a
 * refused one, which must not stop their inlining. */
#define ONCE static inline __attribute__((always_inline)) enum ur_verdict

/* 9.7.4.1.1: is the packet expected, a duplicate, or ahead? */
static enum ur_verdict check_psn(const struct ur_qp *qp,
				 const struct ur_pkt *pkt)
{
	s32 d = ur_psn_diff(pkt->psn, qp->resp.epsn);

	return d == 0  ? UR_VERDICT_ACCEPT
	       : d < 0 ? UR_VERDICT_DUPLICATE
		       : UR_VERDICT_NAK_SEQ;
}

/* 9.7.4.1.2: does the opcode continue the last packet? */
ONCE check_sequence(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	bool good;

	switch (qp->resp.msg) {
	case UR_RX_SEND:
		good = (flags & UR_OPF_SEND) && !(flags & UR_OPF_START);
		break;
	case UR_RX_WRITE:
		good = (flags & UR_OPF_WRITE) && !(flags & UR_OPF_START);
		break;
	default:
		good = flags & UR_OPF_START;
	}
	return good ? UR_VERDICT_ACCEPT : UR_VERDICT_NAK_INVALID;
}

bool ur_rx_check_allows(const struct ur_qp *qp, u32 flags, u8 placement)
{
	u32 need = ur_access_needed(flags, placement);

	/* The region decides on flush rights; the queue pair has these bits
	 * only where verbs can express them. */
	need &= UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_READ |
		UR_ACCESS_REMOTE_ATOMIC;
	return !(need & ~qp->attr.access);
}

/* 9.7.4.1.3: is the operation one that this queue pair supports? */
ONCE check_operation(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (!(flags & UR_OPF_REQUEST))
		return UR_VERDICT_DROP;
	if ((flags & UR_OPF_START) &&
	    !ur_rx_check_allows(qp, flags, pkt->flush_placement))
		return UR_VERDICT_NAK_INVALID;
	if ((flags & UR_OPF_FLUSH) &&
	    (!(pkt->flush_placement & (UR_FETH_GLOBAL | UR_FETH_PERSISTENT)) ||
	     pkt->flush_selectivity > UR_FETH_SEL_MR))
		return UR_VERDICT_NAK_INVALID;
	return UR_VERDICT_ACCEPT;
}

/* 9.7.4.1.6: payload against path MTU and position in the message. */
ONCE check_length(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	const struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags, n = pkt->payload_bytes, length;

	if (!(flags & (UR_OPF_SEND | UR_OPF_WRITE)))
		return (flags & UR_OPF_RETH) &&
				       pkt->dma_bytes > UR_MAX_MSG_BYTES
			       ? UR_VERDICT_NAK_INVALID
			       : UR_VERDICT_ACCEPT;
	if ((flags & (UR_OPF_FIRST | UR_OPF_MIDDLE)) && n != qp->mtu)
		return UR_VERDICT_NAK_INVALID;
	if ((flags & UR_OPF_LAST) && (n == 0 || n > qp->mtu))
		return UR_VERDICT_NAK_INVALID;
	if ((flags & UR_OPF_ONLY) && n > qp->mtu)
		return UR_VERDICT_NAK_INVALID;
	if (flags & UR_OPF_SEND)
		return UR_VERDICT_ACCEPT;
	/* C9-93: the payloads of a WRITE add up to its DMA length. */
	length = flags & UR_OPF_START ? pkt->dma_bytes : resp->length;
	if (length > UR_MAX_MSG_BYTES)
		return UR_VERDICT_NAK_INVALID;
	length -= flags & UR_OPF_START ? 0 : resp->offset;
	if (flags & UR_OPF_END ? n != length : n >= length)
		return UR_VERDICT_NAK_INVALID;
	return UR_VERDICT_ACCEPT;
}

/* 9.7.4.1.4: responder resources for READ and atomic. */
ONCE check_resources(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	if ((pkt->op->flags & UR_OPF_OWN_ANSWER) && !ur_replay_free(qp))
		return UR_VERDICT_NAK_INVALID;
	return UR_VERDICT_ACCEPT;
}

/* 9.7.4.1.5: key, range and rights of the remote memory. */
ONCE check_memory(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	u64 len = flags & UR_OPF_ATOMIC ? 8 : pkt->dma_bytes;
	struct ur_span span;

	if (!(flags & (UR_OPF_RETH | UR_OPF_ATOMICETH)))
		return UR_VERDICT_ACCEPT;
	if ((flags & (UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE)) && (pkt->va & 7))
		return UR_VERDICT_NAK_INVALID; /* C9-98 */
	if (flags & UR_OPF_FLUSH)
		return ur_mem_flushed(qp, pkt->rkey, pkt->va, len,
				      pkt->flush_placement,
				      pkt->flush_selectivity, &span)
			       ? UR_VERDICT_ACCEPT
			       : UR_VERDICT_NAK_ACCESS;
	if (!len)
		return UR_VERDICT_ACCEPT; /* C9-88: the key is not looked at */
	if (!ur_mem_remote(qp, pkt->rkey, pkt->va, len,
			   ur_access_needed(flags, 0), &span))
		return UR_VERDICT_NAK_ACCESS;
	return UR_VERDICT_ACCEPT;
}

enum ur_verdict ur_rx_check(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	enum ur_verdict v;

	v = check_psn(qp, pkt);
	if (!v)
		v = check_sequence(qp, pkt);
	if (!v)
		v = check_operation(qp, pkt);
	if (!v)
		v = check_resources(qp, pkt);
	if (!v)
		v = check_length(qp, pkt);
	if (!v)
		v = check_memory(qp, pkt);
	return v;
}

__attribute__((cold)) enum ur_reason
ur_rx_check_reason(const struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (check_sequence(qp, pkt))
		return UR_REASON_ORDER;
	if (check_operation(qp, pkt))
		return ur_rx_check_allows(qp, flags, pkt->flush_placement)
			       ? UR_REASON_NONE
			       : UR_REASON_QP_RIGHTS;
	if (check_resources(qp, pkt))
		return UR_REASON_RESOURCES;
	if (check_length(qp, pkt))
		return UR_REASON_PACKET;
	if (check_memory(qp, pkt))
		return (flags & (UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE)) &&
				       (pkt->va & 7)
			       ? UR_REASON_ALIGN
			       : UR_REASON_MEMORY;
	return UR_REASON_NONE;
}
