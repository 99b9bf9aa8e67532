/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers to objects: the slot of a number is its low bits, so a lookup is one
 * load and one compare. Numbers are drawn at random, so that none of them can
 * be predicted from others, or they count up. The table doubles when objects
 * are created, never on the data path. One thread at a time.
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
	u32 first, last, next; /* range of numbers; the next to try */
	/* source of random numbers; NULL: numbers count up */
	struct ur_secret *secret;
	/* bit for each number that was used; NULL: not kept */
	u64 *spent;
	u32 n_spent;
};

/* Makes an empty table for at most max objects with numbers from first to last.
 * secret stays the caller's and must outlive the table; NULL: numbers count up.
 * Allocates nothing. */
void ur_table_init(struct ur_table *t, u32 first, u32 last, u32 max,
		   struct ur_secret *secret);
/* Frees the table, but not the objects. */
void ur_table_fini(struct ur_table *t);
/* Makes the table not reuse a freed number until three quarters of all were
 * used. Returns 0 or -ENOMEM. */
int ur_table_spend(struct ur_table *t);
/* Gives object a number, in *id. Returns 0, or -ENOMEM, also where the table
 * has max objects. */
int ur_table_add(struct ur_table *t, void *object, u32 *id);
/* Enters object under a number that another table assigned. Returns 0; -EEXIST where the number
 * is in use, or the table would grow far beyond its need, so that another number may do; or
 * -ENOMEM. */
int ur_table_put(struct ur_table *t, void *object, u32 id);
/* Does the same for a number chosen by an untrusted party: the table does not grow beyond slots, a
 * power of two, for it. */
int ur_table_put_within(struct ur_table *t, void *object, u32 id, u32 slots);
/* Frees the number, which must be in use. The object is the caller's. */
void ur_table_remove(struct ur_table *t, u32 id);

/* Returns the object with that number, or NULL. */
static inline void *ur_table_lookup(const struct ur_table *t, u32 id)
{
	const struct ur_table_slot *s;

	if (!t->slot)
		return NULL;
	s = &t->slot[id & t->mask];
	return s->object && s->id == id ? s->object : NULL;
}

#endif
