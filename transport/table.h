/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers to objects: the slot of a number is its low bits, so a lookup is
 * one load and one compare. Numbers are drawn at random, as none of them may
 * tell another, or count up. Grows by doubling when objects are created, never
 * on the data path.
 */
#ifndef UR_TRANSPORT_TABLE_H
#define UR_TRANSPORT_TABLE_H

#include "util/bytes.h"
#include "util/secret.h"

struct ur_table_slot {
	u32 id;
	void *object; /* NULL: free */
};

struct ur_table {
	struct ur_table_slot *slot;
	u32 mask; /* slots - 1 */
	u32 count, max;
	u32 first, last, next;	  /* numbers given out */
	struct ur_secret *secret; /* what they are drawn from; NULL: counted */
};

/* Numbers first..last, at most max objects; secret as above, the caller's.
 * Nothing is allocated yet. */
void ur_table_init(struct ur_table *t, u32 first, u32 last, u32 max,
		   struct ur_secret *secret);
/* The objects are the caller's. */
void ur_table_fini(struct ur_table *t);
/* Give object a number in *id. 0, or -ENOMEM, also when full. */
int ur_table_add(struct ur_table *t, void *object, u32 *id);
void ur_table_remove(struct ur_table *t, u32 id);

/* The object with that number, or NULL. */
static inline void *ur_table_lookup(const struct ur_table *t, u32 id)
{
	const struct ur_table_slot *s;

	if (!t->slot)
		return NULL;
	s = &t->slot[id & t->mask];
	return s->object && s->id == id ? s->object : NULL;
}

#endif
