// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* DCQCN of one queue pair: its memory, and the settings with their defaults. */
#include "transport/cc.h"
#include "transport/internal.h"

#include <stdlib.h>

#define DEFAULT_LINK_BPS  100000000000ull
#define DEFAULT_MIN_BPS	  1000000ull
#define DEFAULT_AI_BPS	  40000000ull
#define DEFAULT_HAI_BPS	  400000000ull
#define DEFAULT_G_1024	  4u /* 1/256 */
#define DEFAULT_ALPHA_NS  55000u
#define DEFAULT_TIMER_NS  55000u
#define DEFAULT_BYTES	  10000000u
#define DEFAULT_FR_STAGES 5u

void ur_cc_init(struct ur_qp *qp)
{
	const struct ur_cc_config *c = &qp->port->cfg.cc;
	struct ur_cc *cc = qp->cc;

	if (!c->enable || qp->svc == UR_SVC_UD)
		return;
	if (!cc)
		cc = qp->cc = malloc(sizeof(*cc));
	if (!cc)
		return; /* unlimited */
	*cc = (struct ur_cc){
		.cfg = {.enable = true,
			.link_bps =
				ur_cc_or_default(c->link_bps, DEFAULT_LINK_BPS),
			.min_rate_bps = ur_cc_or_default(c->min_rate_bps,
							 DEFAULT_MIN_BPS),
			.ai_bps = ur_cc_or_default(c->ai_bps, DEFAULT_AI_BPS),
			.hai_bps =
				ur_cc_or_default(c->hai_bps, DEFAULT_HAI_BPS),
			.g_1024 = (u32)ur_cc_or_default(c->g_1024,
							DEFAULT_G_1024),
			.alpha_period_ns = ur_cc_or_default(c->alpha_period_ns,
							    DEFAULT_ALPHA_NS),
			.rate_timer_ns = ur_cc_or_default(c->rate_timer_ns,
							  DEFAULT_TIMER_NS),
			.byte_counter = ur_cc_or_default(c->byte_counter,
							 DEFAULT_BYTES),
			.fast_recovery_stages = (u32)ur_cc_or_default(
				c->fast_recovery_stages, DEFAULT_FR_STAGES)},
		.alpha = UR_CC_ALPHA_ONE,
		.alpha_at = UR_NEVER,
		.rate_at = UR_NEVER,
	};
	cc->rate = cc->target = cc->cfg.link_bps;
}

void ur_cc_fini(struct ur_qp *qp)
{
	free(qp->cc);
	qp->cc = NULL;
}
