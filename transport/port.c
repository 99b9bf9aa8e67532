// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What every queue pair asks of its port: a place in the turns, a deadline, a
 * packet sent, an address vector given back.
 */
#include "transport/engine.h"

void ur_port_set_mtu(struct ur_port *port, u32 mtu_bytes)
{
	port->cfg.mtu_bytes = mtu_bytes;
}

void ur_port_av_put(struct ur_port *port, struct ur_av *av)
{
	if (av)
		port->av_put[port->av_put_count++] = av;
}

/* ---- deadlines ---- */

void ur_port_arm(struct ur_port *port, struct ur_qp *qp, ur_time at)
{
	if (at == UR_NEVER)
		return;
	if (!ur_heap_has(&qp->due))
		ur_heap_add(&port->deadlines, &qp->due, at);
	else if (at < qp->due.at)
		ur_heap_earlier(&port->deadlines, &qp->due, at);
}

void ur_port_disarm(struct ur_port *port, struct ur_qp *qp)
{
	ur_heap_remove(&port->deadlines, &qp->due);
}

ur_time ur_port_deadline(const struct ur_port *port)
{
	const struct ur_heap_node *first = ur_heap_first(&port->deadlines);

	return first ? first->at : UR_NEVER;
}

/* ---- transmit ---- */

void ur_tx_commit(struct ur_port *port, struct ur_tx *tx,
		  const struct ur_av *av, u32 bytes)
{
	struct ur_tx_desc *d = &tx->desc[tx->n_desc++];

	d->off = tx->used;
	d->len = bytes;
	d->av = av;
	ur_trace(port, UR_TRACE_TX, ur_bth_dqpn(tx->buf + d->off),
		 ur_bth_opcode(tx->buf + d->off), ur_bth_psn(tx->buf + d->off));
	tx->used += bytes + UR_ICRC_BYTES;
	ur_train_count(tx, 1);
	ur_count(port, UR_CNT_sent_pkts);
	ur_port_count(port, UR_CNT_port_xmit_data, bytes / 4);
}
