/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device's side of a doorbell page: two levels of bits, so that checking for
 * work costs one load, and taking it depends on the number of active slots only.
 */
#ifndef UR_ENGINE_CORE_DOORBELL_H
#define UR_ENGINE_CORE_DOORBELL_H

#include "kernel-abi/uroce-ring.h"
#include "util/bytes.h"

/* Returns whether any bit is set, by one relaxed load. */
static inline bool ur_doorbell_any(struct uroce_db_page *db)
{
	return __atomic_load_n(&db->summary, __ATOMIC_RELAXED) != 0;
}

/* Clears all bits, and calls fn for the slot of each: at most UROCE_DB_SLOTS
 * times, whatever the client does meanwhile. */
void ur_doorbell_take(struct uroce_db_page *db, void (*fn)(void *arg, u32 slot),
		      void *arg);

/* Publishes to the client whether the engine sleeps [S2]. Before sleeping, the
 * caller issues one full barrier after storing to all pages, and then checks
 * ur_doorbell_any() again. */
static inline void ur_doorbell_sleep(struct uroce_db_page *db, bool asleep)
{
	__atomic_store_n(&db->asleep, asleep ? 1 : 0, __ATOMIC_RELAXED);
}

/* Publishes to the client the engine's processor, plus one. */
static inline void ur_doorbell_at(struct uroce_db_page *db, u32 cpu)
{
	__atomic_store_n(&db->device_cpu, cpu, __ATOMIC_RELAXED);
}

#endif
