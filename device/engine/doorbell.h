/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device's side of a doorbell page: two levels of bits, so that looking
 * for work costs one load, and taking it costs by what is active.
 */
#ifndef UR_DEVICE_DOORBELL_H
#define UR_DEVICE_DOORBELL_H

#include "kernel-abi/uroce-ring.h"
#include "util/bytes.h"

/* Is there anything? One relaxed load. */
static inline bool ur_doorbell_any(struct uroce_db_page *db)
{
	return __atomic_load_n(&db->summary, __ATOMIC_RELAXED) != 0;
}

/* Take all bits and call fn for each slot. At most UROCE_DB_SLOTS calls,
 * whatever the client does meanwhile. */
void ur_doorbell_take(struct uroce_db_page *db, void (*fn)(void *arg, u32 slot),
		      void *arg);

/* [S2]: say "asleep". The caller puts one full barrier behind all its pages
 * and then looks at ur_doorbell_any() again. */
static inline void ur_doorbell_sleep(struct uroce_db_page *db, bool asleep)
{
	__atomic_store_n(&db->asleep, asleep ? 1 : 0, __ATOMIC_RELAXED);
}

#endif
