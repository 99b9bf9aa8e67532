// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What leaves: the burst buffer is filled by the transport and put out, packets
 * to ourselves by way of memory; and what was posted before a queue pair
 * changes.
 */
#include <sys/epoll.h>
#include "engine/adverse.h"
#include "engine/faults.h"
#include "engine/record.h"
#include "engine/shards.h"
#include "engine/transmit.h"
#include "engine/wire/wire.h"

/* For a queue pair that is to be changed: enough for all that a send ring
 * holds in small datagrams. */
#define SETTLE_ROUNDS 64
/* Queue pairs settled at once: the clients of others have turns too. */
#define SETTLE_QPS 16

/* Packets to ourselves: hand them in by the front door. Those to groups the port
 * has given to its own members itself. */
static void feed_loop(struct ur_engine *e, u32 first)
{
	struct ur_tx *tx = &e->tx;

	/* The port may let go of an av when it sees a packet. */
	for (u32 i = first; i < tx->n_desc; i++)
		if (tx->desc[i].av->loop)
			ur_av_get((struct ur_av *)tx->desc[i].av);
	for (u32 i = first; i < tx->n_desc; i++) {
		struct ur_av *av = (struct ur_av *)tx->desc[i].av;
		struct ur_rx_meta meta;

		if (!av->loop)
			continue;
		ur_av_meta(av, &meta);
		if (e->shards &&
		    ur_shards_elsewhere(e, tx->buf + tx->desc[i].off))
			; /* handed over */
		else if (ur_faults_spoils(e, i))
			ur_port_count(e->port, UR_CNT_rx_icrc_encapsulated, 1);
		else
			ur_engine_rx(e, &meta, tx->buf + tx->desc[i].off,
				     tx->desc[i].len);
		ur_av_put(av);
	}
}

static void on_room(struct ur_watch *watch, u32 events)
{
	/* flush() tries again each turn while blocked; this ends a sleep */
}

static struct ur_watch room_watch = {on_room};

/* Put out what is left of tx; false: no room. */
static bool flush(struct ur_engine *e)
{
	struct ur_tx *tx = &e->tx;
	int wait_fd = -1;
	u32 i = e->tx_sent;

	while (i < tx->n_desc) {
		u32 end = i, taken;

		if (tx->desc[i].av->loop) {
			i++;
			continue;
		}
		while (end < tx->n_desc && !tx->desc[end].av->loop)
			end++;
		taken = ur_wire_send(e, i, end, &wait_fd);
		i += taken;
		if (i < end)
			break;
	}
	if (i < tx->n_desc) {
		if (!e->tx_blocked) {
			for (u32 k = 0; k < tx->n_desc; k++)
				ur_av_get((struct ur_av *)tx->desc[k].av);
			if (wait_fd >= 0)
				ur_engine_watch(e, wait_fd,
						EPOLLOUT | EPOLLONESHOT,
						&room_watch);
			e->tx_wait_fd = wait_fd;
		}
		e->tx_blocked = true;
		e->tx_sent = i;
		return false;
	}
	if (e->shards)
		ur_shards_send(e);
	feed_loop(e, 0);
	if (e->tx_blocked) {
		for (u32 k = 0; k < tx->n_desc; k++)
			ur_av_put((struct ur_av *)tx->desc[k].av);
		if (e->tx_wait_fd >= 0)
			ur_engine_unwatch(e, e->tx_wait_fd);
		e->tx_blocked = false;
	}
	tx->n_desc = 0;
	tx->used = 0;
	e->tx_sent = 0;
	return true;
}

/* Nothing waits in tx. False: the wire has no room for what does. */
static bool empty_tx(struct ur_engine *e)
{
	if (e->tx_blocked && !flush(e))
		return false;
	e->tx.n_desc = 0;
	e->tx.used = 0;
	e->tx_sent = 0;
	return true;
}

/* What faults and hostile cards held back and whose time has come. */
static bool do_held(struct ur_engine *e)
{
	bool any;

	if (e->now < ur_faults_deadline(e))
		return false;
	any = ur_adverse_turn(e);
	any |= ur_faults_hand_in(e);
	if (empty_tx(e) && ur_faults_release(e)) {
		flush(e);
		ur_faults_let_go(e);
		any = true;
	}
	return any;
}

/* What the port has just filled in. False: the wire has no room for it. */
static bool put_out(struct ur_engine *e)
{
	if (e->record.on)
		ur_record_sent(e);
	if (e->faults)
		ur_faults_sent(e);
	return !e->tx.n_desc || flush(e);
}

bool ur_transmit(struct ur_engine *e)
{
	bool any = e->faults && do_held(e), more = true;

	for (u32 i = 0; more && i < UR_TRANSMIT_ROUNDS && empty_tx(e); i++) {
		more = ur_port_tx(e->port, e->now, &e->tx);
		if (more || e->tx.n_desc)
			any = true;
		if (!put_out(e))
			break;
	}
	return any;
}

void ur_transmit_settle(struct ur_engine *e, struct ur_eqp *qp)
{
	bool more = true;

	if (!qp->sq.hdr)
		return;
	ur_adverse_hurry(qp, true);
	if (ur_ring_avail(&qp->sq))
		ur_qp_kick(qp->qp);
	for (u32 i = 0; more && i < SETTLE_ROUNDS && empty_tx(e); i++) {
		more = ur_port_tx_qp(qp->qp, e->now, &e->tx);
		if (!put_out(e))
			break;
	}
	ur_adverse_hurry(qp, false);
}

struct settling {
	struct ur_engine *engine;
	struct ur_ectx *ectx;
	u32 left;
};

/* Each one once: its client may post for ever. */
static bool settle_next(void *arg, void *qp_ctx)
{
	struct settling *s = arg;
	struct ur_eqp *qp = qp_ctx;

	if (qp->ectx != s->ectx || qp->settle_run == s->ectx->settle_run ||
	    !qp->sq.hdr || !ur_ring_avail(&qp->sq))
		return true;
	qp->settle_run = s->ectx->settle_run;
	ur_transmit_settle(s->engine, qp);
	return --s->left;
}

/* The doorbells have been answered, so whoever can fetch anything is active, or
 * a hostile card keeps it waiting. */
bool ur_transmit_settle_all(struct ur_engine *e, struct ur_ectx *x)
{
	struct settling s = {e, x, SETTLE_QPS};

	if (!x->settling) {
		x->settling = true;
		x->settle_run++;
		if (x->adverse)
			ur_adverse_fetch_all(e, x);
	}
	x->settling = ur_port_each_active(e->port, settle_next, &s);
	return x->settling;
}
