/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How tests connect queue pairs by hand: the attributes that ibv_modify_qp(3)
 * asks for on the way from RESET to RTS, by type. A test that wants others sets
 * them in the result of pair_attr(), before a step or between two.
 */
#ifndef UR_TESTS_VERBS_PAIR_H
#define UR_TESTS_VERBS_PAIR_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Returns the attributes of one with the peer at gid whose number is dest. For
 * a datagram queue pair, which has none, both are NULL and 0. */
static inline struct ibv_qp_attr pair_attr(const union ibv_gid *gid,
					   uint32_t dest)
{
	struct ibv_qp_attr attr = {
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.hop_limit = 64}},
	};

	if (gid)
		attr.ah_attr.grh.dgid = *gid;
	return attr;
}

/* Moves it to that state, the next one. Returns what ibv_modify_qp() does.
 * XRC's halves take all attributes of RC, as from perftest. */
static inline int pair_to(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			  enum ibv_qp_state state)
{
	bool ud = qp->qp_type == IBV_QPT_UD;
	bool rc = !ud && qp->qp_type != IBV_QPT_UC;
	int mask = IBV_QP_STATE;

	attr->qp_state = state;
	switch (state) {
	case IBV_QPS_INIT:
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			(ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
		break;
	case IBV_QPS_RTR:
		if (!ud)
			mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				IBV_QP_RQ_PSN;
		if (rc)
			mask |= IBV_QP_MAX_DEST_RD_ATOMIC |
				IBV_QP_MIN_RNR_TIMER;
		break;
	case IBV_QPS_RTS:
		mask |= IBV_QP_SQ_PSN;
		if (rc)
			mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		break;
	default:
		break;
	}
	return ibv_modify_qp(qp, attr, mask);
}

/* From RESET to RTS. Returns 0 or what ibv_modify_qp() did. */
static inline int pair_connect(struct ibv_qp *qp, struct ibv_qp_attr *attr)
{
	int err = pair_to(qp, attr, IBV_QPS_INIT);

	if (!err)
		err = pair_to(qp, attr, IBV_QPS_RTR);
	return err ? err : pair_to(qp, attr, IBV_QPS_RTS);
}

#endif
