/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tells the device that a queue has work. The labels are those of
 * kernel-abi/uroce-ring.h.
 */
#ifndef UR_PROVIDERS_UROCE_DOORBELL_H
#define UR_PROVIDERS_UROCE_DOORBELL_H

#include <sched.h>
#include <unistd.h>

#include "kernel-abi/uroce-ring.h"
#include "util/bytes.h"

struct ur_doorbell {
	struct uroce_db_page *page;
	int wake_fd;
	u32 slots; /* power of two, at most UROCE_DB_SLOTS */
	/* Called after each ring where the engine is in this process and the
	 * posting thread runs it; else NULL. */
	void (*posted)(void *arg);
	void *arg;
	/* with posted: becomes 0 when the engine is no longer this process's */
	const volatile u32 *own;
	/* With own: tries to take the engine over in a child of fork. */
	void (*take_over)(void *arg);
};

/* Returns whether nobody will execute what this process posts: the engine is that of the parent,
 * which still runs, or its descriptors are closed. */
static inline bool ur_doorbell_is_dead(const struct ur_doorbell *db)
{
	if (__builtin_expect(!db->own || *db->own, 1))
		return false;
	db->take_over(db->arg);
	return db->own && !*db->own;
}

/*
 * Rings the doorbell of a slot, after the producer index was released [P1]. The
 * OR of the word is a full barrier. If the summary bit is still set after it,
 * the device's exchange of the summary [D4] comes after our load, and its
 * exchange of the word [D3] after that. So the device takes our bit, and the
 * summary bit need not be set again. Any thread.
 */
static inline void ur_doorbell_ring(const struct ur_doorbell *db, u32 slot)
{
	u32 w = slot / 64;
	u64 bit = 1ull << w;

	/* [D1] */
	__atomic_fetch_or(&db->page->word[w], 1ull << (slot % 64),
			  __ATOMIC_SEQ_CST);
	/* [D2] */
	if (!(__atomic_load_n(&db->page->summary, __ATOMIC_SEQ_CST) & bit))
		__atomic_fetch_or(&db->page->summary, bit, __ATOMIC_SEQ_CST);
	/* [S1] */
	if (__builtin_expect(
		    __atomic_load_n(&db->page->asleep, __ATOMIC_SEQ_CST), 0)) {
		u64 one = 1;

		__atomic_store_n(&db->page->cpu, (u32)sched_getcpu() + 1,
				 __ATOMIC_RELAXED);
		/* A full eventfd is already a wake-up; a dead device needs
		 * none. */
		if (write(db->wake_fd, &one, sizeof(one)) < 0)
			return;
	}
	if (__builtin_expect(db->posted != NULL, 0))
		db->posted(db->arg);
}

#endif
