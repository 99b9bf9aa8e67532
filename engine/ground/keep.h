/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sockets and files in memory outlive uroced, with which engines in programs go on
 * when it has been killed. The keeper, a process beside it (device/keeper.h), has a
 * copy of each descriptor, and the next uroced takes them over.
 *
 * Any thread. Where there is no keeper, as in a program, nothing is kept, which is no
 * error. A call waits for the keeper, who does nothing but this, for 1 s at most; one
 * that does not answer is done without.
 */
#ifndef UR_ENGINE_GROUND_KEEP_H
#define UR_ENGINE_GROUND_KEEP_H

#include <string.h>
#include <sys/types.h>
#include "util/bytes.h"

/* This is the version of the messages, and of the layout of all memory that is kept, or that programs
 * share (wire/peer_ring.h): a release takes over nothing of one with another number. */
#define UR_KEEP_VERSION 4u

enum ur_kept_kind {
	UR_KEPT_PORTS = 1, /* the file of wire/udp_own.h; of no device */
	UR_KEPT_SETTINGS,  /* of lend_settings.h */
	UR_KEPT_SOCKET,	   /* a receiving one; value: its number in its group */
	UR_KEPT_OUT,	   /* a lent sending one; which: whether it is IPv4 */
	UR_KEPT_COUNTERS,  /* of lend_counters.h */
	/* The device's end of a socket to a program that has a slot; value: its process (ur_kept_process()). It
	 * hangs up when the program ends, and at the program's end when the last copy of
	 * this one is closed. */
	UR_KEPT_LIFE,
	/* The device's end of an event channel (device/kept_events.h), which is kept while
	 * there is such a program of that process, or, with UR_KEPT_ALONE in value,
	 * until its program closes it; of no device; place: its number. */
	UR_KEPT_EVENTS,
	/* Files of wire/udp_relay.h; which: the ring, the one of both, an outbox, or a group. */
	UR_KEPT_RELAY,
	UR_KEPT_CM, /* records of rdma_cm (device/ucma/ucma_journal.h); of no device */
	UR_KEPT_NUMBERS, /* of lend_numbers.h */
};

/* In the value of UR_KEPT_EVENTS: its process has no objects that end with uroced. No
 * process number is so large. */
#define UR_KEPT_ALONE (1ull << 31)

/* Returns the value of what is kept for a process. */
static inline u64 ur_kept_process(pid_t pid, uid_t uid)
{
	return (u64)uid << 32 | (u32)pid;
}

/* All but value is the name: what has it takes the place of what had it before. */
struct ur_kept {
	u32 kind;
	u32 device; /* its number in the file of ports */
	u32 place;  /* the slot, or the engine */
	u32 which;
	u8 gid[16];
	u64 value;
};

static inline bool ur_kept_is_same(const struct ur_kept *a,
				   const struct ur_kept *b)
{
	return a->kind == b->kind && a->device == b->device &&
	       a->place == b->place && a->which == b->which &&
	       !memcmp(a->gid, b->gid, sizeof(a->gid));
}

/* Returns whether the keeper stays for it, until it hangs up: its program goes on. */
static inline bool ur_kept_is_life(const struct ur_kept *what)
{
	return what->kind == UR_KEPT_LIFE ||
	       (what->kind == UR_KEPT_EVENTS && (what->value & UR_KEPT_ALONE));
}

enum ur_keep_op {
	UR_KEEP_PUT = 1, /* with a descriptor; is answered */
	UR_KEEP_DROP,	 /* is answered, when it is closed */
	UR_KEEP_END,	 /* the keeper ends, with all that it has */
	UR_KEEP_HERE, /* the keeper: one that was kept, with its descriptor */
	UR_KEEP_DONE, /* the keeper: its answer; ret is 0 or -errno */
	UR_KEEP_SETTLED, /* uroced has taken over what it can; is answered */
};

struct ur_keep_msg {
	u32 version; /* this and op have their place in each version */
	u32 op;
	s32 ret;
	u32 rsv;
	struct ur_kept what;
};

/* Most that one keeper has. */
#define UR_KEEP_MAX 16384u

/* A store of descriptors that takes the keeper's place (device/keeper_store.c): it outlives
 * uroced as the keeper does. Its functions are called by one thread at a time, and
 * return 0 or -errno. */
struct ur_keep_store {
	int (*put)(const struct ur_kept *what, int fd);
	void (*renumber)(
		const struct ur_kept *what); /* has another value now */
	void (*drop)(const struct ur_kept *what);
	void (*settled)(void);
	void (*end)(void); /* with all that it has */
	/* Returns whether it has something of that process that ur_kept_is_life(); 0: of any. */
	bool (*has_program)(u64 process);
};

/* Keeps with that store from now on, before there are threads. */
void ur_keep_use(const struct ur_keep_store *store);
/* Says what an earlier uroced has left with the store. fd becomes the callee's. Returns 0 or
 * -ENOMEM, and then has closed it. */
int ur_keep_left(const struct ur_kept *what, int fd);
/* uroced ends in the ordinary way, and the store may outlive it: where it has a program, that stays with
 * all that is kept, of which nothing changes from now on. Returns whether it does so. */
bool ur_keep_stay(void);
/* Returns whether it does so, and a program of that process is among those. */
bool ur_keep_stays(pid_t pid, uid_t uid);

/* Talks to the keeper by that socket from now on, and takes in what it has, up to its first
 * answer. Returns 0, or -errno: then the socket is closed, and the keeper has been asked
 * to end where it is of another version. Before there are threads. */
int ur_keep_begin(int link);
/* Has a copy of fd, which stays the caller's, kept under that name. Returns 0, or -errno
 * where the keeper cannot. */
int ur_keep_put(const struct ur_kept *what, int fd);
/* The same that is kept under that name has another value now. Returns as ur_keep_put(). */
int ur_keep_renumber(const struct ur_kept *what, int fd);
/* Ends that, if there is one; when this returns the copy is closed. */
void ur_keep_drop(const struct ur_kept *what);
/* Returns the descriptor of that name which an earlier uroced has left, and fills in
 * what->value; or -1. It is the caller's, and stays kept. */
int ur_keep_take(struct ur_kept *what);
/* Fills *what with the next one of that kind and device which an earlier uroced has left and
 * nobody has taken; *at is 0 at first. Returns whether there is one. */
bool ur_keep_next(u32 kind, u32 device, u32 *at, struct ur_kept *what);
/* Returns whether an earlier uroced has left the life of a program of that process, which may be
 * taken meanwhile. Before ur_keep_forget(). */
bool ur_keep_has_left_life(u64 process);
/* Ends that for all that nobody has taken, and says to the keeper that this uroced has taken over: of
 * those that ended before they could say it, it bears some in a row (keeper_serve.c). */
void ur_keep_forget(void);
/* uroced ends in the ordinary way, and with it the keeper, or what is in the store, unless that
 * stays. Nothing is kept any more. */
void ur_keep_end(void);

#endif
