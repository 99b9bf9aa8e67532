/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The store of descriptors that outlive uroced: sockets and files in memory that engines in programs use.
 * The keeper, a process beside uroced (device/keeper.h), holds a copy of each; the next uroced takes
 * them over. As a service uroced uses systemd's store in its place (struct ur_keep_store).
 *
 * Thread: any. Without a keeper, as in a program, nothing is stored, which is no error. A keeper may be slow: a message that
 * was sent reaches it even if uroced is killed, so a call does not wait for the reply. Calls that do say so.
 */
#ifndef UR_ENGINE_GROUND_KEEP_H
#define UR_ENGINE_GROUND_KEEP_H

#include <string.h>
#include <sys/types.h>
#include "util/bytes.h"

/* Version of the messages and of all stored or shared memory (local/peer_ring.h). A release takes over nothing from one with
 * another version. */
#define UR_KEEP_VERSION 6u

enum ur_kept_kind {
	UR_KEPT_PORTS = 1, /* table of wire/udp_local.h; of no device */
	UR_KEPT_SETTINGS,  /* program_settings.h */
	UR_KEPT_SOCKET,	  /* receiving socket; value: its number in its group */
	UR_KEPT_OUT,	  /* granted sending socket; which: 1 for IPv4 */
	UR_KEPT_COUNTERS, /* program_counters.h */
	/* The device's end of a socket to the holder of a slot; value: ur_kept_process(). It hangs up when the program ends. The
	 * program's end hangs up when the last copy of this one is closed. */
	UR_KEPT_LIVENESS,
	/* The device's end of an rdma_cm event channel (device/kept_events.h); of no device; place: its number. Stored while the
	 * process has a UR_KEPT_LIVENESS, or, with UR_KEPT_ALONE in value, until the program closes it. */
	UR_KEPT_EVENTS,
	/* local/udp_relay.h, udp_outbox.h; which: ring, words, outbox or group. */
	UR_KEPT_RELAY,
	UR_KEPT_CM,	 /* device/ucma/ucma_journal.h; of no device */
	UR_KEPT_NUMBERS, /* slot_numbers.h */
};

/* Flag in the value of UR_KEPT_EVENTS: the process has no objects that end with uroced. No pid is so large. */
#define UR_KEPT_ALONE (1ull << 31)

/* Returns the value that names a process of a user. */
static inline u64 ur_kept_process(pid_t pid, uid_t uid)
{
	return (u64)uid << 32 | (u32)pid;
}

/* The name of a stored descriptor, all but value. A new one replaces the old one of that name. */
struct ur_kept {
	u32 kind;
	u32 device; /* number of the device in UR_KEPT_PORTS */
	u32 place;  /* slot or engine */
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

/* Returns whether the keeper stays until this one hangs up: a program that goes on without uroced. */
static inline bool ur_kept_is_liveness(const struct ur_kept *what)
{
	return what->kind == UR_KEPT_LIVENESS ||
	       (what->kind == UR_KEPT_EVENTS && (what->value & UR_KEPT_ALONE));
}

enum ur_keep_op {
	UR_KEEP_PUT = 1,       /* with a descriptor; replied to */
	UR_KEEP_DROP,	       /* replied to when the copy is closed */
	UR_KEEP_END,	       /* the keeper closes all and ends */
	UR_KEEP_HERE,	       /* from the keeper: one stored descriptor */
	UR_KEEP_DONE,	       /* from the keeper: reply; ret is 0 or -errno */
	UR_KEEP_RECOVERY_DONE, /* recovery is complete; replied to */
};

struct ur_keep_msg {
	u32 version; /* version and op never move */
	u32 op;
	s32 ret;
	u32 used; /* in a reply: how many of UR_KEEP_MAX can be stored no more */
	struct ur_kept what;
};

/* Most descriptors of one keeper. */
#define UR_KEEP_MAX 16384u

/* Operations of a store in the keeper's place (device/keeper_store.c). Called by one thread at a time; return 0 or -errno. */
struct ur_keep_store {
	int (*put)(const struct ur_kept *what, int fd);
	void (*renumber)(const struct ur_kept *what); /* the value changed */
	void (*drop)(const struct ur_kept *what);
	void (*recovery_done)(void);
	void (*end)(void); /* closes all */
	/* Returns whether it has a UR_KEPT_LIVENESS, or the like, of that process; 0: of any process. */
	bool (*has_program)(u64 process);
};

/* Uses that store in the keeper's place. Call it before there are threads. */
void ur_keep_use(const struct ur_keep_store *store);
/* Adds a descriptor that an earlier uroced left in the store. fd becomes the callee's, which closes it on error. Returns 0 or
 * -ENOMEM. */
int ur_keep_left(const struct ur_kept *what, int fd);
/* uroced ends in the ordinary way. If the store has a program, it stays with everything stored, and nothing stored changes from
 * now on. Returns whether it stays. */
bool ur_keep_stay(void);
/* Returns whether the store stays and has a program of that process. */
bool ur_keep_stays(pid_t pid, uid_t uid);

/* Connects to the keeper by that socket and receives all that it has stored. Waits for it for a minute; then returns -ETIMEDOUT. Returns
 * 0 or -errno; on error the socket is closed, and a keeper of another version was asked to end. Call it before there are threads. */
int ur_keep_begin(int link);
/* Stores a copy of fd under that name. fd stays the caller's. Returns 0, -ENOSPC, -EAGAIN (the keeper has much to read), or -errno of
 * the store. */
int ur_keep_put(const struct ur_kept *what, int fd);
/* Changes the value of a stored descriptor, of which fd is the original. */
void ur_keep_renumber(const struct ur_kept *what, int fd);
/* Removes a stored descriptor, if there is one. Waits for the end of a UR_KEPT_SOCKET's copy, 1 s at most. */
void ur_keep_drop(const struct ur_kept *what);
/* Returns whether copies of dropped sockets may still be open: the keeper has not replied within that second, and not since. */
bool ur_keep_is_late(void);
/* Takes over the descriptor of that name from an earlier uroced, and fills in what->value. Returns it, or -1. It becomes the caller's
 * and stays stored. */
int ur_keep_take(struct ur_kept *what);
/* Iterates over inherited descriptors of that kind and device that nobody has taken. *at is 0 at first. Returns whether *what
 * is filled. */
bool ur_keep_next(u32 kind, u32 device, u32 *at, struct ur_kept *what);
/* Returns whether an earlier uroced left a UR_KEPT_LIVENESS of that process, taken or not. Before ur_keep_forget(). */
bool ur_keep_has_left_liveness(u64 process);
/* Recovery is complete: removes all that nobody has taken, and reports that to the keeper. Waits for its reply, 1 s at most. The
 * keeper bears only some uroceds in a row that end before they report it (keeper_serve.c). */
void ur_keep_forget(void);
/* uroced ends in the ordinary way: ends the keeper, for which it waits 1 s at most, or empties the store unless it stays. Nothing is stored any more. */
void ur_keep_end(void);

#endif
