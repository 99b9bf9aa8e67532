// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The port: dispatch of received packets, turns of the active queue pairs,
 * deadlines.
 */
#include "transport/engine.h"

#include <errno.h>
#include <stdlib.h>

/* Keys have 24 bits of number; the all-zero and the small ones are easily
 * guessed by broken programs, so they start a little higher. */
#define FIRST_KEY 16
#define FIRST_SRQ 1

struct ur_port *ur_port_create(const struct ur_port_config *config)
{
	struct ur_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->cfg = *config;
	port->mem_gen = 1;
	port->ops = config->ops;
	port->ctx = config->ctx;
	port->rng.state = config->seed;
	if (!port->cfg.window_pkts)
		port->cfg.window_pkts = UR_WINDOW_PKTS;
	if (port->cfg.first_qpn < 2)
		port->cfg.first_qpn = 2;
	ur_table_init(&port->qps, port->cfg.first_qpn, UR_QPN_MULTICAST - 1,
		      config->max_qp);
	ur_table_init(&port->keys, FIRST_KEY, (1u << 24) - 1, config->max_mr);
	ur_table_init(&port->srqs, FIRST_SRQ, UR_24BIT_MASK, 1u << 20);
	ur_list_init(&port->active);
	ur_list_init(&port->mcast);
	if (port->cfg.ooo && ur_ooo_pool_create(&port->ooo)) {
		free(port);
		return NULL;
	}
	return port;
}

static void put_avs(struct ur_port *port)
{
	while (port->av_put_count)
		ur_av_put(port->av_put[--port->av_put_count]);
}

void ur_port_destroy(struct ur_port *port)
{
	put_avs(port);
	for (; port->gsi_head != port->gsi_tail; port->gsi_head++)
		ur_av_put(port->gsi[port->gsi_head % UR_GSI_SLOTS].av);
	ur_answer_last_drop(port);
	ur_mcast_fini(port);
	ur_table_fini(&port->qps);
	ur_table_fini(&port->keys);
	ur_table_fini(&port->srqs);
	free(port->heap);
	ur_ooo_pool_destroy(&port->ooo);
	free(port);
}

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

int ur_port_reserve_heap(struct ur_port *port)
{
	struct ur_heap_item *h;
	u32 cap = port->heap_cap ? port->heap_cap * 2 : 64;

	if (port->qps.count <= port->heap_cap)
		return 0;
	h = calloc(cap, sizeof(*h));
	if (!h)
		return -ENOMEM;
	if (port->heap_count)
		memcpy(h, port->heap, port->heap_count * sizeof(*h));
	free(port->heap);
	port->heap = h;
	port->heap_cap = cap;
	return 0;
}

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

void ur_port_expire(struct ur_port *port, ur_time now)
{
	put_avs(port);
	port->now = now;
	while (port->heap_count && port->heap[0].at <= now) {
		struct ur_qp *qp = port->heap[0].qp;

		ur_port_disarm(port, qp);
		ur_qp_expire(qp);
	}
}

/* ---- receive ---- */

static void count_bad(struct ur_port *port, enum ur_pkt_error error)
{
	if (error == UR_PKT_OPCODE || error == UR_PKT_TVER)
		ur_count(port, UR_CNT_bad_opcode);
	else
		ur_count(port, UR_CNT_bad_length);
}

/* IBTA 9.2.5: both 15-bit values equal, and at least one full member; ours
 * is the default key, full. */
static bool pkey_good(u16 pkey)
{
	return (pkey & 0x7fff) == (UR_PKEY_DEFAULT & 0x7fff);
}

static bool service_fits(const struct ur_qp *qp, u8 opcode)
{
	return (opcode & UR_SVC_MASK) == qp->svc;
}

/* IBTA 9.6.1.1.2: what may come in which state. */
static bool state_receives(const struct ur_qp *qp)
{
	switch (qp->state) {
	case UR_QP_RTR:
	case UR_QP_RTS:
	case UR_QP_SQD:
	case UR_QP_SQE:
		return true;
	default:
		return false;
	}
}

/* Dispatch to a queue pair: the checks of the BTH (IBTA 9.6.1), then the
 * service. */
static void rx_qp(struct ur_port *port, struct ur_qp *qp,
		  const struct ur_rx_meta *meta, const struct ur_pkt *pkt)
{
	if (!state_receives(qp)) {
		ur_count(port, UR_CNT_bad_state);
		return;
	}
	if (pkt->op->flags & UR_OPF_CNP) {
		if (qp->svc != UR_SVC_UD && ur_qp_addresses_fit(qp, meta))
			ur_cc_cnp(qp);
		return;
	}
	if (!service_fits(qp, pkt->opcode)) {
		ur_count(port, UR_CNT_bad_opcode);
		return;
	}
	if (qp->svc == UR_SVC_UD) {
		ur_ud_rx(qp, meta, pkt);
		return;
	}
	if (!ur_qp_addresses_fit(qp, meta)) {
		ur_count(port, UR_CNT_bad_gid);
		return;
	}
	if (port->cfg.fast)
		port->rx_qp = qp;
	/* Congestion is marked in IP headers; a GRH has none. */
	if (!meta->v1 && (meta->tos & UR_ECN_MASK) == UR_ECN_CE)
		ur_cc_marked(qp);
	if (pkt->op->flags & UR_OPF_RESPONSE)
		ur_completer_rx(qp, pkt);
	else if (qp->init.type == UR_QPT_XRC_INI)
		ur_count(port, UR_CNT_bad_opcode);
	else if (qp->svc == UR_SVC_UC)
		ur_uc_rx(qp, pkt);
	else
		ur_responder_rx(qp, pkt);
}

void ur_port_rx(struct ur_port *port, ur_time now,
		const struct ur_rx_meta *meta, const u8 *bth, u32 len)
{
	enum ur_pkt_error error;
	struct ur_pkt pkt;
	struct ur_qp *qp;

	put_avs(port);
	port->now = now;
	ur_count(port, UR_CNT_rcvd_pkts);
	ur_port_count(port, UR_CNT_port_rcv_data, len / 4);
	if (port->rx_qp && ur_middle_rx(port, meta, bth, len))
		return;
	error = ur_pkt_parse(&pkt, bth, len);
	if (error) {
		count_bad(port, error);
		return;
	}
	ur_trace(port, UR_TRACE_RX, pkt.dqpn, pkt.opcode, pkt.psn);
	if (!pkey_good(pkt.pkey)) {
		ur_count(port, UR_CNT_bad_pkey);
		return;
	}
	if (pkt.dqpn == UR_QPN_GSI) {
		ur_gsi_rx(port, meta, &pkt);
		return;
	}
	if (pkt.dqpn == UR_QPN_MULTICAST) {
		if ((pkt.opcode & UR_SVC_MASK) == UR_SVC_UD)
			ur_mcast_rx(port, meta, &pkt);
		else
			ur_count(port, UR_CNT_bad_opcode);
		return;
	}
	qp = ur_table_lookup(&port->qps, pkt.dqpn);
	if (qp) {
		ur_qp_count_rx(qp, len);
		rx_qp(port, qp, meta, &pkt);
	} else if (pkt.op->flags & UR_OPF_CNP)
		ur_count(port, UR_CNT_rp_cnp_ignored);
	else
		ur_count(port, UR_CNT_bad_qpn);
}

void ur_port_rx_end(struct ur_port *port, ur_time now)
{
	/* Owed acknowledgements are merged until the next ur_port_tx, which
	 * the caller runs after a batch; there is nothing more to hold. */
	port->now = now;
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

/* A turn, and what it has sent. */
static bool run_qp(struct ur_qp *qp, struct ur_tx *tx, bool *full)
{
	u32 used = tx->used, pkts = tx->n_desc;
	bool more = ur_qp_run(qp, tx, full);

	pkts = tx->n_desc - pkts;
	if (pkts) {
		ur_qp_count(qp, UR_QP_CNT_sent_pkts, pkts);
		ur_qp_count(qp, UR_QP_CNT_sent_bytes,
			    tx->used - used - pkts * UR_ICRC_BYTES);
	}
	return more;
}

void ur_port_activate(struct ur_port *port, struct ur_qp *qp)
{
	if (ur_list_empty(&qp->active))
		ur_list_add_tail(&port->active, &qp->active);
}

bool ur_port_tx(struct ur_port *port, ur_time now, struct ur_tx *tx)
{
	u32 turns = UR_CALL_TURNS;
	bool full = false;

	put_avs(port);
	port->now = now;
	if (!tx->n_desc)
		tx->train = 0;
	if (ur_answer_last(port, tx) || ur_gsi_tx(port, tx))
		return true;
	while (turns-- && !full && !ur_list_empty(&port->active) &&
	       port->av_put_count < UR_AV_PUT_SLOTS - 2 * UR_TURN_MSGS) {
		struct ur_qp *qp =
			ur_list_first(&port->active, struct ur_qp, active);

		ur_list_del(&qp->active);
		if (!run_qp(qp, tx, &full))
			continue;
		/* Cut off by the buffer: its packets should stay together, so
		 * it goes on first. */
		if (full)
			ur_list_add_head(&port->active, &qp->active);
		else
			ur_port_activate(port, qp);
	}
	return !ur_list_empty(&port->active) ||
	       port->gsi_head != port->gsi_tail;
}
