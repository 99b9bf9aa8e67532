// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Turns of users. The list has a row of waiters for each user; the rows are linked by
 * their first waiters. A user whose turn is over goes to the end of the list.
 *
 * While threads wait, the lock is taken, or handed to a waiter, or open to the
 * threads of the user whose turn it is. In the last case the first waiter of his row
 * has been woken, and takes the lock unless another thread of his is faster.
 */
#include <semaphore.h>
#include "engine/ground/turns.h"
#include "util/os/clock.h"
#include "util/os/follow.h"
#include "util/os/sem_wait.h"
#include "util/assert.h"

/* How long a thread looks at a taken lock before it sleeps, and after how many looks it asks for
 * the time. A sleep costs its waker and itself more than most work with the lock takes, above all
 * where the other is on another processor. */
#define SPIN_NS 20000u
#define LOOKS	16

/* Intervals at which a waiter checks whether the holder may lack a processor: the
 * first, then doubled up to the second. */
#define PATIENCE_MS	 1u
#define PATIENCE_MOST_MS 16u

/*
 * States in the lower half of the word; the upper half is the user. A word of 0: free,
 * without waiters. Above the two state bits the lower half has the holder's thread if
 * it follows a client (util/os/follow.h), else 0.
 */
enum {
	TAKEN = 1, /* taken, without waiters */
	WANTED,	   /* taken, with waiters */
	OPEN,	   /* free for that user, who has waiters */
	HOW = 3,   /* mask of the state */
	THREAD = 4,
};

/* A waiter, on the stack of the thread that waits. */
struct ur_turns_waiter {
	u32 user;
	u32 thread; /* as in the word; this and the rest under list_lock */
	bool woken, has;
	sem_t wake;
	struct ur_turns_waiter *next; /* of the same user */
	/* Valid in the first waiter of a user: */
	struct ur_turns_waiter *last;
	struct ur_turns_waiter *next_user;
};

void ur_turns_init(struct ur_turns *turns, u64 turn_ns)
{
	*turns = (struct ur_turns){.turn_ns = turn_ns};
	pthread_mutex_init(&turns->list_lock, NULL);
}

static u64 word(u32 user, u32 how)
{
	return (u64)user << 32 | how;
}

static u64 held(u32 user, u32 how, u32 thread)
{
	return word(user, how) + (u64)THREAD * thread;
}

static bool change(struct ur_turns *turns, u64 from, u64 to)
{
	return __atomic_compare_exchange_n(&turns->word, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static u64 look(const struct ur_turns *turns)
{
	return __atomic_load_n(&turns->word, __ATOMIC_RELAXED);
}

/* Returns the link to the user's first waiter, or the end of the list. */
static struct ur_turns_waiter **row(struct ur_turns *turns, u32 user)
{
	struct ur_turns_waiter **at = &turns->users;

	while (*at && (*at)->user != user)
		at = &(*at)->next_user;
	return at;
}

static void append_row(struct ur_turns *turns, struct ur_turns_waiter *first)
{
	struct ur_turns_waiter **at = &turns->users;

	while (*at)
		at = &(*at)->next_user;
	*at = first;
	first->next_user = NULL;
}

static void enter(struct ur_turns *turns, struct ur_turns_waiter *w)
{
	struct ur_turns_waiter *first = *row(turns, w->user);

	if (!turns->users)
		turns->since_ns = ur_clock_ns(CLOCK_MONOTONIC);
	if (first) {
		first->last->next = w;
		first->last = w;
	} else {
		w->last = w;
		append_row(turns, w);
	}
}

/* Removes the first waiter of a row. The row keeps its position. */
static struct ur_turns_waiter *leave_turns(struct ur_turns_waiter **at)
{
	struct ur_turns_waiter *first = *at, *next = first->next;

	ur_assert(next || first->last == first);
	if (next) {
		next->last = first->last;
		next->next_user = first->next_user;
	}
	*at = next ? next : first->next_user;
	return first;
}

/* Records that w has the lock now, and whether there are other waiters. */
static void set_taken(struct ur_turns *turns, const struct ur_turns_waiter *w)
{
	__atomic_store_n(
		&turns->word,
		held(w->user, turns->users ? WANTED : TAKEN, w->thread),
		__ATOMIC_RELEASE);
}

static bool take_open(struct ur_turns *turns, u32 user)
{
	return change(turns, word(user, OPEN),
		      held(user, WANTED, ur_follow_thread()));
}

/* Tries to take the lock; else marks it as wanted. Returns false if the caller has it. With
 * list_lock held. */
static bool has_to_wait(struct ur_turns *turns, u32 user)
{
	for (;;) {
		u64 now = look(turns);

		if (now == 0) {
			if (change(turns, 0,
				   held(user, TAKEN, ur_follow_thread())))
				return false;
		} else if (now == word(user, OPEN)) {
			if (take_open(turns, user))
				return false;
		} else if ((now & HOW) != TAKEN ||
			   change(turns, now, now - TAKEN + WANTED)) {
			return true;
		}
	}
}

/*
 * Makes the holder, or the waiter that was woken to take the lock, leave its processor,
 * if it is another user's and follows a client: it may get too little of it. With
 * list_lock held, so that the holder cannot release the lock, and the waiter cannot leave
 * its row.
 */
static void release_holder(struct ur_turns *turns, u32 user)
{
	u64 now = look(turns);
	u32 whose = (u32)(now >> 32), thread = 0;

	if (whose == user)
		return;
	if ((now & HOW) == WANTED) {
		if (change(turns, now, word(whose, WANTED)))
			thread = (u32)now / THREAD;
	} else if ((now & HOW) == OPEN) {
		thread = (*row(turns, whose))->thread;
		(*row(turns, whose))->thread = 0;
	}
	if (thread)
		ur_follow_release(thread);
}

/* Sleeps until the lock is the caller's. With list_lock held, which is released
 * meanwhile. */
static void sleep_until_mine(struct ur_turns *turns, struct ur_turns_waiter *w)
{
	u32 ms = PATIENCE_MS;

	for (;;) {
		bool woken;

		pthread_mutex_unlock(&turns->list_lock);
		woken = ur_sem_wait_ms(&w->wake, ms);
		pthread_mutex_lock(&turns->list_lock);
		if (w->has) {
			while (!woken && sem_wait(&w->wake) < 0)
				;
			return;
		}
		if (!woken) {
			release_holder(turns, w->user);
			ms = ur_min_u32(2 * ms, PATIENCE_MOST_MS);
			continue;
		}
		w->woken = false;
		if (take_open(turns, w->user)) {
			leave_turns(row(turns, w->user));
			set_taken(turns, w);
			return;
		}
	}
}

static void wait_for_turn(struct ur_turns *turns, u32 user)
{
	struct ur_turns_waiter w = {.user = user, .thread = ur_follow_thread()};

	pthread_mutex_lock(&turns->list_lock);
	if (has_to_wait(turns, user)) {
		sem_init(&w.wake, 0, 0);
		enter(turns, &w);
		sleep_until_mine(turns, &w);
		sem_destroy(&w.wake);
	}
	pthread_mutex_unlock(&turns->list_lock);
}

/* Yields to the processor's other hardware thread, for at most some 40 ns. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool take_at_once(struct ur_turns *turns, u32 user)
{
	return change(turns, 0, held(user, TAKEN, ur_follow_thread())) ||
	       take_open(turns, user);
}

/* Spins for the lock. Stops if there are waiters: then it is not the caller's turn. */
static bool take_soon(struct ur_turns *turns, u32 user)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + SPIN_NS;

	do {
		for (int i = 0; i < LOOKS && (look(turns) & HOW) == TAKEN; i++)
			relax();
		if (take_at_once(turns, user))
			return true;
	} while ((look(turns) & HOW) == TAKEN &&
		 ur_clock_ns(CLOCK_MONOTONIC) < until);
	return false;
}

void ur_turns_take(struct ur_turns *turns, u32 user)
{
	if (!take_at_once(turns, user) && !take_soon(turns, user))
		wait_for_turn(turns, user);
}

/* Hands the lock to the first waiter of the next row. There are waiters. */
static struct ur_turns_waiter *hand_over(struct ur_turns *turns, u32 user)
{
	struct ur_turns_waiter **same = row(turns, user), *first = *same;

	if (first) {
		*same = first->next_user;
		append_row(turns, first);
	}
	first = leave_turns(&turns->users);
	first->has = true;
	set_taken(turns, first);
	return first;
}

/* Passes the lock on. Returns the waiter to wake, or NULL if it was woken already. */
static struct ur_turns_waiter *pass_on(struct ur_turns *turns, u32 user)
{
	struct ur_turns_waiter *first = *row(turns, user);
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	if (first && now - turns->since_ns < turns->turn_ns) {
		__atomic_store_n(&turns->word, word(user, OPEN),
				 __ATOMIC_RELEASE);
	} else {
		turns->since_ns = now;
		first = hand_over(turns, user);
	}
	if (first->woken)
		return NULL;
	first->woken = true;
	return first;
}

void ur_turns_give(struct ur_turns *turns)
{
	u64 now = look(turns);
	struct ur_turns_waiter *to;

	if ((now & HOW) == TAKEN && change(turns, now, 0))
		return;
	pthread_mutex_lock(&turns->list_lock);
	to = pass_on(turns, (u32)(now >> 32));
	pthread_mutex_unlock(&turns->list_lock);
	/* Only this thread wakes the waiter, so it still exists. */
	if (to)
		sem_post(&to->wake);
}

u32 ur_turns_waiting(struct ur_turns *turns, u32 user)
{
	u32 n = 0;

	pthread_mutex_lock(&turns->list_lock);
	for (struct ur_turns_waiter *w = *row(turns, user); w; w = w->next)
		n++;
	pthread_mutex_unlock(&turns->list_lock);
	return n;
}
