/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Raw packets in a context whose engine is in this process: a part of ectx.h, whose rules hold. */
#ifndef UR_PROVIDERS_UROCE_RAW_ECTX_RAW_H
#define UR_PROVIDERS_UROCE_RAW_ECTX_RAW_H

#include "providers/uroce/ectx.h"

#if UROCE_WITH_RAW_PACKET
/* raw/ectx_raw.c: gets the packet sockets, where the engine has none yet. Returns 0 or an errno. */
int ur_ectx_use_raw(struct uroce_context *ctx);
/* Fills *rss, and wq, which has room for the table, in the engine's form. */
void ur_ectx_spread(const struct uroce_spread *spread,
		    struct uroce_eqp_rss *rss, struct uroce_eqp **wq);
/* Do the same for work queues as ur_ectx_place_qp() and its kin for queue
 * pairs. */
int ur_ectx_place_wq(struct uroce_context *ctx, struct uroce_wq *wq,
		     const struct ibv_pd *pd);
int ur_ectx_create_wq(struct uroce_context *ctx, struct uroce_wq *wq,
		      const struct ibv_wq_init_attr *attr,
		      struct uroce_create_qp_resp *resp);
int ur_ectx_modify_wq(struct uroce_wq *wq, enum ibv_wq_state state);
/* Create the rule in the engine, with counters or NULL, after the device did;
 * and destroy it there. */
int ur_ectx_create_flow(struct uroce_qp *qp, struct uroce_flow *flow,
			struct uroce_counters *counters);
void ur_ectx_destroy_flow(struct uroce_context *ctx, struct uroce_flow *flow);
/* raw/ectx_raw_renew.c: renew objects as ectx_renew.c does; ur_ectx_renew_wqs() all queues of
 * the table. */
int ur_ectx_renew_wq(struct uroce_wq *wq);
int ur_ectx_renew_wqs(struct uroce_rwq_table *table);
int ur_ectx_renew_table(struct uroce_rwq_table *table);
int ur_ectx_renew_counters(struct uroce_counters *counters);
#else
static inline int ur_ectx_use_raw(struct uroce_context *ctx)
{
	return EOPNOTSUPP;
}
static inline void ur_ectx_spread(const struct uroce_spread *spread,
				  struct uroce_eqp_rss *rss,
				  struct uroce_eqp **wq)
{
}
static inline int ur_ectx_renew_table(struct uroce_rwq_table *table)
{
	return 0;
}
#endif

#endif
