/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device of several engines. Each has a thread, a port, wires, and the
 * contexts that were opened on it, and touches nothing of the others on the
 * data path. The number of a queue pair names its engine (ur_shard_of()); a
 * packet that comes to another engine is handed over (handover.h).
 *
 * The first one is what control calls the device's engine. It alone has QP1,
 * and gets the packets that nobody claims.
 *
 * A device of one engine has no set, and the check for one is all that it pays.
 */
#ifndef UR_DEVICE_SHARDS_H
#define UR_DEVICE_SHARDS_H

#include "engine/engine_impl.h"
#include "engine/handover.h"
#include "transport/wire_format.h"

/* The words that an engine reads each turn, so that the cost does not grow with
 * the number of engines. Bits are engines. */
struct ur_shard {
	_Atomic u32 arrived; /* from whom something was published since */
	/* The engine's own: the engines that packets were put for, and those
	 * that may have sent more than one turn takes. */
	u32 put __attribute__((aligned(64)));
	u32 left;
} __attribute__((aligned(64)));

struct ur_shards {
	u32 n, bits;
	struct ur_engine *engine[UR_ENGINES_MAX];
	u32 n_ectxs[UR_ENGINES_MAX]; /* the control thread's */
	struct ur_shard of[UR_ENGINES_MAX];
	struct ur_handover queue[UR_ENGINES_MAX][UR_ENGINES_MAX]; /* from, to */
};

/* Makes a set for so many engines, 2 to UR_ENGINES_MAX, which are still to be
 * put in. Returns NULL where there is no memory. */
struct ur_shards *ur_shards_create(u32 n);
/* Frees it. No engine of it runs. NULL is fine. */
void ur_shards_destroy(struct ur_shards *shards);

/* Return how many engines the device has, and the nth. */
static inline u32 ur_shards_count(const struct ur_engine *engine)
{
	return engine->shards ? engine->shards->n : 1;
}
static inline struct ur_engine *ur_shards_nth(struct ur_engine *engine, u32 n)
{
	return engine->shards ? engine->shards->engine[n] : engine;
}
/* Return the number of the engine that has the queue pair with that number, if
 * any does, and that engine. */
static inline u32 ur_shards_index(const struct ur_shards *shards, u32 qpn)
{
	u32 i = ur_shard_of(qpn, shards->bits);

	return i < shards->n ? i : 0;
}
struct ur_engine *ur_shards_of(struct ur_engine *engine, u32 qpn);
/* Returns the engine for a new context, the one with the fewest; two that are
 * opened one after the other come to the same one, since they may want to talk
 * to each other. Counts it there; ur_shards_leave() undoes that. Control. */
struct ur_engine *ur_shards_join(struct ur_engine *engine);
void ur_shards_leave(struct ur_engine *engine);

/* ---- as the engine, of a device of several ---- */

/* Returns whether the packet, from the BTH on, is for another engine than this
 * one. One to a group is for all. */
static inline bool ur_shards_elsewhere(const struct ur_engine *engine,
				       const u8 *bth)
{
	u32 qpn = ur_get_be24(bth + 5);

	return qpn != UR_QPN_MULTICAST &&
	       ur_shards_index(engine->shards, qpn) != engine->shard;
}
/* Hands a packet that came in and is for another engine over, or drops it where
 * there is no room. It is seen there after ur_shards_show(). */
void ur_shards_pass(struct ur_engine *engine, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len);
/* Does so with the packets of engine->tx that go to queue pairs of the device
 * which another engine has, and to groups. */
void ur_shards_send(struct ur_engine *engine);
/* Shows the others what was handed over, and wakes those that sleep. */
void ur_shards_show(struct ur_engine *engine);
/* Takes in what others have handed over, not without end. Returns whether there
 * was anything. */
bool ur_shards_receive(struct ur_engine *engine);
/* Returns whether something waits to be taken in. */
bool ur_shards_wait(const struct ur_engine *engine);

#endif
