// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Acts on expired timers of repetition. */
#include "transport/retry.h"

#define PROBE_SINGLE 4 /* the first probes repeat single packets */

/*
 * Returns whether the timeout is put off, as far as IBTA allows: the peer has packets in memory
 * that it has not read, since it waits for a processor. No card is so slow, and nothing is
 * lost.
 */
static bool is_put_off(struct ur_qp *qp)
{
	const struct ur_port_config *cfg = &qp->port->cfg;
	struct ur_requester *req = &qp->req;
	u64 most = UR_TIMEOUT_MOST * qp->ack_ns;

	if (!cfg->ops->unread ||
	    ur_retry_timeout_ns(qp) + (req->late + 1) * qp->ack_ns > most ||
	    !cfg->ops->unread(cfg->ctx, qp->attr.av, qp->attr.dest_qpn))
		return false;
	req->late++;
	req->timeout_at = qp->port->now + qp->ack_ns;
	return true;
}

static void time_out(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	req->late = 0;
	ur_count(qp->port, UR_CNT_local_ack_timeout_err);
	ur_qp_count(qp, UR_QP_CNT_timeouts, 1);
	ur_trace(qp->port, UR_TRACE_TIMEOUT, qp->qpn,
		 qp->attr.retry_cnt - req->retries, req->una);
	if (!ur_retry_use(qp, false))
		return;
	ur_retry_lost(qp, 1, true);
	req->asked_again = req->asked_in_vain = false;
	/* One packet is enough: a peer that is slow would need this long for
	 * each packet of a window, and one that lost all of them reports that
	 * for the first. */
	ur_retry_ask(qp, true);
	ur_retry_start_timers(qp);
}

void ur_retry_expire(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	ur_time now = qp->port->now;

	if (req->rnr_until && req->rnr_until <= now) {
		req->rnr_until = 0;
		ur_port_activate(qp->port, qp);
	}
	if (qp->share.held && ur_inflight(req) == 0 && ur_path_waits(qp)) {
		/* Nothing is in flight that could be answered. */
		if (req->timeout_at <= now || req->probe_at <= now)
			ur_retry_start_timers(qp);
	} else if (req->timeout_at <= now) {
		if (!is_put_off(qp))
			time_out(qp);
	} else if (req->probe_at <= now && qp->share.held &&
		   ur_path_is_probed(qp)) {
		req->probe_at = now + ur_retry_probe_ns(qp);
	} else if (req->probe_at <= now) {
		req->asked_again = req->asked_in_vain = false;
		ur_trace(qp->port, UR_TRACE_PROBE, qp->qpn,
			 ur_retry_probe_ns(qp), req->una);
		ur_count(qp->port, UR_CNT_roce_adp_retrans);
		ur_retry_count(qp);
		if (qp->share.held)
			ur_path_late(qp);
		req->probes++;
		/* One packet asks as well as all of them, and costs nothing
		 * where the peer is only slow. */
		ur_retry_ask(qp, req->probes <= PROBE_SINGLE);
		req->probe_at = req->probes >= UR_PROBE_MAX
					? UR_NEVER
					: now + ur_retry_probe_ns(qp);
	}
}
