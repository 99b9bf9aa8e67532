// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One iteration of the engine's loop: commands, doorbells, datagrams, timers,
 * transmission.
 *
 * While awake the wire is asked without epoll where packets came last, and by
 * epoll now and then; a device with no traffic on the wire asks seldom, since
 * each question is a system call that a neighbour on the same host waits for.
 */
#include <errno.h>
#include <sys/epoll.h>
#include "device/engine/adverse.h"
#include "device/engine/faults.h"
#include "device/engine/poll_loop.h"
#include "device/engine/record.h"
#include "device/engine/shards.h"
#include "device/engine/wait.h"
#include "device/wire/wire.h"

#define EVENTS 64
/* Fills of the burst buffer in one iteration. */
#define TX_ROUNDS 4
/* For a queue pair that is to be changed: enough for all that a send ring
 * holds in small datagrams. */
#define SETTLE_ROUNDS 64
/* Queue pairs settled at once: the clients of others have turns too. */
#define SETTLE_QPS 16
/* Receive queues kicked in one iteration: a kick may ask for the next one. */
#define KICKS 256
/* Ask the wire this often when nothing came of late. */
#define WIRE_QUIET_NS 5000u
/* "Of late". */
#define WIRE_HOT_NS 200000u

/* ---- receive ---- */

static void end_rx(struct ur_engine *e)
{
	if (!e->rx_any)
		return;
	e->rx_any = false;
	e->last_rx = e->now;
	ur_idle_serve(&e->idle, &e->idle.wire);
	ur_refused_look(e);
}

/* As epoll_pwait2(). Kernels before 5.11 and emulators of later ones do not have
 * it: they wait in milliseconds, rather too long than turning meanwhile. */
static int wait_events(int epoll_fd, struct epoll_event *ev,
		       const struct timespec *timeout)
{
	int n = epoll_pwait2(epoll_fd, ev, EVENTS, timeout, NULL);
	u64 ms;

	if (n >= 0 || errno != ENOSYS)
		return n;
	ms = (u64)timeout->tv_sec * 1000 +
	     ((u64)timeout->tv_nsec + 999999) / 1000000;
	return epoll_wait(epoll_fd, ev, EVENTS, (int)ur_min_u64(ms, INT32_MAX));
}

bool ur_poll_dispatch(struct ur_engine *e, const struct timespec *timeout)
{
	struct epoll_event ev[EVENTS];
	static const struct timespec zero;
	bool sleeps = timeout->tv_sec + timeout->tv_nsec;
	bool woken;
	int n;

	if (sleeps)
		ur_mailbox_release(e);
	n = wait_events(e->epoll_fd, ev, timeout);
	woken = n > 0;
	/* Then a watch may be gone. What is told only once, an eventfd, was to
	 * end the sleep; the rest is told again. */
	if (sleeps && ur_mailbox_acquire(e))
		n = wait_events(e->epoll_fd, ev, &zero);
	if (woken && sleeps)
		e->now = ur_clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++) {
		struct ur_watch *w = ev[i].data.ptr;

		w->fn(w, ev[i].events);
	}
	end_rx(e);
	return woken || n > 0;
}

/* ---- transmit ---- */

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

/* True when there was something. */
static bool transmit(struct ur_engine *e)
{
	bool any = e->faults && do_held(e), more = true;

	for (u32 i = 0; more && i < TX_ROUNDS && empty_tx(e); i++) {
		more = ur_port_tx(e->port, e->now, &e->tx);
		if (more || e->tx.n_desc)
			any = true;
		if (e->record.on)
			ur_record_sent(e);
		if (e->faults)
			ur_faults_sent(e);
		if (e->tx.n_desc && !flush(e))
			break;
	}
	return any;
}

void ur_poll_settle(struct ur_engine *e, struct ur_eqp *qp)
{
	bool more = true;

	if (!qp->sq.hdr)
		return;
	ur_adverse_hurry(qp, true);
	if (ur_ring_avail(&qp->sq))
		ur_qp_kick(qp->qp);
	for (u32 i = 0; more && i < SETTLE_ROUNDS && empty_tx(e); i++) {
		more = ur_port_tx_qp(qp->qp, e->now, &e->tx);
		if (e->record.on)
			ur_record_sent(e);
		if (e->faults)
			ur_faults_sent(e);
		if (e->tx.n_desc && !flush(e))
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
	ur_poll_settle(s->engine, qp);
	return --s->left;
}

/* The doorbells have been answered, so whoever can fetch anything is active, or
 * a hostile card keeps it waiting. */
bool ur_poll_settle_all(struct ur_engine *e, struct ur_ectx *x)
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

/* ---- doorbells ---- */

static void ring_slot(void *arg, u32 slot)
{
	struct ur_ectx *x = arg;
	struct ur_db_client *next;

	for (struct ur_db_client *b = x->db_clients[slot]; b; b = next) {
		next = b->next;
		b->ring(b);
	}
}

static bool answer_doorbells(struct ur_engine *e)
{
	bool any = false;

	ur_list_for_each(it, &e->ectxs) {
		struct ur_ectx *x = ur_list_entry(it, struct ur_ectx, node);

		if (!ur_doorbell_any(x->db))
			continue;
		ur_doorbell_take(x->db, ring_slot, x);
		ur_idle_serve(&e->idle, &x->predictor);
		any = true;
	}
	for (u32 i = 0; i < KICKS && !ur_list_empty(&e->kicks); i++) {
		struct ur_erq *rq =
			ur_list_first(&e->kicks, struct ur_erq, kick_node);

		ur_list_del(&rq->kick_node);
		ur_rq_ring(rq);
		any = true;
	}
	return any;
}

/* ---- the loop ---- */

static bool look_at_wire(struct ur_engine *e)
{
	static const struct timespec zero;
	bool any = false;
	u64 quiet = e->now - e->last_rx;

	if (quiet < WIRE_HOT_NS)
		any = ur_wire_poll(e);
	if (e->now - e->last_epoll >=
	    (quiet < WIRE_HOT_NS ? WIRE_QUIET_NS * 4 : WIRE_QUIET_NS)) {
		e->last_epoll = e->now;
		ur_wait_show_cpu(e);
		any |= ur_poll_dispatch(e, &zero);
	}
	return any;
}

static bool iterate(struct ur_engine *e)
{
	bool any, called;

	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	e->timestamp = 0;
	ur_record_look(e);
	/* What was rung before a command comes before it. */
	called = ur_mailbox_waits(e);
	any = answer_doorbells(e);
	any |= look_at_wire(e);
	end_rx(e);
	if (e->shards) {
		ur_shards_show(e);
		any |= ur_shards_receive(e);
	}
	if (e->now >= ur_port_deadline(e->port)) {
		ur_port_expire(e->port, e->now);
		any = true;
	}
	/* Of what came in: whose processor it is answers before the
	 * acknowledgement leaves, which then takes the answer along. */
	ur_ecq_send_events(e);
	any |= transmit(e);
	if (called)
		any |= ur_mailbox_run(e);
	if (!ur_list_empty(&e->moderated))
		e->mod_deadline = ur_ecq_moderate(e, e->now);
	else
		e->mod_deadline = UR_NEVER;
	/* Of what was done within the device, and by the command. */
	ur_ecq_send_events(e);
	return any;
}

bool ur_poll_after_call(struct ur_engine *e)
{
	u32 i = 0;

	ur_engine_woken(e);
	while (i < TX_ROUNDS && transmit(e))
		i++;
	ur_ecq_send_events(e);
	return i == TX_ROUNDS || e->stop || e->tx_blocked ||
	       !ur_list_empty(&e->kicks) || !ur_list_empty(&e->moderated) ||
	       ur_port_deadline(e->port) < e->asleep_until ||
	       ur_faults_deadline(e) < e->asleep_until;
}

void *ur_poll_thread(void *arg)
{
	struct ur_engine *e = arg;

	ur_assert_about = e->netdev;
	pthread_mutex_lock(&e->mailbox.owner);
	ur_wait_init(e);
	while (!e->stop) {
		if (iterate(e))
			ur_idle_work(&e->idle, e->now);
		else
			ur_wait(e);
	}
	pthread_mutex_unlock(&e->mailbox.owner);
	return NULL;
}
