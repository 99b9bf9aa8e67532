// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Bursts that leave whole: how long they may be, and how long this one is. */
#include "transport/engine.h"

void ur_train_set_mtu(struct ur_qp *qp)
{
	const struct ur_port_config *cfg = &qp->port->cfg;
	u32 bytes = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES;
	u32 pkts = ur_min_u32(cfg->train_pkts, cfg->train_bytes / bytes);

	qp->train = pkts > 1 ? pkts : 0;
	qp->read_pkts = UR_READ_PKTS;
	if (!qp->train)
		return;
	/*
	 * The first and the last packet of an answer carry an AETH. The last
	 * one of an answer, the first of the next and the packet after that
	 * are a train by themselves, and the others should be full.
	 */
	pkts = (UR_READ_PKTS - 3 + pkts / 2) / pkts * pkts;
	if (pkts)
		qp->read_pkts = pkts + 3;
}

void ur_train_count(struct ur_tx *tx, u32 n)
{
	const struct ur_tx_desc *d;

	if (!n)
		return;
	d = &tx->desc[tx->n_desc - n];
	if (tx->n_desc == n || !tx->train || d->av != d[-1].av ||
	    d->len > d[-1].len)
		tx->train = n;
	else if (d->len < d[-1].len)
		tx->train = n - 1; /* a shorter one is the last */
	else
		tx->train += n;
}

u32 ur_train_open(const struct ur_qp *qp, const struct ur_tx *tx)
{
	u32 len = UR_BTH_BYTES + qp->mtu;
	const struct ur_tx_desc *d;

	if (!qp->train || !tx->n_desc || !tx->train)
		return 0;
	d = &tx->desc[tx->n_desc - 1];
	if (d->av != qp->attr.av || d->len < len)
		return 0;
	/* Behind a longer one there is room for one. */
	return d->len > len ? qp->train - 1 : tx->train % qp->train;
}

u32 ur_train_whole(const struct ur_qp *qp, u32 open, u32 n)
{
	u32 over = qp->train ? (open + n) % qp->train : 0;

	return n > over ? n - over : 0;
}
