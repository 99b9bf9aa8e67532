// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sending: the transport fills the burst buffer, which tx.c sends. Also drains queue pairs: sends
 * the requests posted before a queue pair changes. */
#include "engine/faults/adverse.h"
#include "engine/core/answers.h"
#include "engine/core/datagrams.h"
#include "engine/faults/faults.h"
#include "engine/core/engine_impl.h"
#include "engine/core/transmit.h"
#include "engine/core/tx.h"
#include "util/os/clock.h"
#include "engine/wire/wire.h"

/* Packets of a fill that a caller waits for, and the longest wait. */
#define LITTLE_DESC 64u
#define LITTLE_NS   100000u
/*
 * The caller holds the control lock while it waits, so posted requests are sent in
 * pieces: at most DRAIN_QPS queue pairs, and at most DRAIN_NS, which is checked
 * after each fill.
 */
#define DRAIN_QPS 256
#define DRAIN_NS  100000u
/* Fills for one queue pair: enough for all that a send ring holds in small
 * datagrams. */
#define DRAIN_FILLS 1024

/* In a program. Returns whether the peer gets what follows an acknowledgement in one datagram together with it:
 * the datagram arrives as it leaves, or the packets go through memory. */
static bool goes_in_one(const struct ur_engine *e)
{
	return e->tx.n_desc > 1 &&
	       (e->config.one_path || e->tx.desc[0].av->loop);
}

/* Arranges the packets that the port has just filled in. After long messages (rx_bulk),
 * requests stay in several datagrams, so that the peer starts on the first one early. */
static void arrange(struct ur_engine *e)
{
	if (e->config.inproc && !(goes_in_one(e) && ur_answers_last(&e->tx)) &&
	    e->tx.n_desc > 2) {
		if (!e->rx_bulk)
			ur_answers_first(&e->tx);
		ur_datagrams_together(&e->tx);
	}
	ur_tx_arrange(e);
}

/* Sends the packets that the port has just filled in. Returns false if the wire has no room. */
static bool put_out(struct ur_engine *e)
{
	arrange(e);
	return !e->tx.n_desc || ur_tx_flush(e);
}

/*
 * Returns whether to go on sending. more: the port has packets. In a program, requests
 * to itself must complete before a later command, as they do if the port executes them
 * directly: so their responses are sent too. In an engine process the peer may be the thread's next engine: it
 * reads while what was sent is in the processor's cache. In the device a waiting call stops the sending.
 */
static bool has_more(struct ur_engine *e, bool more)
{
	if (e->config.apart)
		return e->looped;
	if (e->config.inproc)
		return more || e->looped;
	return more && !ur_mailbox_waits(e);
}

/* Fills tx with packets of one queue pair, or of all (NULL), and with few if a neighbour has little room. Returns whether
 * there are more. */
static bool fill(struct ur_engine *e, struct ur_qp *qp, u32 max_desc)
{
	struct ur_tx *tx = &e->tx;
	u32 cap = tx->cap, most = tx->max_desc;
	bool more;

	if (e->tx_little)
		ur_wire_retry(e);
	if (e->tx_little) {
		tx->cap = ur_min_u32(cap, UR_LITTLE_BYTES);
		max_desc = ur_min_u32(max_desc, UR_LITTLE_PACKETS);
	}
	tx->max_desc = max_desc;
	more = qp ? ur_port_tx_qp(qp, e->now, tx)
		  : ur_port_tx(e->port, e->now, tx);
	tx->cap = cap;
	tx->max_desc = most;
	return more;
}

/* Fills tx for a burst that leaves aside. Returns false if there was no such burst: what was filled
 * in is sent now, and *more says whether to go on. */
static bool fill_aside(struct ur_engine *e, struct ur_aside *aside,
		       u32 max_desc, bool *more)
{
	e->tx.senders = &aside->senders;
	*more = fill(e, NULL, max_desc);
	e->tx.senders = NULL;
	if (!e->tx.n_desc)
		return false;
	arrange(e);
	if (ur_aside_take(e, aside))
		return true;
	ur_port_go_on(e->port, &aside->senders);
	*more = ur_tx_flush(e);
	return false;
}

/* Does what is due for hostile cards and faults. */
static bool do_held(struct ur_engine *e)
{
	bool any = ur_adverse_turn(e);

	return ur_tx_held(e) || any;
}

/* Sends at most "rounds" fills of the burst buffer. */
static bool transmit(struct ur_engine *e, u32 rounds, u32 max_desc)
{
	bool any = e->faults && do_held(e), more = true;

	for (u32 i = 0; more && i < rounds && ur_tx_empty(e); i++) {
		struct ur_aside *aside = ur_aside_begin(e);

		e->looped = false;
		if (aside) {
			if (fill_aside(e, aside, max_desc, &more))
				return true;
			any |= more;
			continue;
		}
		more = fill(e, NULL, max_desc);
		if (more || e->tx.n_desc)
			any = true;
		if (!put_out(e))
			break;
		more = has_more(e, more);
	}
	return any;
}

bool ur_transmit(struct ur_engine *e)
{
	return transmit(e,
			e->config.inproc ? UR_TRANSMIT_ROUNDS_OWN
					 : UR_TRANSMIT_ROUNDS,
			e->config.apart ? LITTLE_DESC : e->tx.max_desc);
}

bool ur_transmit_little(struct ur_engine *e)
{
	u64 end = ur_clock_ns(CLOCK_MONOTONIC) + LITTLE_NS;
	bool more;

	e->hurries = true;
	do
		more = transmit(e, 1, LITTLE_DESC);
	while (more && ur_clock_ns(CLOCK_MONOTONIC) < end);
	e->hurries = false;
	return more;
}

/* Sends a fill of one queue pair. Returns false if it has nothing more to send now. */
static bool drain_fill(struct ur_engine *e, struct ur_eqp *qp)
{
	bool more;

	if (!ur_tx_empty(e))
		return false;
	more = fill(e, qp->qp, LITTLE_DESC);
	return put_out(e) && more;
}

static bool drain_until(struct ur_engine *e, struct ur_eqp *qp, u64 end)
{
	bool more = true;

	if (!qp->sq.hdr)
		return false;
	if (!qp->drain_fills) {
		qp->drain_fills = DRAIN_FILLS;
		if (ur_ring_avail(&qp->sq))
			ur_qp_kick(qp->qp);
	}
	ur_adverse_hurry(qp, true);
	do
		more = drain_fill(e, qp) && --qp->drain_fills;
	while (more && ur_clock_ns(CLOCK_MONOTONIC) < end);
	ur_adverse_hurry(qp, false);
	if (!more)
		qp->drain_fills = 0;
	return more;
}

bool ur_transmit_drain(struct ur_engine *e, struct ur_eqp *qp)
{
	return drain_until(e, qp, ur_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS);
}

void ur_transmit_note(struct ur_eqp *qp)
{
	if (ur_list_empty(&qp->rung))
		ur_list_add_tail(&qp->ectx->rung, &qp->rung);
}

/* Begins a run over all queue pairs that may have requests now. */
static void begin_run(struct ur_engine *e, struct ur_ectx *x)
{
	x->drain_run++;
	x->draining = true;
	ur_list_splice(&x->to_drain, &x->rung);
	if (x->adverse)
		ur_adverse_fetch_all(e, x);
}

/* Continues a run until end. Settles each queue pair once, since its client may post
 * for ever. Requests that cannot be sent yet are left to the next run. Returns false
 * when the run is over. */
static bool go_on(struct ur_engine *e, struct ur_ectx *x, u64 end)
{
	for (u32 i = 0; i < DRAIN_QPS && !ur_list_empty(&x->to_drain); i++) {
		struct ur_eqp *qp =
			ur_list_first(&x->to_drain, struct ur_eqp, rung);

		if (ur_ring_avail(&qp->sq) && drain_until(e, qp, end))
			return true;
		ur_list_del(&qp->rung);
		if (ur_ring_avail(&qp->sq))
			ur_transmit_note(qp);
		if (ur_clock_ns(CLOCK_MONOTONIC) >= end)
			return true;
	}
	return !ur_list_empty(&x->to_drain);
}

/* The doorbells have been served, so all queue pairs with requests are noted. A run
 * already in progress may have passed some of them: then a second run follows. */
bool ur_transmit_drain_all(struct ur_engine *e, struct ur_ectx *x, u64 *run)
{
	u64 end = ur_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS;

	if (!*run)
		*run = x->drain_run + 1;
	while (x->draining || x->drain_run < *run) {
		if (!x->draining)
			begin_run(e, x);
		if (go_on(e, x, end))
			return true;
		x->draining = false;
	}
	return false;
}
