// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An engine in a program: whose thread runs it, and when its own sleeps. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "engine/dispatch.h"
#include "engine/engine_impl.h"
#include "engine/faults.h"
#include "engine/guest_end.h"
#include "engine/ground/own_memory.h"
#include "engine/lend_counters.h"
#include "engine/poll_loop.h"
#include "engine/record.h"
#include "engine/ground/lent_record.h"
#include "engine/wait.h"
#include "engine/wire/wire.h"
#include "util/os/filtered.h"
#include "util/os/first_thread.h"
#include "util/os/high_fd.h"
#include "util/os/timed_lock.h"

/* While somebody polls, the thread looks so often whether it is still so: so
 * late at most is a timer, or an answer that was kept, once nobody does. */
#define NAP_NS 1000000
/* A program that has armed a queue so lately sleeps between its polls. */
#define ARMED_NS 20000000u
/* Completions of one turn of the program and the next: an answer waits for all. */
#define KEEP_NS	    10000u
#define STACK_BYTES (256u << 10)
/* Look at the program's file so often. */
#define LOOK_TURNS 256u
/* Without descriptors there is nothing to sleep at. */
#define REST_NS 50000000
/* Then it sleeps until the lock is free, and others leave it to it. */
#define LOCK_TRIES 100u
/* The thread has a processor by then, where many wait for one. */
#define FINISH_NS 200000000

int ur_guest_init(struct ur_engine *e)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	struct stat st;
	int err;

	ur_list_init(&e->guest.chans);
	e->guest.device_fd = e->guest.rest_fd = -1;
	if (!e->config.guest)
		return 0;
	if (fstat(e->config.file, &st) < 0)
		return -errno;
	e->guest.file_dev = st.st_dev;
	e->guest.file_ino = st.st_ino;
	err = ur_counters_borrow(e->config.lent.counters, &e->guest.counters);
	if (!err)
		e->guest.sl_refused = ur_counters_sl(e->guest.counters);
	if (!err)
		err = ur_settings_borrow(e->config.lent.settings,
					 &e->guest.settings);
	if (!err)
		err = ur_lent_record_map(e->config.lent.record,
					 &e->guest.record);
	if (err)
		return err;
	e->guest.rules = calloc(UR_LENT_FAULTS, sizeof(*e->guest.rules));
	if (!e->guest.rules)
		return -ENOMEM;
	e->guest.nap_fd = ur_high_fd(epoll_create1(EPOLL_CLOEXEC));
	if (e->guest.nap_fd < 0 ||
	    epoll_ctl(e->guest.nap_fd, EPOLL_CTL_ADD, e->call_fd, &ev) < 0)
		return -errno;
	return 0;
}

void ur_guest_fini(struct ur_engine *e)
{
	if (e->guest.nap_fd >= 0)
		close(e->guest.nap_fd);
	ur_counters_unmap(e->guest.counters);
	ur_settings_unmap(e->guest.settings);
	ur_lent_record_unmap(e->guest.record);
	free(e->guest.rules);
}

static bool sleeps_between(struct ur_engine *e)
{
	u32 arms = atomic_load_explicit(&e->guest.arms, memory_order_relaxed);
	u64 now;

	if (arms == e->guest.arms_seen && !e->guest.armed_at)
		return false;
	now = ur_clock_ns(CLOCK_MONOTONIC);
	if (arms != e->guest.arms_seen)
		e->guest.armed_at = now;
	else if (now - e->guest.armed_at >= ARMED_NS)
		e->guest.armed_at = 0;
	e->guest.arms_seen = arms;
	return e->guest.armed_at;
}

/* Somebody has polled since the last look, and nobody calls. */
static bool is_driven(struct ur_engine *e)
{
	u32 turns = atomic_load_explicit(&e->guest.turns, memory_order_relaxed);
	bool driven = turns != e->guest.seen;

	e->guest.seen = turns;
	return driven && !sleeps_between(e) &&
	       !atomic_load(&e->mailbox.pending);
}

/* Sends what the program has posted and left. Whoever has the lock does so anyway. */
static void send_left(struct ur_engine *e)
{
	if (!ur_post_batch_is_left(&e->guest.batch) ||
	    pthread_mutex_trylock(&e->mailbox.owner))
		return;
	e->guest.batch.sent++;
	ur_post_batch_sent(&e->guest.batch);
	ur_guest_acted(e);
	ur_poll_posted(e);
	ur_mailbox_release(e);
}

/* A nap, or two halves of one. Returns whether it was woken. */
static bool nap_once(struct ur_engine *e)
{
	u32 parts = ur_post_batch_is_stream(&e->guest.batch) ? 2 : 1;
	const struct timespec ts = {.tv_nsec = NAP_NS / (long)parts};
	struct epoll_event ev;
	bool woken = false;

	for (u32 i = 0; i < parts && !woken; i++) {
		woken = ur_dispatch_wait(e->guest.nap_fd, &ev, 1, &ts);
		send_left(e);
	}
	return woken;
}

/* Whoever polls does what there is, timers too. */
static void nap(struct ur_engine *e)
{
	atomic_store(&e->guest.naps, true);
	atomic_store(&e->asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!ur_work_waits(e) && !sleeps_between(e)) {
		ur_mailbox_release(e);
		do {
			ur_post_batch_look(&e->guest.batch);
			if (nap_once(e))
				break;
		} while (is_driven(e));
		ur_mailbox_acquire(e);
	}
	atomic_store(&e->asleep, 0);
	atomic_store(&e->guest.naps, false);
}

/* The numbers may be others' by now: nothing is written to them, and nothing closes
 * them. */
static void end(struct ur_engine *e)
{
	e->call_fd = e->epoll_fd = e->guest.nap_fd = e->guest.rest_fd = -1;
	atomic_store(&e->guest.closed, true);
}

void ur_guest_look(struct ur_engine *e, int error)
{
	if (e->config.guest &&
	    (error == EBADF || error == ENOTSOCK || error == EINVAL))
		end(e);
}

/* The slot may be another program's soon after its file was closed. */
static void look_at_file(struct ur_engine *e)
{
	struct stat st;

	if (fstat(e->config.file, &st) < 0 || st.st_dev != e->guest.file_dev ||
	    st.st_ino != e->guest.file_ino)
		end(e);
}

/* ---- after a fork ---- */

void ur_guest_rested(struct ur_engine *e)
{
	e->guest.rests = false;
	if (e->guest.rest_fd < 0)
		return;
	/* A child may have a copy. */
	epoll_ctl(e->guest.nap_fd, EPOLL_CTL_DEL, e->guest.rest_fd, NULL);
	close(e->guest.rest_fd);
	e->guest.rest_fd = -1;
}

/* Only the owner writes it. */
void ur_guest_acted(struct ur_engine *e)
{
	if (!e->guest.acts)
		return;
	atomic_store_explicit(
		e->guest.acts,
		atomic_load_explicit(e->guest.acts, memory_order_relaxed) + 1,
		memory_order_relaxed);
	if (!e->guest.rests)
		return;
	e->guest.rests = false;
	ur_mailbox_wake(e);
}

/* The program has done something, and left it to us. */
static bool is_asked(struct ur_engine *e)
{
	return atomic_load(&e->mailbox.pending) || ur_doorbells_rung(e);
}

/* Returns whether the child has ended, or runs another program, or the program goes on. */
static bool wait_for_child(struct ur_engine *e, u64 ns)
{
	const struct timespec ts = {.tv_nsec = (long)ns};
	struct epoll_event ev = {0};
	int n;

	atomic_store(&e->asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (is_asked(e)) {
		atomic_store(&e->asleep, 0);
		return true;
	}
	ur_mailbox_release(e);
	n = ur_dispatch_wait(e->guest.nap_fd, &ev, 1, &ts);
	ur_mailbox_acquire(e);
	atomic_store(&e->asleep, 0);
	return n < 0 || (n && ev.data.u32 == 1);
}

static void pause_for_child(struct ur_engine *e)
{
	while (e->guest.rests && !e->stop) {
		u64 now = ur_clock_ns(CLOCK_MONOTONIC);

		if (now >= e->guest.rest_until ||
		    wait_for_child(e, e->guest.rest_until - now))
			break;
	}
	ur_guest_rested(e);
}

/* ---- the thread ---- */

static bool is_over(struct ur_engine *e)
{
	return e->stop || ur_guest_end_is(e->now, &e->guest.end_looked);
}

/* Only to be ended, and for what the program still destroys. */
static void rest(struct ur_engine *e)
{
	static const struct timespec ts = {.tv_nsec = REST_NS};

	atomic_store(&e->asleep, 1);
	while (!is_over(e)) {
		ur_mailbox_run(e);
		ur_mailbox_release(e);
		nanosleep(&ts, NULL);
		ur_mailbox_acquire(e);
		e->now = ur_clock_ns(CLOCK_MONOTONIC);
	}
}

static void wait_for_work(struct ur_engine *e)
{
	if (is_driven(e))
		nap(e);
	else if (!ur_wait(e))
		return;
	look_at_file(e);
}

static void *guest_thread(void *arg)
{
	struct ur_engine *e = arg;

	ur_own_memory_thread();
	ur_guest_end_begins();
	pthread_mutex_lock(&e->mailbox.owner);
	ur_wait_init(e);
	while (!is_over(e)) {
		if (atomic_load(&e->guest.closed))
			rest(e);
		else if (e->guest.rests)
			pause_for_child(e);
		else if (ur_poll_turn(e))
			ur_idle_work(&e->idle, e->now);
		else
			wait_for_work(e);
	}
	/* The program's last handlers may call, and are their own engine. */
	atomic_store(&e->asleep, 1);
	pthread_mutex_unlock(&e->mailbox.owner);
	ur_guest_end_ends();
	return NULL;
}

/* Queue pairs that are connected take them over: others get theirs when they are. */
static void follow_classes(struct ur_engine *e, u32 classes)
{
	struct ur_lent_class c;
	struct ur_eqp *qp;

	if (classes == e->guest.classes_seen)
		return;
	e->guest.classes_seen = classes;
	for (u32 i = 0; i < UR_LENT_CLASSES; i++) {
		if (!ur_settings_read_class(e->guest.settings, e->shard, i, &c))
			continue;
		qp = ur_port_qp_ctx(e->port, c.qpn);
		if (qp)
			ur_eqp_take_class(e, qp, c.traffic_class, c.hop_limit);
	}
}

static void follow(struct ur_engine *e)
{
	struct ur_settings_lent now;

	if (!ur_settings_read(e->guest.settings, &e->guest.settings_seen, &now))
		return;
	ur_engine_apply_cc(e, &now.cc, now.ecn);
	ur_port_set_mtu(e->port, now.mtu_bytes);
	follow_classes(e, now.classes);
	ur_record_follow(e, now.record_run, now.record_kib);
	if (ur_settings_read_rules(e->guest.settings, e->guest.settings_seen,
				   e->guest.rules))
		ur_faults_follow(e, e->guest.rules);
	else
		e->guest.settings_seen = UR_SETTINGS_NONE;
}

void ur_guest_follow(struct ur_engine *e)
{
	if (!e->guest.settings)
		return;
	follow(e);
	if (e->guest.device_gone)
		ur_engine_give_up_gids(e);
	e->guest.device_gone = false;
	ur_engine_follow_gids(e, ur_settings_gids(e->guest.settings));
}

/* No signal of the program is for it; it lets those through that its own copies may
 * cause. */
int ur_guest_start(struct ur_engine *e)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	ur_guest_follow(e);
	err = -pthread_attr_init(&attr);
	if (err)
		return err;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&e->thread, &attr, guest_thread, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

/* Its one context's; NULL: there is none. */
static struct ur_user_mem *memory_of(const struct ur_engine *e)
{
	return !e->config.guest || ur_list_empty(&e->ectxs)
		       ? NULL
		       : ur_list_first(&e->ectxs, struct ur_ectx, node)->mem;
}

void ur_guest_copies_begin(struct ur_engine *e)
{
	struct ur_user_mem *mem = memory_of(e);

	if (mem)
		ur_own_memory_turn_begins(mem, e->now);
}

void ur_guest_turn_begins(struct ur_engine *e)
{
	e->guest.before = e->guest.cqes;
	ur_guest_copies_begin(e);
	ur_guest_follow(e);
}

void ur_guest_turn_ends(struct ur_engine *e)
{
	struct ur_user_mem *mem = memory_of(e);

	if (mem)
		ur_own_memory_turn_ends(mem);
}

void ur_guest_steps_aside(struct ur_engine *e)
{
	ur_guest_turn_ends(e);
	ur_mailbox_release(e);
}

/* Whoever has the lock shares our processor as a rule, and would have to wake us. */
static void take_lock(struct ur_engine *e)
{
	for (u32 i = 0; i < LOCK_TRIES; i++) {
		if (!pthread_mutex_trylock(&e->mailbox.owner))
			return;
		sched_yield();
	}
	atomic_store(&e->guest.waits, true);
	pthread_mutex_lock(&e->mailbox.owner);
	atomic_store(&e->guest.waits, false);
}

void ur_guest_steps_back(struct ur_engine *e)
{
	take_lock(e);
	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_guest_copies_begin(e);
}

bool ur_guest_keeps_answer(struct ur_engine *e)
{
	bool keeps = e->guest.drives && e->guest.cqes != e->guest.before &&
		     (!e->guest.kept || e->now - e->guest.kept < KEEP_NS) &&
		     atomic_load_explicit(&e->guest.naps, memory_order_relaxed);

	if (!keeps)
		e->guest.kept = 0;
	else if (!e->guest.kept)
		e->guest.kept = e->now;
	return keeps;
}

/* The thread sleeps. Whoever put something into a ring has asked for it to be woken, once, but
 * this turn may have taken the datagram that was to do it, so others have to ask again.
 * Returns whether there is something for it already. */
static bool came_meanwhile(struct ur_engine *e)
{
	ur_wire_sleeps(e, true);
	atomic_thread_fence(memory_order_seq_cst);
	return ur_wire_waits(e);
}

/* One turn, as the engine. Returns whether its thread is to be woken. */
static bool take_turn(struct ur_engine *e, bool posted)
{
	u32 turn = atomic_fetch_add_explicit(&e->guest.turns, 1,
					     memory_order_relaxed);

	if (turn % LOOK_TURNS == 0)
		look_at_file(e);
	if (atomic_load(&e->guest.closed))
		return false;
	ur_post_batch_sent(&e->guest.batch);
	if (posted) {
		e->guest.kept = 0;
		ur_guest_acted(e);
		ur_poll_posted(e);
	} else {
		ur_post_batch_polled(&e->guest.batch);
		e->guest.drives = true;
		ur_poll_turn(e);
		e->guest.drives = false;
	}
	return atomic_load(&e->asleep) && !atomic_load(&e->guest.naps) &&
	       (ur_poll_overdue(e) || came_meanwhile(e));
}

static bool drive(struct ur_engine *e, bool posted)
{
	bool wake;

	atomic_store_explicit(&e->guest.driver, pthread_self(),
			      memory_order_relaxed);
	wake = take_turn(e, posted);
	atomic_store_explicit(&e->guest.driver, 0, memory_order_relaxed);
	return wake;
}

/* A filter of system calls may end the calling thread for what an engine does. It has come
 * after our own thread, which goes on without it. */
static void leave_to_thread(struct ur_engine *e, bool posted)
{
	int error = errno;

	atomic_thread_fence(memory_order_seq_cst);
	if (posted && atomic_load(&e->asleep))
		ur_mailbox_wake(e);
	errno = error;
}

bool ur_engine_drive(struct ur_engine *e, bool posted)
{
	struct ur_mailbox *box = &e->mailbox;
	int error = errno, cancel;
	bool wake;

	if (atomic_load_explicit(&e->guest.closed, memory_order_relaxed))
		return false;
	if (__builtin_expect(ur_is_filtered(), 0)) {
		leave_to_thread(e, posted);
		return true;
	}
	/* System calls, which a thread may end in that is cancelled. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do {
		atomic_thread_fence(memory_order_seq_cst);
		if (atomic_load(&e->guest.waits) ||
		    pthread_mutex_trylock(&box->owner)) {
			if (posted && atomic_load(&e->asleep))
				ur_mailbox_wake(e);
			if (!posted) /* the thread is to leave it to us */
				atomic_fetch_add(&e->guest.turns, 1);
			break;
		}
		wake = drive(e, posted);
		pthread_mutex_unlock(&box->owner);
		if (wake)
			ur_mailbox_wake(e);
		atomic_thread_fence(memory_order_seq_cst);
		/* A thread that did not get the lock may have rung them. */
		posted = ur_doorbells_rung(e);
	} while (posted);
	pthread_setcancelstate(cancel, NULL);
	errno = error;
	return !atomic_load_explicit(&e->guest.closed, memory_order_relaxed);
}

bool ur_engine_datagram(struct ur_engine *e)
{
	return ur_post_batch_stays(&e->guest.batch,
				   atomic_load(&e->guest.naps)) ||
	       ur_engine_drive(e, true);
}

u32 ur_engine_turns(const struct ur_engine *e)
{
	return atomic_load_explicit(&e->guest.turns, memory_order_relaxed);
}

void ur_engine_finish(struct ur_engine *e)
{
	struct ur_mailbox *box = &e->mailbox;
	int cancel;

	/* From now on the thread looks whether it is the last one. */
	if (ur_first_thread_ends())
		ur_mailbox_wake(e);
	/* A handler of a signal that came in the middle of a turn has the lock. */
	if (atomic_load(&e->guest.closed) || ur_is_filtered() ||
	    atomic_load(&e->guest.driver) == pthread_self())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (ur_lock_within(&box->owner, FINISH_NS)) {
		if (ur_doorbells_rung(e))
			drive(e, true);
		pthread_mutex_unlock(&box->owner);
	}
	pthread_setcancelstate(cancel, NULL);
}

/* The thread sets naps and then reads arms, with a full barrier between the
 * two. */
void ur_engine_armed(struct ur_engine *e)
{
	int error = errno;

	atomic_fetch_add(&e->guest.arms, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&e->guest.naps))
		ur_mailbox_wake(e);
	if (!ur_is_filtered()) {
		ur_beside_armed(&e->guest.beside);
		ur_event_batch_help(&e->events);
	}
	errno = error;
}
