// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers to objects: growing the table, assigning and freeing numbers.
 */
#include "transport/table.h"
#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u
/* A number assigned elsewhere may have a slot that another number has. The table then grows
 * until they have two, up to this many slots per object. */
#define SPARSE 64u

void ur_table_init(struct ur_table *t, u32 first, u32 last, u32 max,
		   struct ur_secret *secret)
{
	*t = (struct ur_table){.first = first,
			       .last = last,
			       .next = first,
			       .max = max,
			       .secret = secret};
}

void ur_table_fini(struct ur_table *t)
{
	free(t->slot);
	free(t->spent);
	t->slot = NULL;
	t->spent = NULL;
}

int ur_table_spend(struct ur_table *t)
{
	if (!t->spent)
		t->spent = calloc(t->last / 64 + 1, sizeof(*t->spent));
	return t->spent ? 0 : -ENOMEM;
}

static bool is_spent(const struct ur_table *t, u32 n)
{
	return t->spent && n <= t->last && (t->spent[n / 64] >> (n & 63) & 1);
}

static void spend(struct ur_table *t, u32 n)
{
	u32 all = t->last - t->first + 1;

	if (!t->spent || n > t->last || is_spent(t, n))
		return;
	if (++t->n_spent > all - all / 4) {
		memset(t->spent, 0, (t->last / 64 + 1) * sizeof(*t->spent));
		t->n_spent = 1;
	}
	t->spent[n / 64] |= 1ull << (n & 63);
}

/* Two numbers with different low bits keep them different in a larger table, so
 * moving never collides. */
static int grow_table(struct ur_table *t)
{
	u32 slots = t->slot ? (t->mask + 1) * 2 : FIRST_SLOTS;
	struct ur_table_slot *s = calloc(slots, sizeof(*s));

	if (!s)
		return -ENOMEM;
	for (u32 i = 0; t->slot && i <= t->mask; i++)
		if (t->slot[i].object)
			s[t->slot[i].id & (slots - 1)] = t->slot[i];
	free(t->slot);
	t->slot = s;
	t->mask = slots - 1;
	return 0;
}

/* Returns a number to try. */
static u32 draw(struct ur_table *t)
{
	u32 n = t->next;

	if (t->secret)
		return t->first +
		       ur_secret_below(t->secret, t->last - t->first + 1);
	t->next = n == t->last ? t->first : n + 1;
	return n;
}

int ur_table_add(struct ur_table *t, void *object, u32 *id)
{
	int err;

	if (t->count >= t->max)
		return -ENOMEM;
	/* At most half full, so that the search below takes two tries. */
	if (!t->slot || t->count > t->mask / 2) {
		err = grow_table(t);
		if (err)
			return err;
	}
	for (;;) {
		u32 n = draw(t);

		if (t->slot[n & t->mask].object || is_spent(t, n))
			continue;
		ur_assert(t->count <= t->mask);
		t->slot[n & t->mask] = (struct ur_table_slot){n, object};
		t->count++;
		*id = n;
		return 0;
	}
}

int ur_table_put(struct ur_table *t, void *object, u32 id)
{
	return ur_table_put_within(t, object, id, UINT32_MAX);
}

int ur_table_put_within(struct ur_table *t, void *object, u32 id, u32 slots)
{
	bool crowded;
	int err;

	if (ur_table_lookup(t, id))
		return -EEXIST;
	if (t->count >= t->max)
		return -ENOMEM;
	/* The number is given, so another slot cannot be chosen. */
	while (!t->slot || t->count > t->mask / 2 ||
	       t->slot[id & t->mask].object) {
		crowded = !t->slot || t->count > t->mask / 2;
		if (!crowded && (t->mask > SPARSE * (t->count + FIRST_SLOTS) ||
				 t->mask >= slots - 1))
			return -EEXIST;
		err = grow_table(t);
		if (err)
			return err;
	}
	ur_assert(t->count <= t->mask);
	t->slot[id & t->mask] = (struct ur_table_slot){id, object};
	t->count++;
	return 0;
}

void ur_table_remove(struct ur_table *t, u32 id)
{
	if (!ur_table_lookup(t, id))
		return;
	ur_assert(t->count);
	t->slot[id & t->mask].object = NULL;
	t->count--;
	spend(t, id);
}
