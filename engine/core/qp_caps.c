// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The sizes of a queue pair's queues: what is granted for what was asked, and the bytes
 * of a work request. */
#include <errno.h>
#include "engine/engine.h"
#include "engine/core/qp_caps.h"
#include "engine/ground/limits.h"
#include "kernel-abi/uroce-ring.h"

static bool has_av(enum ur_qp_type type)
{
	return type == UR_QPT_UD || type == UR_QPT_XRC_INI;
}

/* Returns the bytes before data segments or inline data in a WQE. */
static u32 wqe_head_bytes(enum ur_qp_type type)
{
	u32 head = sizeof(struct uroce_wqe_ctrl);

	if (has_av(type))
		head += sizeof(struct uroce_wqe_av);
	if (type != UR_QPT_UD)
		head += sizeof(struct uroce_wqe_raddr);
	return head;
}

/* Bytes of the longest WQE of a queue pair with these capabilities. */
static u32 max_wqe_bytes(enum ur_qp_type type, const struct ur_qp_caps *caps)
{
	u32 sges = caps->max_send_sge * (u32)sizeof(struct uroce_wqe_data);
	u32 inl = (u32)ur_align_up(
		sizeof(struct uroce_wqe_inline) + caps->max_inline, 16);
	u32 tail;

	tail = sges > inl ? sges : inl;
	/* an atomic has one data segment, a bind none */
	if (type != UR_QPT_UD && tail < sizeof(struct uroce_wqe_masked_atomic) +
						 sizeof(struct uroce_wqe_data))
		tail = sizeof(struct uroce_wqe_masked_atomic) +
		       sizeof(struct uroce_wqe_data);
	return wqe_head_bytes(type) + tail;
}

static u32 wqe_bbs(enum ur_qp_type type, const struct ur_qp_caps *caps)
{
	return (max_wqe_bytes(type, caps) + UROCE_SQ_BB - 1) / UROCE_SQ_BB;
}

u32 ur_sq_bbs(enum ur_qp_type type, const struct ur_qp_caps *caps)
{
	return caps->max_send_wr && type != UR_QPT_XRC_TGT
		       ? ur_roundup_pow2(wqe_bbs(type, caps) *
					 caps->max_send_wr)
		       : 0;
}

bool ur_qp_has_rq(enum ur_qp_type type, bool has_srq,
		  const struct ur_qp_caps *caps)
{
	return caps->max_recv_wr && !has_srq && type != UR_QPT_XRC_TGT &&
	       type != UR_QPT_XRC_INI;
}

u32 ur_recv_stride(u32 max_sge)
{
	return ur_roundup_pow2((u32)(sizeof(struct uroce_recv_wqe) +
				     max_sge * sizeof(struct uroce_wqe_data)));
}

int ur_qp_caps_grant(enum ur_qp_type type, bool has_srq,
		     struct ur_qp_caps *caps)
{
	u64 bytes;

	if (caps->max_send_wr && !caps->max_send_sge)
		caps->max_send_sge = 1;
	if (caps->max_recv_wr && !caps->max_recv_sge)
		caps->max_recv_sge = 1;
	if (caps->max_send_wr > UR_MAX_QP_WR ||
	    caps->max_recv_wr > UR_MAX_QP_WR ||
	    caps->max_send_sge > UR_MAX_SGE ||
	    caps->max_recv_sge > UR_MAX_SGE ||
	    caps->max_inline > UROCE_MAX_INLINE)
		return -EINVAL;
	/* Grant all that fits, as other devices do: some programs send inline
	 * without having asked. */
	if (caps->max_send_wr && type != UR_QPT_XRC_TGT)
		caps->max_inline =
			ur_min_u32(wqe_bbs(type, caps) * UROCE_SQ_BB -
					   wqe_head_bytes(type) -
					   (u32)sizeof(struct uroce_wqe_inline),
				   UROCE_MAX_INLINE);
	bytes = 2 * sizeof(struct uroce_ring_hdr) +
		(u64)ur_sq_bbs(type, caps) * UROCE_SQ_BB;
	if (ur_qp_has_rq(type, has_srq, caps))
		bytes += (u64)ur_roundup_pow2(caps->max_recv_wr) *
			 ur_recv_stride(caps->max_recv_sge);
	return bytes > UINT32_MAX ? -EINVAL : 0;
}
