// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Decides what runs next in the port: received packets go to their queue pairs,
 * active queue pairs get turns, due deadlines are served. */
#include "transport/internal.h"

/* Each work request that completes in a turn may release an address vector. */
_Static_assert(UR_AV_PUT_SLOTS > UR_ORPHAN_ACKS + UR_QUANTUM_ENTRIES,
	       "after what is sent first, one queue pair has its turn");

/* ---- receive ---- */

static bool service_fits(const struct ur_qp *qp, u8 opcode)
{
	return (opcode & UR_SVC_MASK) == qp->svc;
}

static __attribute__((noinline)) void rx_cnp(struct ur_qp *qp,
					     const struct ur_rx_meta *meta)
{
	if (qp->svc == UR_SVC_UD)
		ur_ud_cnp(qp, meta);
	else if (ur_qp_addresses_fit(qp, meta))
		ur_cc_cnp(qp);
}

static __attribute__((noinline)) void rx_datagram(struct ur_qp *qp,
						  const struct ur_rx_meta *meta,
						  const struct ur_pkt *pkt)
{
	if (ur_ud_rx(qp, meta, pkt) && ur_rx_is_marked(meta))
		ur_ud_marked(qp, meta, pkt->sqpn);
}

/* Dispatches a packet to a queue pair: the checks of the BTH (IBTA 9.6.1), then
 * the service. */
static inline __attribute__((always_inline)) void
rx_qp(struct ur_port *port, struct ur_qp *qp, const struct ur_rx_meta *meta,
      const struct ur_pkt *pkt)
{
	if (pkt->op->flags & UR_OPF_CNP) {
		rx_cnp(qp, meta);
		return;
	}
	if (!service_fits(qp, pkt->opcode)) {
		ur_count(port, UR_CNT_bad_opcode);
		return;
	}
	if (qp->svc == UR_SVC_UD) {
		rx_datagram(qp, meta, pkt);
		return;
	}
	if (!ur_qp_addresses_fit(qp, meta)) {
		ur_count(port, UR_CNT_bad_gid);
		return;
	}
	if (port->cfg.fast && !qp->init.packets)
		port->rx_qp = qp;
	if (ur_rx_is_marked(meta))
		ur_cc_marked(qp, pkt);
	if (pkt->op->flags & UR_OPF_RESPONSE)
		ur_completer_rx(qp, pkt);
	else if (qp->init.type == UR_QPT_XRC_INI)
		ur_count(port, UR_CNT_bad_opcode);
	else if (qp->svc == UR_SVC_UC)
		ur_uc_rx(qp, pkt);
	else
		ur_responder_rx(qp, pkt);
}

/* Receives packets that came before the queue pair could receive, ahead of new
 * ones. */
static __attribute__((noinline)) void rx_kept(struct ur_port *port,
					      struct ur_qp *qp)
{
	struct ur_rx_meta meta;
	struct ur_pkt pkt;
	u16 slot;

	while ((slot = ur_unready_take(qp, &meta, &pkt)) != UR_OOO_NONE) {
		rx_qp(port, qp, &meta, &pkt);
		ur_ooo_give(&port->ooo, slot);
	}
	ur_qp_set_receives(qp);
}

/* Handles a packet for a queue pair that was not ready. Returns whether it can
 * be received now. */
static __attribute__((noinline)) bool rx_unready(struct ur_port *port,
						 struct ur_qp *qp,
						 const struct ur_rx_meta *meta,
						 const struct ur_pkt *pkt)
{
	if (ur_unready_is_due(qp))
		rx_kept(port, qp);
	if (!qp->receives && !ur_unready_keep(qp, meta, pkt))
		ur_count(port, UR_CNT_bad_state);
	return qp->receives;
}

void ur_port_expire(struct ur_port *port, ur_time now)
{
	struct ur_heap_node *first;

	ur_port_put_avs(port);
	port->now = now;
	while ((first = ur_heap_first(&port->deadlines)) && first->at <= now) {
		struct ur_qp *qp = ur_container_of(first, struct ur_qp, due);

		ur_port_disarm(port, qp);
		ur_qp_expire(qp);
		if (ur_unready_is_due(qp))
			rx_kept(port, qp);
		ur_assert_rules_hot(ur_qp_check(qp));
	}
	ur_assert_rules_hot(ur_port_check(port));
}

void ur_port_rx(struct ur_port *port, ur_time now,
		const struct ur_rx_meta *meta, const u8 *bth, u32 len)
{
	enum ur_pkt_error error;
	struct ur_pkt pkt;
	struct ur_qp *qp;

	ur_port_put_avs(port);
	port->now = now;
	ur_count_rx_prio(port->counters, meta->tos, 1, len);
	ur_count(port, UR_CNT_rcvd_pkts);
	ur_count_many(port, UR_CNT_port_rcv_data, len / 4);
	if (port->rx_qp && ur_fastpath_rx(port, meta, bth, len))
		return;
	error = ur_pkt_parse(&pkt, bth, len);
	if (error) {
		ur_count(port, ur_pkt_error_counter(error));
		return;
	}
	pkt.sport = meta->udp_sport;
	ur_trace(port, UR_TRACE_RX, pkt.dqpn, pkt.opcode, pkt.psn);
	if (!ur_pkey_fits(pkt.pkey)) {
		ur_count(port, UR_CNT_bad_pkey);
		return;
	}
	if ((pkt.opcode & UR_SVC_MASK) == UR_SVC_UD && ur_rx_is_marked(meta))
		ur_count(port, UR_CNT_np_ecn_marked_roce_packets);
	if (pkt.dqpn == UR_QPN_MULTICAST) {
		if ((pkt.opcode & UR_SVC_MASK) == UR_SVC_UD)
			ur_mcast_rx(port, NULL, meta, &pkt);
		else
			ur_count(port, UR_CNT_bad_opcode);
		return;
	}
	qp = ur_port_qp(port, pkt.dqpn);
	if (qp) {
		ur_qp_count_rx(qp, len);
		if (qp->receives || rx_unready(port, qp, meta, &pkt))
			rx_qp(port, qp, meta, &pkt);
		ur_assert_rules_hot(ur_qp_check(qp));
	} else if (pkt.op->flags & UR_OPF_CNP)
		ur_count(port, UR_CNT_rp_cnp_ignored);
	else
		ur_count(port, UR_CNT_bad_qpn);
}

static u32 rx_run(struct ur_port *port, ur_time now,
		  const struct ur_rx_meta *meta, const struct ur_rx_run *run)
{
	u32 took;

	if (!port->rx_qp || run->n < 2)
		return 0;
	ur_port_put_avs(port);
	port->now = now;
	took = ur_fastpath_rx_run(port, meta, run);
	if (!took)
		return 0;
	ur_count_rx_prio(port->counters, meta->tos, took, (u64)took * run->len);
	ur_count_many(port, UR_CNT_rcvd_pkts, took);
	ur_count_many(port, UR_CNT_port_rcv_data, (u64)took * run->len / 4);
	return took;
}

u32 ur_port_rx_run(struct ur_port *port, ur_time now,
		   const struct ur_rx_meta *meta, const u8 *bth, u32 len,
		   u32 stride, u32 n)
{
	const struct ur_rx_run run = {
		bth, bth + UR_BTH_BYTES, stride, stride, len, n, false};

	return rx_run(port, now, meta, &run);
}

u32 ur_port_rx_split(struct ur_port *port, ur_time now,
		     const struct ur_rx_meta *meta, const u8 *bth, u32 stride,
		     const u8 *payload, u32 len, u32 n, bool frail)
{
	const struct ur_rx_run run = {bth, payload, stride, len - UR_BTH_BYTES,
				      len, n,	    frail};

	return rx_run(port, now, meta, &run);
}

/* ---- transmit ---- */

/* Bytes that are worth a fill of their own. */
#define ENOUGH_BYTES 1024u

/* Leaves the queue pair inactive until its packets have been sent. */
static void wait_for_host(struct ur_qp *qp, const struct ur_tx *tx, bool *full)
{
	/* Its turn may have activated it already. */
	ur_list_del(&qp->active);
	ur_list_add_tail(tx->senders, &qp->active);
	*full |= tx->used >= ENOUGH_BYTES;
}

void ur_port_go_on(struct ur_port *port, struct ur_list *senders)
{
	while (!ur_list_empty(senders)) {
		struct ur_qp *qp = ur_list_first(senders, struct ur_qp, active);

		ur_list_del(&qp->active);
		ur_port_activate(port, qp);
	}
}

/* Runs one turn, and counts what it sent. */
static bool run_qp(struct ur_qp *qp, struct ur_tx *tx, bool *full)
{
	u32 used = tx->used, pkts = tx->n_desc;
	bool more = ur_qp_run(qp, tx, full);

	ur_assert_rules_hot(ur_qp_check(qp));
	pkts = tx->n_desc - pkts;
	if (pkts) {
		ur_qp_count(qp, UR_QP_CNT_sent_pkts, pkts);
		ur_qp_count(qp, UR_QP_CNT_sent_bytes,
			    tx->used - used - pkts * UR_ICRC_BYTES);
		if (tx->senders) {
			wait_for_host(qp, tx, full);
			return false;
		}
	}
	return more;
}

/* Returns whether av_put has room for one more turn. */
static bool puts_room(const struct ur_port *port)
{
	return port->av_put_count < UR_AV_PUT_SLOTS - UR_QUANTUM_ENTRIES;
}

static void begin_tx(struct ur_port *port, ur_time now, struct ur_tx *tx)
{
	ur_port_put_avs(port);
	port->now = now;
	if (!tx->n_desc)
		tx->burst = 0;
}

/* Returns whether the queue pair is skipped, since the host holds packets to its peer. Datagrams
 * are checked one by one. */
static bool passes_over(struct ur_port *port, struct ur_qp *qp)
{
	if (!port->holds || ur_qp_is_datagram(qp) || !qp->attr.av ||
	    qp->state < UR_QP_RTR || qp->state > UR_QP_SQD ||
	    !port->cfg.ops->holds(port->cfg.ctx, qp->attr.av, qp->attr.dest_qpn,
				  false))
		return false;
	ur_port_held(port, qp);
	return true;
}

bool ur_port_tx(struct ur_port *port, ur_time now, struct ur_tx *tx)
{
	const struct ur_host_ops *ops = port->cfg.ops;
	u32 turns = UR_CALL_QUANTA;
	bool full = false;

	begin_tx(port, now, tx);
	if (ur_answer_last(port, tx))
		return true;
	while (turns-- && !full && !ur_list_empty(&port->active) &&
	       puts_room(port)) {
		struct ur_qp *qp =
			ur_list_first(&port->active, struct ur_qp, active);
		bool more;

		ur_list_del(&qp->active);
		if (passes_over(port, qp))
			continue;
		more = run_qp(qp, tx, &full);

		/* Its turn ended for lack of room. Its packets should stay
		 * together, so it runs first next time. Only once: a queue
		 * pair that needs no answers would fill one buffer after the
		 * other. */
		qp->cut_off = more && full && !qp->cut_off;
		if (qp->cut_off) {
			/* Its turn may have activated it already. */
			ur_list_del(&qp->active);
			ur_list_add_head(&port->active, &qp->active);
		} else if (more)
			ur_port_activate(port, qp);
		if (ops->wanted && ops->wanted(port->cfg.ctx))
			break;
	}
	ur_assert_rules_hot(ur_port_check(port));
	return !ur_list_empty(&port->active);
}

bool ur_port_tx_qp(struct ur_qp *qp, ur_time now, struct ur_tx *tx)
{
	struct ur_port *port = qp->port;
	bool full = false, more = true;

	begin_tx(port, now, tx);
	if (puts_room(port)) {
		ur_list_del(&qp->active);
		qp->held = false;
		more = !passes_over(port, qp) && run_qp(qp, tx, &full);
	}
	if (more)
		ur_port_activate(port, qp);
	ur_assert_rules_hot(ur_port_check(port));
	return more;
}
