// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rate limits of one queue pair: their memory, and DCQCN's settings with
 * their defaults. */
#include "transport/cc.h"
#include "transport/internal.h"

#include <errno.h>
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
#define DEFAULT_CNP_NS	  50000u
#define DEFAULT_GD	  11u

void ur_port_set_cc(struct ur_port *port, const struct ur_cc_config *config)
{
	struct ur_cc_config *c = &port->cc;

	*c = *config;
	c->link_bps = ur_cc_or_default(c->link_bps, DEFAULT_LINK_BPS);
	c->min_rate_bps = ur_cc_or_default(c->min_rate_bps, DEFAULT_MIN_BPS);
	c->ai_bps = ur_cc_or_default(c->ai_bps, DEFAULT_AI_BPS);
	c->hai_bps = ur_cc_or_default(c->hai_bps, DEFAULT_HAI_BPS);
	c->g_1024 = (u32)ur_cc_or_default(c->g_1024, DEFAULT_G_1024);
	c->alpha_period_ns =
		ur_cc_or_default(c->alpha_period_ns, DEFAULT_ALPHA_NS);
	c->rate_timer_ns = ur_cc_or_default(c->rate_timer_ns, DEFAULT_TIMER_NS);
	c->cnp_interval_ns =
		ur_cc_or_default(c->cnp_interval_ns, DEFAULT_CNP_NS);
	c->byte_counter = ur_cc_or_default(c->byte_counter, DEFAULT_BYTES);
	c->fast_recovery_stages = (u32)ur_cc_or_default(c->fast_recovery_stages,
							DEFAULT_FR_STAGES);
	c->initial_alpha_1024 =
		(u32)ur_cc_or_default(c->initial_alpha_1024, 1024);
	c->gd = (u32)ur_cc_or_default(c->gd, DEFAULT_GD);
}

/* Allocated, since a packet that waits for room may hold the address vector
 * beyond the queue pair's life. */
static void init_cnp_av(struct ur_qp *qp)
{
	struct ur_av *av;

	ur_av_put(qp->cnp_av);
	qp->cnp_av = NULL;
	if (qp->svc != UR_SVC_UD && (!qp->port->cc.cnp_class || !qp->attr.av))
		return;
	av = calloc(1, sizeof(*av));
	if (!av)
		return;
	if (qp->svc != UR_SVC_UD)
		*av = *qp->attr.av;
	av->refs = 1;
	av->wire = 0;
	qp->cnp_av = av;
}

static void start(struct ur_qp *qp, struct ur_cc *cc)
{
	const struct ur_cc_config *c = &qp->port->cc;

	*cc = (struct ur_cc){
		.cfg = c,
		.alpha = c->initial_alpha_1024 * (UR_CC_ALPHA_ONE / 1024),
		.alpha_at = UR_NEVER,
		.rate_at = UR_NEVER,
	};
	cc->rate = cc->target = c->link_bps;
	qp->cc = cc;
	ur_cc_cap(qp);
}

static bool has_limiter(const struct ur_qp *qp)
{
	const struct ur_cc_config *c = &qp->port->cc;

	if (c->windowless && ur_cc_is_windowless(qp))
		return true;
	return c->enable && qp->svc != UR_SVC_UD;
}

void ur_cc_init(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;

	if (qp->svc == UR_SVC_RAW)
		return;
	init_cnp_av(qp);
	if (!has_limiter(qp))
		return;
	if (!cc)
		cc = malloc(sizeof(*cc));
	if (cc) /* else the rate is unlimited */
		start(qp, cc);
}

int ur_cc_reserve(struct ur_qp *qp)
{
	struct ur_cc *cc;

	if (qp->cc)
		return 0;
	cc = malloc(sizeof(*cc));
	if (!cc)
		return -ENOMEM;
	start(qp, cc);
	return 0;
}

void ur_cc_cap(struct ur_qp *qp)
{
	u64 asked = qp->attr.rate_limit * 1000ull, path = qp->attr.static_bps;

	if (qp->cc)
		qp->cc->cap_bps =
			asked && path ? ur_min_u64(asked, path) : asked | path;
}

void ur_cc_fini(struct ur_qp *qp)
{
	free(qp->cc);
	qp->cc = NULL;
	ur_av_put(qp->cnp_av);
	qp->cnp_av = NULL;
}
