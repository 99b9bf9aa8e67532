/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Around the outbox door: an engine in a network namespace of its own, all of whose slots are granted, the
 * last one to a program of another namespace, anew for each input. All that leaves for that program is caught where
 * it is handed to the kernel, and judged there.
 */
#ifndef UR_TESTS_FUZZ_OUTBOX_WORLD_H
#define UR_TESTS_FUZZ_OUTBOX_WORLD_H

#include <sys/socket.h>
#include "engine/core/engine_impl.h"
#include "engine/local/peer_ring.h"
#include "engine/local/udp_outbox_impl.h"

#define OUTBOX_SLOT    29u
#define OUTBOX_FAR     1u /* another one like it */
#define OUTBOX_RELAYED 2u

/* Addresses: the device's that the program has, one that it has not, others' and groups. */
enum {
	OWN_V4,
	OWN_V6,
	ALIEN_V4,
	PEER_V4,
	PEER_V6,
	GROUP_V4,
	GROUP_V6,
	HOST_V4,
	HOST_V6,
	ANY_V4,
	ALL_V4,
	LINK_V6,
	OUTBOX_GIDS,
};
extern const u8 outbox_gids[OUTBOX_GIDS][16];

struct outbox_world {
	struct ur_engine *engine;
	struct ur_grant grant;
	struct ur_udp_outbox *outbox; /* the device's part */
	struct ur_udp_relay *relay;   /* what comes */
	/* The program has them mapped. */
	u8 *file;
	struct ur_peer_word *words;
	/* Called with each datagram before it leaves, and returns 0 or an errno; NULL: it leaves. */
	int (*leaves)(void *arg);
	void *arg;
	u32 datagrams, packets, wakes;
	u64 bytes; /* of the former two */
};
extern struct outbox_world outbox_world;

void outbox_world_start(void);
/* groups: the program is in some. */
void outbox_world_grant(bool groups);
void outbox_world_end(void);

/* outbox_oracle.c: what a program of another network namespace may send (doc/security.md), or the test ends. */
struct outbox_rights {
	const u8 (*gids)[16]; /* its addresses */
	u32 n_gids;
	u32 slot;
	u16 port; /* from which it all leaves */
};
/* Returns how many packets it was. */
u32 outbox_oracle_datagram(const struct outbox_rights *rights,
			   const struct msghdr *msg);
void outbox_oracle_wake(const struct outbox_rights *rights,
			const struct msghdr *msg);

#endif
