/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engines of the users of a device. Each has a thread, a port, wires, and the
 * contexts that were opened on it, and touches nothing of the others on the
 * data path. The number of a queue pair names its engine (ur_shard_of()); a
 * packet that comes to another engine is handed over (handover.h).
 *
 * The first one is what control calls the device's engine. It alone has QP1,
 * and gets the packets that nobody claims.
 *
 * A user who makes his engine wait, for
 * example for a page that does not come, makes nobody else wait: only the engine
 * of a context touches the client's memory, writes into its event files and reads
 * its rings, and no engine waits for another. The first engine is for root and the
 * device's own user. More are made as users come (shards_grow.c), in the order of
 * their numbers, and stay.
 *
 * A device of one engine has no set, or pays a look at how many run.
 */
#ifndef UR_ENGINE_SEVERAL_SHARDS_H
#define UR_ENGINE_SEVERAL_SHARDS_H

#include "engine/core/engine_impl.h"
#include "engine/several/handover.h"
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

/* An engine has 2^19 numbers for its queue pairs. The first UR_SHARDS_MAX values of their first bits are
 * engines' of the set; those beyond are lent to programs (engine_lend.h). */
#define UR_SHARDS_MAX 8u

struct ur_shards {
	/* How many run. An engine counts when all that it needs is there. */
	_Atomic u32 n;
	struct ur_engine *engine[UR_SHARDS_MAX];
	/* The control thread's. Contexts of an engine, and whose the first of
	 * them was. */
	u32 n_ectxs[UR_SHARDS_MAX];
	uid_t uid[UR_SHARDS_MAX];
	struct ur_shard of[UR_SHARDS_MAX];
	struct ur_handover queue[UR_SHARDS_MAX][UR_SHARDS_MAX]; /* from, to */
};

/* Makes a set without engines. Returns NULL where there is no memory. */
struct ur_shards *ur_shards_create(void);
/* Adds one more engine with that config, and gives it the settings that the first
 * one has now. Returns 0, or -errno with nothing changed. Control. */
int ur_shards_grow(struct ur_shards *shards,
		   const struct ur_engine_config *config);
/* Frees it. No engine of it runs. NULL is fine. */
void ur_shards_destroy(struct ur_shards *shards);

/* Returns how many engines of the set run. */
static inline u32 ur_shards_running(const struct ur_shards *shards)
{
	return atomic_load_explicit(&shards->n, memory_order_acquire);
}
/* Return how many engines the device has now, whether there are several, and the
 * nth. */
static inline u32 ur_shards_count(const struct ur_engine *engine)
{
	return engine->shards ? ur_shards_running(engine->shards) : 1;
}
static inline bool ur_shards_several(const struct ur_engine *engine)
{
	return ur_shards_count(engine) > 1;
}
static inline struct ur_engine *ur_shards_nth(struct ur_engine *engine, u32 n)
{
	return engine->shards ? engine->shards->engine[n] : engine;
}
/* Walks over the engines, each as e. */
#define ur_shards_for_each(e, engine)                                    \
	for (u32 n_ = 0; n_ < ur_shards_count(engine); n_++)             \
		for (struct ur_engine *e = ur_shards_nth(engine, n_); e; \
		     e = NULL)
/* Return the number of the engine that has the queue pair with that number, if
 * any does, and that engine. */
static inline u32 ur_shards_index(const struct ur_shards *shards, u32 qpn)
{
	u32 i = ur_shard_of(qpn, UR_PLACE_BITS);

	return i < ur_shards_running(shards) ? i : 0;
}
struct ur_engine *ur_shards_of(struct ur_engine *engine, u32 qpn);
/* Puts the engine for a new context of that user in *ret. Counts it there; ur_shards_leave() undoes that.
 * Returns 0, or -errno where he has none yet and none can be made. Control. */
int ur_shards_join(struct ur_engine *engine, uid_t uid, struct ur_engine **ret);
void ur_shards_leave(struct ur_engine *engine);
/* Counts a context of that user in the engine, which others chose. */
void ur_shards_enter(struct ur_engine *engine, uid_t uid);

/* ---- as the engine, of a device of several ---- */

/* Returns whether the queue pair with that number, if there is one, is an engine's of
 * the device, and not one's in a program. */
static inline bool ur_shards_have(const struct ur_engine *engine, u32 qpn)
{
	u32 place = ur_shard_of(qpn, engine->shard_bits);

	return engine->shards ? place < UR_SHARDS_MAX : place == engine->shard;
}
/* Returns whether the packet, from the BTH on, is for another engine of the device than
 * this one. One to a group is for all. */
static inline bool ur_shards_elsewhere(const struct ur_engine *engine,
				       const u8 *bth)
{
	u32 qpn = ur_get_be24(bth + 5);

	return qpn != UR_QPN_MULTICAST && ur_shards_have(engine, qpn) &&
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
