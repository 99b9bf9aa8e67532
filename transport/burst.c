// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bursts: their largest size, the size of the unfinished one, and the packets
 * that complete it.
 */
#include "transport/internal.h"

#define READ_LEAST 4
/* Longer requests have fewer bursts of three packets or one; 1 MiB is one request. After a loss
 * they are shorter, since the rest of the lost packet's request comes twice. */
#define READ_LONG_PKTS	1088
#define READ_LONG_BYTES (READ_LONG_PKTS << 10)

/*
 * Returns the length of a READ request of about that many packets. The first and the last packet of
 * an answer carry an AETH. So the last packet of an answer and the first two of the next form a
 * burst by themselves; the other bursts should be full.
 */
static u32 read_of(const struct ur_qp *qp, u32 about)
{
	u32 full = qp->burst ? (about - 3 + qp->burst / 2) / qp->burst : 0;

	return full ? full * qp->burst + 3 : about;
}

void ur_burst_set_mtu(struct ur_qp *qp)
{
	const struct ur_port_config *cfg = &qp->port->cfg;
	u32 bytes = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES;
	u32 pkts = ur_min_u32(cfg->burst_pkts, cfg->burst_bytes / bytes);

	qp->burst = pkts > 1 ? pkts : 0;
	qp->read_pkts = qp->read_most = read_of(qp, UR_READ_PKTS);
	pkts = ur_min_u32(READ_LONG_PKTS, READ_LONG_BYTES >> qp->mtu_shift);
	qp->read_long = pkts > UR_READ_PKTS ? read_of(qp, pkts) : qp->read_most;
}

/* Returns about so many packets, or the present length while that is near. */
static u32 wanted_read(const struct ur_qp *qp, u32 about)
{
	u32 have = qp->read_pkts;

	if (about == UINT32_MAX)
		return qp->port->now - qp->req.lost_at < UR_CALM_NS
			       ? qp->read_most
			       : qp->read_long;
	if (have <= about + about / 3 &&
	    (have == qp->read_most || have >= about - about / 5))
		return have;
	about = about > READ_LEAST ? about : READ_LEAST;
	return ur_min_u32(about, qp->read_most);
}

/* Returns the number of requests of the entry from packet i on, where a request
 * begins. */
static u32 requests(const struct ur_swqe *e, u32 i, u32 each)
{
	return (e->npkts + each - 1) / each - i / each;
}

bool ur_burst_fit_read(struct ur_qp *qp, struct ur_swqe *e, u32 about)
{
	struct ur_requester *req = &qp->req;
	u32 want = wanted_read(qp, about), i = ur_psn_sub(req->tx_psn, e->psn);

	if (want == qp->read_pkts)
		return true;
	if (req->una != req->max_psn)
		/* repetitions keep their length */
		return req->tx_psn != req->max_psn;
	req->ssn = ur_psn_add(req->ssn,
			      (int)requests(e, i, want) -
				      (int)requests(e, i, qp->read_pkts));
	e->ssn = req->ssn;
	qp->read_pkts = want;
	return true;
}

void ur_burst_count(struct ur_tx *tx, u32 n)
{
	const struct ur_tx_desc *d;

	if (!n)
		return;
	d = &tx->desc[tx->n_desc - n];
	if (tx->n_desc == n || !tx->burst || d->av != d[-1].av ||
	    d->len > d[-1].len)
		tx->burst = n;
	else if (d->len < d[-1].len)
		tx->burst = n - 1; /* a shorter packet ends a burst */
	else
		tx->burst += n;
}

u32 ur_burst_open(const struct ur_qp *qp, const struct ur_tx *tx)
{
	u32 len = UR_BTH_BYTES + qp->mtu;
	const struct ur_tx_desc *d;

	if (!qp->burst || !tx->n_desc || !tx->burst)
		return 0;
	d = &tx->desc[tx->n_desc - 1];
	if (d->av != qp->attr.av || d->len < len)
		return 0;
	/* Behind a longer packet one more fits. */
	return d->len > len ? qp->burst - 1 : tx->burst % qp->burst;
}

u32 ur_burst_whole(const struct ur_qp *qp, u32 open, u32 n)
{
	u32 over = qp->burst ? (open + n) % qp->burst : 0;

	return n > over ? n - over : 0;
}
