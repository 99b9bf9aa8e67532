/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device lends to an engine in a program: a slot, which is the first
 * bits of the numbers of its queue pairs, a port from which it sends to engines of
 * this host, and for each address that it uses a socket that gets the packets for
 * these. The first of several engines lends. A part of engine.h, which has the rules
 * for threads and results.
 *
 * The owner of such a socket can remove the filter that gives each socket its
 * packets (SO_DETACH_REUSEPORT_BPF needs no privilege), and so get the packets
 * of others. Programs that control would not trust with these get none: the device keeps
 * their sockets, and puts what comes into a ring that they have (wire/udp_relay.h).
 */
#ifndef UR_ENGINE_ENGINE_LEND_H
#define UR_ENGINE_ENGINE_LEND_H

#include "engine/engine.h"

/* Bits of a slot. The first ones are the device's own engines', by their numbers: as many as
 * there may be (shards.h), and are never lent. */
#define UR_SLOT_BITS 5u
#define UR_SLOTS     (1u << UR_SLOT_BITS)

/* Lent to the engines in two slots, for packets between them (wire/udp_pair.h). In the device the
 * descriptors are the caller's. */
struct ur_lent_ring {
	u32 peer; /* slot of the other one */
	u32 loan; /* how often its slot has been lent */
	int words, out, in;
	bool relayed; /* the other one gets no sockets */
	bool same_user; /* it is the same user's, as its connection shows; control fills it in */
};

/* A process gets: */
enum ur_lend_way {
	UR_LEND_SOCKETS,
	UR_LEND_RELAYED, /* what comes is in a ring */
	UR_LEND_FAR, /* and what leaves, too: it is in another network namespace */
};

/* Takes a free slot, and a port for it, for that user's process. Returns 0, -EOPNOTSUPP (the engine was made without the option guests,
 * or the kernel has no seals), -EBUSY (all are lent) or -errno of the wire. */
int ur_engine_lend(struct ur_engine *engine, uid_t uid, pid_t pid,
		   enum ur_lend_way way, struct ur_lent *lent);
/* Returns the user of a slot that is lent. Control. */
uid_t ur_engine_lent_to(const struct ur_engine *engine, u32 slot);
/* Returns whether that number was given to a queue pair of whoever has the slot now. Control. */
bool ur_engine_lent_number(const struct ur_engine *engine, u32 slot,
			   u32 number);
/* Returns whether that number, at an address of the device, is one of a slot that is lent, but whose owner was never given it:
 * a former one may have had it. Control. */
bool ur_engine_is_nobodys(const struct ur_engine *engine, const u8 gid[16],
			  u32 number);
/* Returns how many slots there are to be lent. Control. */
u32 ur_engine_lend_room(const struct ur_engine *engine);
/* Ends it: the program has no queue pair any more. Its packets count until the
 * slot is lent again. */
void ur_engine_lend_end(struct ur_engine *engine, u32 slot);
/* Puts the socket of that slot for entry index of the GID table in *fd, which
 * stays the engine's, and the entry in gid; -1 where it has a ring, into which they come
 * from now on. Packets that it received before are still in it, for numbers that nobody
 * has any more. Returns 0, -EINVAL (no
 * such entry), -EOPNOTSUPP (a GID of RoCEv1) or -errno of the wire. */
int ur_engine_lend_socket(struct ur_engine *engine, u32 slot, u32 index,
			  u8 gid[16], int *fd);

/* The program in that slot, which was lent by UR_LEND_FAR, joins a multicast group once more, or leaves it.
 * Joining returns 0 or -errno. */
int ur_engine_lend_group(struct ur_engine *engine, u32 slot, const u8 gid[16],
			 bool joins);

/* Makes the rings between the engines in two slots, neither of them 0, unless they are there, and
 * lends them to the one in slot. Returns 0, -EINVAL (one is not lent), -EALREADY (it has
 * got them), or -errno. */
int ur_engine_lend_ring(struct ur_engine *engine, u32 slot, u32 peer,
			struct ur_lent_ring *ring);
/* Returns the slots that are lent, a bit each, where the GID is one of this device, else 0. */
u32 ur_engine_peers(const struct ur_engine *engine, const u8 gid[16]);
/* Called in a program: uses them, in place of what it had with that slot. The descriptors stay the
 * caller's. Returns 0 or -errno. */
int ur_engine_borrow_ring(struct ur_engine *engine,
			  const struct ur_lent_ring *ring);
/* Returns whether it has rings with the engine that is in that slot now. */
bool ur_engine_has_ring(struct ur_engine *engine, u32 peer);

/* Called in a program: sets entry index of the GID table, with a socket that
 * was lent for it, which becomes the engine's, or -1 where it has a ring. Returns 0,
 * -EALREADY where that GID has been set there, -EBUSY where another one has, or
 * -errno; after an error the socket stays the caller's. */
int ur_engine_borrow(struct ur_engine *engine, u32 index, const u8 *gid,
		     int fd);
/* Returns whether it has that GID already. */
bool ur_engine_has_gid(struct ur_engine *engine, u32 index, const u8 *gid);

/* Classes that ur_eqp_set_class() has set since this was called last are to reach the programs
 * that have the queue pairs. */
void ur_engine_show_classes(struct ur_engine *engine);

/* ---- when uroced was killed (ground/keep.h) ---- */

/* Returns whether an engine with those options lends, for which a keeper is needed. */
bool ur_engine_may_lend(const char *options);
/* For the keeper, who has the file of ports: uroced has gone. */
void ur_engine_left(int ports);
/* A program that has a slot: its process, and a descriptor (UR_KEPT_LIFE). */
struct ur_kept_life {
	int fd;
	uid_t uid;
	pid_t pid;
};
/* Goes on with what an earlier uroced has left of a device on that netdev. Returns the slots of
 * programs that are there, a bit each, and fills life for each; its descriptor is the caller's. To be
 * called once, before anything is lent. */
u32 ur_engine_inherit(struct ur_engine *engine,
		      struct ur_kept_life life[UR_SLOTS]);
/* Until ur_engine_settle(), return the entry of the GID table by which its programs know that
 * address, or -1; and whether they know any by that entry. */
int ur_engine_gid_at(const struct ur_engine *engine, const u8 gid[16]);
bool ur_engine_gid_known(const struct ur_engine *engine, u32 index);
/* The device has its addresses and settings: what else the earlier one had is given up. */
void ur_engine_settle(struct ur_engine *engine);
/* So is all that devices had which are no more. */
void ur_engine_settle_all(void);
/* Has the device's end of a socket to the program in that slot, a process, kept until the slot is
 * lent no more. Returns 0 or -errno. */
int ur_engine_keep_life(struct ur_engine *engine, u32 slot,
			const struct ur_kept_life *life);
/* The same life, which is kept, is that of another process of its user now. Returns as that. */
int ur_engine_pass_life_on(struct ur_engine *engine, u32 slot,
			   const struct ur_kept_life *life);

/* ---- the flight recorder (ground/lent_record.h) ---- */

struct ur_lent_record;

/* Returns whether the engine lends slots to programs. */
bool ur_engine_lends(const struct ur_engine *engine);
/* Fills the list with the rings of programs, those that have ended too, each to be given
 * back with ur_lent_record_put(), and *run with the number of the present recording.
 * Returns how many there are. */
u32 ur_engine_record_lent(const struct ur_engine *engine,
			  struct ur_lent_record *list[UR_SLOTS], u32 *run);
/* Returns whether a work request of theirs has failed since this was asked last. */
bool ur_engine_record_failed(struct ur_engine *engine);

/* ---- completion channels, asynchronous events ---- */

/* Returns the end into which events are sent; it stays the channel's. */
int ur_echan_lend(const struct ur_echan *chan);
/* Called in a program: makes a channel, in *chan, of that end and of the program's
 * own, which become the engine's. Returns 0 or -errno; after an error both stay the
 * caller's. */
int ur_echan_borrow(struct ur_ectx *ectx, int tx, int rx,
		    struct ur_echan **chan);
/* The same for a file of asynchronous events. */
int ur_easync_lend(const struct ur_easync *async);
int ur_easync_borrow(struct ur_ectx *ectx, int tx, int rx,
		     struct ur_easync **async);
/* Makes the engine look at fd: when that hangs up the device has gone, and what was
 * borrowed hangs up too, so that nobody waits there for ever; ended(arg), in a turn,
 * does it for what is not borrowed now. To be called once, and
 * fd stays the caller's for as long as the engine lives. Returns 0 or -errno. */
int ur_engine_end_with(struct ur_engine *engine, int fd,
		       void (*ended)(void *arg), void *arg);
/* A program is about to sleep until a queue with a channel has an event. Any
 * thread. */
void ur_engine_armed(struct ur_engine *engine);

#endif
