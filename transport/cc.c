// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DCQCN (SIGCOMM 2015): the notification point sends a CNP for packets that
 * a switch has marked, and the reaction point limits the rate of a queue pair
 * that gets them. Rates in bits per second, alpha in 2^-20.
 */
#include "transport/engine.h"

#include <stdlib.h>

#define ALPHA_ONE	  (1u << 20)
#define DEFAULT_LINK_BPS  100000000000ull
#define DEFAULT_MIN_BPS	  1000000ull
#define DEFAULT_AI_BPS	  40000000ull
#define DEFAULT_HAI_BPS	  400000000ull
#define DEFAULT_G_1024	  4u /* 1/256 */
#define DEFAULT_ALPHA_NS  55000u
#define DEFAULT_TIMER_NS  55000u
#define DEFAULT_CNP_NS	  50000u
#define DEFAULT_BYTES	  10000000u
#define DEFAULT_FR_STAGES 5u
#define BURST_NS	  20000u /* may be sent at once after a pause */

struct ur_cc {
	struct ur_cc_config cfg; /* defaults filled in */
	bool limited; /* a CNP has come and the rate is below the link's */
	bool cnp_in_period;
	u64 rate, target;
	u32 alpha;
	u32 timer_stage, byte_stage;
	u64 bytes;
	ur_time alpha_at, rate_at;
	ur_time next_send; /* pacing: not before */
};

static u64 or_default(u64 v, u64 d)
{
	return v ? v : d;
}

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
			.link_bps = or_default(c->link_bps, DEFAULT_LINK_BPS),
			.min_rate_bps =
				or_default(c->min_rate_bps, DEFAULT_MIN_BPS),
			.ai_bps = or_default(c->ai_bps, DEFAULT_AI_BPS),
			.hai_bps = or_default(c->hai_bps, DEFAULT_HAI_BPS),
			.g_1024 = (u32)or_default(c->g_1024, DEFAULT_G_1024),
			.alpha_period_ns = or_default(c->alpha_period_ns,
						      DEFAULT_ALPHA_NS),
			.rate_timer_ns =
				or_default(c->rate_timer_ns, DEFAULT_TIMER_NS),
			.byte_counter =
				or_default(c->byte_counter, DEFAULT_BYTES),
			.fast_recovery_stages = (u32)or_default(
				c->fast_recovery_stages, DEFAULT_FR_STAGES)},
		.alpha = ALPHA_ONE,
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

/* ---- notification point ---- */

void ur_cc_marked(struct ur_qp *qp)
{
	struct ur_port *port = qp->port;
	u64 interval = or_default(port->cfg.cc.cnp_interval_ns, DEFAULT_CNP_NS);

	ur_count(port, UR_CNT_np_ecn_marked_roce_packets);
	if (!port->cfg.cc.enable || qp->resp.cnp_due)
		return;
	if (qp->resp.cnp_last && port->now - qp->resp.cnp_last < interval)
		return;
	qp->resp.cnp_last = port->now ? port->now : 1;
	qp->resp.cnp_due = true;
	ur_port_activate(port, qp);
}

/* ---- reaction point ---- */

static u32 gain(const struct ur_cc *cc, u32 alpha)
{
	return (u32)((u64)alpha * cc->cfg.g_1024 / 1024);
}

void ur_cc_cnp(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;
	ur_time now = qp->port->now;

	if (!cc) {
		ur_count(qp->port, UR_CNT_rp_cnp_ignored);
		return;
	}
	ur_count(qp->port, UR_CNT_rp_cnp_handled);
	cc->cnp_in_period = true;
	cc->target = cc->rate;
	cc->rate -= cc->rate * cc->alpha / (2 * ALPHA_ONE);
	if (cc->rate < cc->cfg.min_rate_bps)
		cc->rate = cc->cfg.min_rate_bps;
	cc->alpha += gain(cc, ALPHA_ONE - cc->alpha);
	cc->limited = true;
	cc->timer_stage = 0;
	cc->byte_stage = 0;
	cc->bytes = 0;
	cc->alpha_at = now + cc->cfg.alpha_period_ns;
	cc->rate_at = now + cc->cfg.rate_timer_ns;
	ur_trace(qp->port, UR_TRACE_RATE, qp->qpn, cc->rate, cc->alpha);
	ur_qp_rearm(qp);
}

static void increase(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;
	u32 f = cc->cfg.fast_recovery_stages;

	if (cc->timer_stage > f && cc->byte_stage > f)
		cc->target += cc->cfg.hai_bps;
	else if (cc->timer_stage > f || cc->byte_stage > f)
		cc->target += cc->cfg.ai_bps;
	if (cc->target > cc->cfg.link_bps)
		cc->target = cc->cfg.link_bps;
	cc->rate = (cc->rate + cc->target + 1) / 2;
	if (cc->rate >= cc->cfg.link_bps) {
		cc->limited = false;
		cc->alpha_at = UR_NEVER;
		cc->rate_at = UR_NEVER;
	}
	ur_trace(qp->port, UR_TRACE_RATE, qp->qpn, cc->rate, cc->alpha);
}

void ur_cc_sent(struct ur_qp *qp, u32 bytes)
{
	struct ur_cc *cc = qp->cc;
	ur_time now = qp->port->now;

	if (!cc || !cc->limited)
		return;
	/* A pause does not save up more than a short burst. */
	if (cc->next_send + BURST_NS < now)
		cc->next_send = now - BURST_NS;
	cc->next_send += (u64)bytes * 8 * 1000000000ull / cc->rate;
	cc->bytes += bytes;
	if (cc->bytes >= cc->cfg.byte_counter) {
		cc->bytes = 0;
		cc->byte_stage++;
		increase(qp);
	}
}

bool ur_cc_may_send(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;

	if (!cc || !cc->limited || cc->next_send <= qp->port->now)
		return true;
	ur_port_arm(qp->port, qp, cc->next_send);
	return false;
}

ur_time ur_cc_deadline(const struct ur_qp *qp)
{
	const struct ur_cc *cc = qp->cc;

	if (!cc || !cc->limited)
		return UR_NEVER;
	return ur_min_u64(ur_min_u64(cc->alpha_at, cc->rate_at),
			  cc->next_send > qp->port->now ? cc->next_send
							: UR_NEVER);
}

void ur_cc_expire(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;
	ur_time now = qp->port->now;

	if (!cc || !cc->limited)
		return;
	if (cc->alpha_at <= now) {
		if (!cc->cnp_in_period)
			cc->alpha -= gain(cc, cc->alpha);
		cc->cnp_in_period = false;
		cc->alpha_at = now + cc->cfg.alpha_period_ns;
	}
	if (cc->rate_at <= now) {
		cc->timer_stage++;
		cc->rate_at = now + cc->cfg.rate_timer_ns;
		increase(qp);
	}
	if (cc->next_send <= now)
		ur_port_activate(qp->port, qp);
}
