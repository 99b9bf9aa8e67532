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

static void heap_set(struct ur_port *port, u32 i, struct ur_heap_item item)
{
	port->heap[i] = item;
	item.qp->heap_index = i;
}

static void heap_up(struct ur_port *port, u32 i)
{
	struct ur_heap_item item = port->heap[i];

	while (i && port->heap[(i - 1) / 2].at > item.at) {
		heap_set(port, i, port->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_set(port, i, item);
}

static void heap_down(struct ur_port *port, u32 i)
{
	struct ur_heap_item item = port->heap[i];

	for (;;) {
		u32 c = 2 * i + 1;

		if (c >= port->heap_count)
			break;
		if (c + 1 < port->heap_count &&
		    port->heap[c + 1].at < port->heap[c].at)
			c++;
		if (port->heap[c].at >= item.at)
			break;
		heap_set(port, i, port->heap[c]);
		i = c;
	}
	heap_set(port, i, item);
}

void ur_port_arm(struct ur_port *port, struct ur_qp *qp, ur_time at)
{
	if (at == UR_NEVER)
		return;
	if (qp->heap_index == UR_NOT_IN_HEAP) {
		port->heap[port->heap_count] = (struct ur_heap_item){at, qp};
		heap_up(port, port->heap_count++);
	} else if (at < port->heap[qp->heap_index].at) {
		port->heap[qp->heap_index].at = at;
		heap_up(port, qp->heap_index);
	}
}

void ur_port_disarm(struct ur_port *port, struct ur_qp *qp)
{
	u32 i = qp->heap_index;

	if (i == UR_NOT_IN_HEAP)
		return;
	qp->heap_index = UR_NOT_IN_HEAP;
	if (i != --port->heap_count) {
		heap_set(port, i, port->heap[port->heap_count]);
		heap_up(port, i);
		heap_down(port, port->heap[i].qp->heap_index);
	}
}

ur_time ur_port_deadline(const struct ur_port *port)
{
	return port->heap_count ? port->heap[0].at : UR_NEVER;
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

