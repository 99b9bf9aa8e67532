// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * DCQCN (SIGCOMM 2015): the notification point sends a CNP for packets that
 * a switch has marked, and the reaction point limits the rate of a queue pair
 * that gets them. Rates in bits per second, alpha in 2^-20.
 */
#include "transport/cc.h"
#include "transport/internal.h"

#define BURST_NS 20000u /* time that may be sent at once after a pause */
/* The same for the program's rate limit: as long as the host may oversleep. */
#define CAP_BURST_NS 500000u

/* Returns whether the mask contains the queue pair's service level. */
static bool off(u8 mask, const struct ur_qp *qp)
{
	return qp->attr.av && mask >> (qp->attr.av->sl & 7) & 1;
}

/* ---- notification point ---- */

void ur_cc_marked(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_port *port = qp->port;
	u64 interval = port->cc.cnp_interval_ns;

	ur_count(port, UR_CNT_np_ecn_marked_roce_packets);
	if ((pkt->op->flags & UR_OPF_RESPONSE) && pkt->payload_bytes)
		ur_path_marked(qp);
	if (qp->resp.cnp_due || off(port->cc.np_off, qp))
		return;
	if (qp->resp.cnp_last && port->now - qp->resp.cnp_last < interval)
		return;
	qp->resp.cnp_last = port->now ? port->now : 1;
	qp->resp.cnp_due = true;
	ur_port_activate(port, qp);
}

const struct ur_av *ur_cc_cnp_av(struct ur_qp *qp)
{
	const struct ur_cc_config *c = &qp->port->cc;
	struct ur_av *av = qp->cnp_av;
	u8 traffic_class;

	if (qp->svc == UR_SVC_UD)
		return av;
	if (!c->cnp_class || !av)
		return qp->attr.av;
	/* Must be ECT, since a congested queue may drop other packets. */
	traffic_class = c->cnp_traffic_class | qp->attr.av->ecn;
	av->hop_limit = qp->attr.av->hop_limit;
	if (av->traffic_class != traffic_class || av->sl != c->cnp_sl) {
		av->traffic_class = traffic_class;
		av->sl = c->cnp_sl;
		av->wire = 0; /* route of another socket */
	}
	return av;
}

/* ---- reaction point ---- */

static u32 gain(const struct ur_cc *cc, u32 alpha)
{
	return (u32)((u64)alpha * cc->cfg->g_1024 / 1024);
}

static void decrease(struct ur_cc *cc)
{
	const struct ur_cc_config *c = cc->cfg;
	/* alpha is in 2^-20; 2^(gd - 10) is 1 or 2. */
	u64 cut = cc->rate * cc->alpha / (UR_CC_ALPHA_ONE << (c->gd - 10));
	u64 least = cc->rate * c->min_dec_pct / 100;

	if (!c->keep_target || cc->increased || !cc->limited)
		cc->target = cc->rate;
	if (!cc->limited && c->first_bps) {
		cc->rate = ur_min_u64(c->first_bps, cc->rate);
		cc->target = cc->rate;
	} else {
		cc->rate -= cut;
		if (cc->rate < least)
			cc->rate = least;
	}
	if (cc->rate < c->min_rate_bps)
		cc->rate = c->min_rate_bps;
	cc->increased = false;
}

/* Returns whether CNPs limit the queue pair's rate. */
static bool limits(const struct ur_qp *qp)
{
	const struct ur_cc_config *c = &qp->port->cc;

	if (c->windowless && ur_cc_is_windowless(qp))
		return true;
	return c->enable && !off(c->rp_off, qp);
}

void ur_cc_cnp(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;
	ur_time now = qp->port->now;

	ur_qp_marks_answered(qp);
	if (!cc || !limits(qp)) {
		ur_count(qp->port, ur_path_cnp(qp) ? UR_CNT_rp_cnp_handled
						   : UR_CNT_rp_cnp_ignored);
		return;
	}
	ur_count(qp->port, UR_CNT_rp_cnp_handled);
	cc->cnp_in_period = true;
	if (cc->limited && cc->heeded && now - cc->heeded < cc->cfg->monitor_ns)
		return;
	cc->heeded = now ? now : 1;
	decrease(cc);
	cc->alpha += gain(cc, UR_CC_ALPHA_ONE - cc->alpha);
	cc->limited = true;
	cc->timer_stage = 0;
	cc->byte_stage = 0;
	cc->bytes = 0;
	cc->alpha_at = now + cc->cfg->alpha_period_ns;
	cc->rate_at = now + cc->cfg->rate_timer_ns;
	ur_trace(qp->port, UR_TRACE_RATE, qp->qpn, cc->rate, cc->alpha);
	ur_qp_rearm(qp);
}

/*
 * Recomputes the wait for what was sent, at the present rate. Otherwise a
 * packet that left at the lowest rate would delay its successors by
 * milliseconds although the rate has grown a hundredfold. The factor is in
 * steps of 1/1024, rounded up, so that nothing overflows.
 */
static void shorten(ur_time *next, ur_time now, u64 old, u64 bps)
{
	if (*next > now && old < bps)
		*next = now + (*next - now) * (old * 1024 / bps + 1) / 1024;
}

static void increase(struct ur_qp *qp, bool by_time)
{
	struct ur_cc *cc = qp->cc;
	u32 f = cc->cfg->fast_recovery_stages;
	u64 old = cc->rate;

	cc->increased = !by_time || !cc->cfg->keep_time;
	if (cc->timer_stage > f && cc->byte_stage > f)
		cc->target += cc->cfg->hai_bps;
	else if (cc->timer_stage > f || cc->byte_stage > f)
		cc->target += cc->cfg->ai_bps;
	if (cc->target > cc->cfg->link_bps)
		cc->target = cc->cfg->link_bps;
	cc->rate = (cc->rate + cc->target + 1) / 2;
	shorten(&cc->next_send, qp->port->now, old, cc->rate);
	if (cc->rate >= cc->cfg->link_bps) {
		cc->limited = false;
		cc->alpha_at = UR_NEVER;
		cc->rate_at = UR_NEVER;
	}
	ur_trace(qp->port, UR_TRACE_RATE, qp->qpn, cc->rate, cc->alpha);
}

/* A pause saves up at most a short burst. */
static void charge(ur_time *next, ur_time now, u32 burst_ns, u32 bytes, u64 bps)
{
	if (*next + burst_ns < now)
		*next = now - burst_ns;
	*next += (u64)bytes * 8 * 1000000000ull / bps;
}

void ur_cc_sent(struct ur_qp *qp, u32 bytes)
{
	struct ur_cc *cc = qp->cc;
	ur_time now = qp->port->now;

	if (!cc)
		return;
	if (cc->cap_bps)
		charge(&cc->cap_next, now, CAP_BURST_NS, bytes, cc->cap_bps);
	if (!cc->limited)
		return;
	charge(&cc->next_send, now, BURST_NS, bytes, cc->rate);
	cc->bytes += bytes;
	if (cc->bytes >= cc->cfg->byte_counter) {
		cc->bytes = 0;
		cc->byte_stage++;
		increase(qp, false);
	}
}

bool ur_cc_may_send(struct ur_qp *qp)
{
	const struct ur_cc *cc = qp->cc;
	ur_time at = ur_cc_next(cc);

	if (at <= qp->port->now)
		return true;
	ur_port_arm(qp->port, qp, at);
	return false;
}

bool ur_cc_yields(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;

	if (!cc->answered || (!cc->limited && !cc->cap_bps))
		return false;
	cc->answered = false;
	return true;
}

void ur_cc_expire(struct ur_qp *qp)
{
	struct ur_cc *cc = qp->cc;
	ur_time now = qp->port->now;

	if (!cc)
		return;
	if (cc->cap_bps && ur_cc_next(cc) <= now)
		ur_port_activate(qp->port, qp);
	if (!cc->limited)
		return;
	if (cc->alpha_at <= now) {
		if (!cc->cnp_in_period)
			cc->alpha -= gain(cc, cc->alpha);
		cc->cnp_in_period = false;
		cc->alpha_at = now + cc->cfg->alpha_period_ns;
	}
	if (cc->rate_at <= now) {
		cc->timer_stage++;
		cc->rate_at = now + cc->cfg->rate_timer_ns;
		increase(qp, true);
	}
	if (cc->next_send <= now)
		ur_port_activate(qp->port, qp);
}
