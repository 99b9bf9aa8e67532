// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bursts: how many packets one may have, how many the unfinished one has, and
 * how many more end it.
 */
#include "transport/internal.h"

void ur_burst_set_mtu(struct ur_qp *qp)
{
	const struct ur_port_config *cfg = &qp->port->cfg;
	u32 bytes = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES;
	u32 pkts = ur_min_u32(cfg->burst_pkts, cfg->burst_bytes / bytes);

	qp->burst = pkts > 1 ? pkts : 0;
	qp->read_pkts = UR_READ_PKTS;
	if (!qp->burst)
		return;
	/*
	 * The first and the last packet of an answer carry an AETH. The last
	 * one of an answer, the first of the next and the packet after that
	 * are a burst by themselves, and the others should be full.
	 */
	pkts = (UR_READ_PKTS - 3 + pkts / 2) / pkts * pkts;
	if (pkts)
		qp->read_pkts = pkts + 3;
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
		tx->burst = n - 1; /* a shorter one is the last */
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
	/* Behind a longer one there is room for one. */
	return d->len > len ? qp->burst - 1 : tx->burst % qp->burst;
}

u32 ur_burst_whole(const struct ur_qp *qp, u32 open, u32 n)
{
	u32 over = qp->burst ? (open + n) % qp->burst : 0;

	return n > over ? n - over : 0;
}
