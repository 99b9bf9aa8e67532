/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Deadlines: a binary min-heap of nodes embedded in their owners. A node knows
 * its place, so moving and removing are O(log n). The heap's owner provides a
 * large enough array of places. Not thread safe. Nothing here fails or
 * allocates.
 */
#ifndef UR_UTIL_HEAP_H
#define UR_UTIL_HEAP_H

#include "util/bytes.h"

struct ur_heap_node {
	u64 at;	  /* the key: earliest first */
	u32 slot; /* index in the heap + 1; 0: not in it */
};

/* The key beside the pointer, so that sifting reads only nodes that move. */
struct ur_heap_place {
	u64 at;
	struct ur_heap_node *node;
};

struct ur_heap {
	struct ur_heap_place *place; /* room for count nodes */
	u32 count;
};

/* Returns the node that is due first, or NULL where the heap is empty. */
static inline struct ur_heap_node *ur_heap_first(const struct ur_heap *h)
{
	return h->count ? h->place[0].node : NULL;
}

/* Returns whether the node is in a heap. */
static inline bool ur_heap_has(const struct ur_heap_node *n)
{
	return n->slot != 0;
}

static inline void ur_heap_set_(struct ur_heap *h, u32 i,
				struct ur_heap_place p)
{
	h->place[i] = p;
	p.node->slot = i + 1;
}

static inline void ur_heap_up_(struct ur_heap *h, u32 i)
{
	struct ur_heap_place p = h->place[i];

	while (i && h->place[(i - 1) / 2].at > p.at) {
		ur_heap_set_(h, i, h->place[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	ur_heap_set_(h, i, p);
}

static inline void ur_heap_down_(struct ur_heap *h, u32 i)
{
	struct ur_heap_place p = h->place[i];

	for (;;) {
		u32 c = 2 * i + 1;

		if (c >= h->count)
			break;
		if (c + 1 < h->count && h->place[c + 1].at < h->place[c].at)
			c++;
		if (h->place[c].at >= p.at)
			break;
		ur_heap_set_(h, i, h->place[c]);
		i = c;
	}
	ur_heap_set_(h, i, p);
}

/* Adds n, which is not in the heap. There must be a place for it. */
static inline void ur_heap_add(struct ur_heap *h, struct ur_heap_node *n,
			       u64 at)
{
	n->at = at;
	h->place[h->count] = (struct ur_heap_place){at, n};
	ur_heap_up_(h, h->count++);
}

/* Moves n, which is in the heap, to a time that is not later than its own. */
static inline void ur_heap_earlier(struct ur_heap *h, struct ur_heap_node *n,
				   u64 at)
{
	n->at = at;
	h->place[n->slot - 1].at = at;
	ur_heap_up_(h, n->slot - 1);
}

/* Removes n, if it is in the heap. */
static inline void ur_heap_remove(struct ur_heap *h, struct ur_heap_node *n)
{
	struct ur_heap_place last;
	u32 i = n->slot - 1;

	if (!n->slot)
		return;
	n->slot = 0;
	last = h->place[--h->count];
	if (last.node == n)
		return;
	ur_heap_set_(h, i, last);
	ur_heap_up_(h, i);
	ur_heap_down_(h, last.node->slot - 1);
}

/* Returns the first broken rule, in words, or NULL. */
static inline const char *ur_heap_check(const struct ur_heap *h)
{
	for (u32 i = 0; i < h->count; i++) {
		if (h->place[i].node->slot != i + 1)
			return "a node knows its place in the heap";
		if (h->place[i].node->at != h->place[i].at)
			return "a place in the heap has the time of its node";
		if (i && h->place[(i - 1) / 2].at > h->place[i].at)
			return "a parent in the heap is due no later";
	}
	return NULL;
}

#endif
