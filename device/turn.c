// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine's turn: commands, doorbells, datagrams, timers, transmission; and
 * what to do when there is nothing: yield for a while, then sleep.
 *
 * While awake the wire is asked without epoll where packets came last, and by
 * epoll now and then; a device with no traffic on the wire asks seldom, since
 * each question is a system call that a neighbour on the same host waits for.
 *
 * The sleep race is told in kernel-abi/uroce-ring.h; go_to_sleep() is the
 * device's half, for all its contexts at once and for the mailbox.
 */
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <time.h>
#include "device/engine_impl.h"
#include "device/turn.h"
#include "device/wire.h"

#define EVENTS 64
/* Fills of the burst buffer in one turn. */
#define TX_ROUNDS 4
/* Receive queues kicked in one turn: a kick may ask for the next one. */
#define KICKS 256
/* Try again when the system has no memory for packets. */
#define RETRY_NS 1000000u
/* A yield of this length is one to somebody who does not yield. */
#define LONG_YIELD_NS 500000u
/* With so much lost in them within so long, the place is crowded ... */
#define LOST_LIMIT_NS  12000000u
#define LOST_WINDOW_NS 20000000u
/* ... and taken for it this long. */
#define CROWDED_NS 200000000u
/* Even then, wait this long without yielding: work comes in batches. */
#define CROWDED_SPIN_NS 4000u
/* Ask the wire this often when nothing came of late. */
#define WIRE_QUIET_NS 5000u
/* "Of late". */
#define WIRE_HOT_NS 200000u

static u64 read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

/* ---- receive ---- */

static bool dispatch(struct ur_engine *e, const struct timespec *timeout)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_pwait2(e->epoll_fd, ev, EVENTS, timeout, NULL);

	if (n > 0 && timeout->tv_sec + timeout->tv_nsec)
		e->now = read_clock(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++) {
		struct ur_watch *w = ev[i].data.ptr;

		w->fn(w, ev[i].events);
	}
	return n > 0;
}

/* ---- transmit ---- */

/* Packets to ourselves: hand them in by the front door. */
static void feed_loop(struct ur_engine *e, u32 first)
{
	struct ur_tx *tx = &e->tx;
	bool any = false;

	/* The port may let go of an av when it sees a packet. */
	for (u32 i = first; i < tx->n_desc; i++)
		if (tx->desc[i].av->loop || tx->desc[i].av->mcast)
			ur_av_get((struct ur_av *)tx->desc[i].av);
	for (u32 i = first; i < tx->n_desc; i++) {
		struct ur_av *av = (struct ur_av *)tx->desc[i].av;
		struct ur_rx_meta meta;

		if (!av->loop && !av->mcast)
			continue;
		any = true;
		memset(&meta, 0, sizeof(meta));
		memcpy(meta.saddr, av->sgid, 16);
		memcpy(meta.daddr, av->dgid, 16);
		meta.v4 = av->v4;
		meta.tos = av->traffic_class;
		meta.ttl = av->hop_limit;
		meta.sl = av->sl;
		meta.udp_sport = av->udp_sport;
		meta.flow_label = av->flow_label;
		ur_port_rx(e->port, e->now, &meta, tx->buf + tx->desc[i].off,
			   tx->desc[i].len);
		ur_av_put(av);
	}
	if (any)
		ur_port_rx_end(e->port, e->now);
}

static void room(struct ur_watch *watch, u32 events)
{
	/* flush() tries again each turn while blocked; this ends a sleep */
}

static struct ur_watch room_watch = {room};

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
		taken = e->wire->ops->send(e->wire, tx, i, end, &wait_fd);
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

/* True when there was something. */
static bool transmit(struct ur_engine *e)
{
	bool any = false, more = true;

	if (e->tx_blocked && !flush(e))
		return false;
	for (u32 i = 0; more && i < TX_ROUNDS; i++) {
		e->tx.n_desc = 0;
		e->tx.used = 0;
		e->tx_sent = 0;
		more = ur_port_tx(e->port, e->now, &e->tx);
		if (more || e->tx.n_desc)
			any = true;
		if (e->tx.n_desc && !flush(e))
			break;
	}
	return any;
}

/* ---- doorbells ---- */

static void ring_slot(void *arg, u32 slot)
{
	struct ur_ectx *x = arg;
	struct ur_bell *next;

	for (struct ur_bell *b = x->bells[slot]; b; b = next) {
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

/* ---- sleep ---- */

static void publish_asleep(struct ur_engine *e, bool asleep)
{
	ur_list_for_each(it, &e->ectxs)
		ur_doorbell_sleep(ur_list_entry(it, struct ur_ectx, node)->db,
				  asleep);
	atomic_store_explicit(&e->asleep, asleep, memory_order_relaxed);
}

static bool work_waits(struct ur_engine *e)
{
	if (atomic_load(&e->mailbox.pending) || !ur_list_empty(&e->kicks))
		return true;
	ur_list_for_each(it, &e->ectxs)
		if (ur_doorbell_any(
			    ur_list_entry(it, struct ur_ectx, node)->db))
			return true;
	return false;
}

static bool go_to_sleep(struct ur_engine *e, ur_time until)
{
	struct timespec ts = {0};
	bool any;

	publish_asleep(e, true);
	atomic_thread_fence(memory_order_seq_cst);
	if (!work_waits(e)) {
		ur_time now = read_clock(CLOCK_MONOTONIC);
		u64 ns = until > now ? until - now : 0;

		if (until == UR_NEVER || ns > 3600ull * 1000000000ull)
			ns = 3600ull * 1000000000ull;
		ts.tv_sec = (time_t)(ns / 1000000000ull);
		ts.tv_nsec = (long)(ns % 1000000000ull);
		e->sleeps++;
	}
	any = dispatch(e, &ts);
	publish_asleep(e, false);
	return any;
}

/* ---- the turn ---- */

static bool look_at_wire(struct ur_engine *e)
{
	static const struct timespec zero;
	bool any = false;
	u64 quiet = e->now - e->last_rx;

	if (quiet < WIRE_HOT_NS)
		any = e->wire->ops->poll(e->wire);
	if (e->now - e->last_epoll >=
	    (quiet < WIRE_HOT_NS ? WIRE_QUIET_NS * 4 : WIRE_QUIET_NS)) {
		e->last_epoll = e->now;
		any |= dispatch(e, &zero);
	}
	return any;
}

static void end_rx(struct ur_engine *e)
{
	if (!e->rx_any)
		return;
	e->rx_any = false;
	e->last_rx = e->now;
	ur_port_rx_end(e->port, e->now);
}

static bool turn(struct ur_engine *e)
{
	bool any;

	e->turns++;
	e->now = read_clock(CLOCK_MONOTONIC);
	e->timestamp = read_clock(CLOCK_MONOTONIC_RAW);
	any = ur_mailbox_run(e);
	any |= answer_doorbells(e);
	any |= look_at_wire(e);
	end_rx(e);
	if (e->now >= ur_port_deadline(e->port)) {
		ur_port_expire(e->port, e->now);
		any = true;
	}
	any |= transmit(e);
	if (!ur_list_empty(&e->moderated))
		e->mod_deadline = ur_ecq_moderate(e, e->now);
	else
		e->mod_deadline = UR_NEVER;
	return any;
}

/*
 * Ask for slices a little shorter than the system's (kernel 6.12 and later, no
 * privilege): a thread that wakes with a shorter slice runs before one in the
 * middle of a longer one, however little shorter it is. Not much shorter,
 * since a yield forfeits a slice: of two threads that yield to each other the
 * one with a slice of a fourteenth gets fourteen turns to the other's one.
 */
static void ask_short_slices(u32 slice_us)
{
	struct {
		u32 size, policy;
		u64 flags;
		s32 nice;
		u32 priority;
		u64 runtime, deadline, period;
	} attr;

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0 ||
	    attr.policy != SCHED_OTHER || !attr.runtime)
		return;
	attr.runtime =
		slice_us ? slice_us * 1000ull : attr.runtime - attr.runtime / 8;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

/*
 * Let others run. Where that takes long time and again, they are not ones that
 * yield themselves: a program that spins on its memory. Yielding to such a one
 * costs its whole slice, while a sleeper is put before it when it wakes; so
 * the engine sleeps almost at once for a while.
 */
static void yield(struct ur_engine *e)
{
	ur_time after;
	u64 lost;

	sched_yield();
	after = read_clock(CLOCK_MONOTONIC);
	lost = after - e->now;
	if (lost < LONG_YIELD_NS)
		return;
	if (after - e->lost_since > LOST_WINDOW_NS) {
		e->lost_since = e->now;
		e->lost_ns = 0;
	}
	e->lost_ns += lost;
	if (e->lost_ns > LOST_LIMIT_NS) {
		e->crowded_until = after + CROWDED_NS;
		e->lost_ns = 0;
	}
}

void *ur_turn_thread(void *arg)
{
	struct ur_engine *e = arg;

	ask_short_slices(e->opt.slice_us);
	prctl(PR_SET_TIMERSLACK, 1ul); /* RNR timers are microseconds */
	e->last_work = read_clock(CLOCK_MONOTONIC);
	while (!e->stop) {
		ur_time until;

		if (turn(e)) {
			e->last_work = e->now;
			continue;
		}
		if (e->now < e->crowded_until) {
			if (e->now - e->last_work < CROWDED_SPIN_NS)
				continue;
		} else if (e->now - e->last_work < e->opt.spin_us * 1000ull) {
			yield(e);
			continue;
		}
		until = ur_min_u64(ur_port_deadline(e->port), e->mod_deadline);
		if (e->tx_blocked)
			until = ur_min_u64(until, e->now + RETRY_NS);
		if (go_to_sleep(e, until)) {
			end_rx(e);
			e->last_work = e->now;
		}
	}
	return NULL;
}
