// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Services of a port to its queue pairs: turns, deadlines, sending packets,
 * releasing address vectors. */
#include "transport/internal.h"

void ur_port_set_mtu(struct ur_port *port, u32 mtu_bytes)
{
	port->cfg.mtu_bytes = mtu_bytes;
}

void ur_port_set_ops(struct ur_port *port, const struct ur_host_ops *ops)
{
	port->ops = ops;
}

const struct ur_av *ur_port_qp_av(const struct ur_port *port, u32 qpn)
{
	const struct ur_qp *qp = ur_table_lookup(&port->qps, qpn);

	return qp ? qp->attr.av : NULL;
}

void *ur_port_qp_ctx(const struct ur_port *port, u32 qpn)
{
	const struct ur_qp *qp = ur_table_lookup(&port->qps, qpn);

	return qp ? qp->init.ctx : NULL;
}

void ur_port_set_bounce(struct ur_port *port, u8 *bounce)
{
	port->bounce = bounce ? bounce : port->own_bounce;
}

void ur_port_set_shortcuts(struct ur_port *port, bool loop, bool fast)
{
	port->cfg.loop = loop;
	port->cfg.fast = fast;
	port->rx_qp = NULL;
}

/* ---- turns ---- */

void ur_port_held(struct ur_port *port, struct ur_qp *qp)
{
	qp->held = true;
	ur_list_add_tail(&port->held, &qp->active);
}

void ur_port_hold(struct ur_port *port, bool some)
{
	port->holds = some && port->cfg.ops->holds;
	while (!ur_list_empty(&port->held))
		ur_qp_hold_no_more(
			ur_list_first(&port->held, struct ur_qp, active));
}

void ur_port_av_put(struct ur_port *port, struct ur_av *av)
{
	if (!av)
		return;
	/* The last packet of av is in a ur_tx, which has fewer slots. */
	ur_assert(port->av_put_count < UR_AV_PUT_SLOTS);
	port->av_put[port->av_put_count++] = av;
}

/* ---- deadlines ---- */

void ur_port_arm(struct ur_port *port, struct ur_qp *qp, ur_time at)
{
	if (at == UR_NEVER)
		return;
	if (!ur_heap_has(&qp->due)) {
		ur_assert(port->deadlines.count < port->deadlines_cap);
		ur_heap_add(&port->deadlines, &qp->due, at);
	} else if (at < qp->due.at)
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

/* ---- invariants ---- */

/* Deadlines checked per call; they are inserted and removed in turn. */
#define CHECKED_DEADLINES 64

const char *ur_port_check(const struct ur_port *port)
{
	struct ur_heap some = port->deadlines;

	if (port->av_put_count > UR_AV_PUT_SLOTS)
		return "address vectors to give back have their places";
	if (port->deadlines.count > port->qps.count)
		return "a queue pair has one deadline";
	if (port->deadlines.count > port->deadlines_cap)
		return "each deadline has its place";
	if (port->orphan_ack_tail - port->orphan_ack_head > UR_ORPHAN_ACKS)
		return "last acknowledgements fit their queue";
	if (!port->mem_gen)
		return "a generation of memory is not 0";
	some.count = ur_min_u32(some.count, CHECKED_DEADLINES);
	return ur_heap_check(&some);
}

/* ---- transmit ---- */

void ur_tx_commit(struct ur_port *port, struct ur_tx *tx,
		  const struct ur_av *av, u32 bytes)
{
	struct ur_tx_desc *d = &tx->desc[tx->n_desc++];

	d->off = tx->used;
	d->len = bytes;
	d->av = av;
	d->split = NULL;
	ur_trace(port, UR_TRACE_TX, ur_bth_dqpn(tx->buf + d->off),
		 ur_bth_opcode(tx->buf + d->off), ur_bth_psn(tx->buf + d->off));
	tx->used += bytes + UR_ICRC_BYTES;
	ur_burst_count(tx, 1);
	ur_count_tx_prio(port->counters, av, 1, bytes);
	ur_count(port, UR_CNT_sent_pkts);
	ur_count_many(port, UR_CNT_port_xmit_data, bytes / 4);
}
