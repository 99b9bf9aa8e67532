/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A doubly linked ring of nodes embedded in their owners. An unlinked node
 * points at itself, so removing twice is harmless. Not thread safe.
 */
#ifndef UR_UTIL_LIST_H
#define UR_UTIL_LIST_H

#include "util/bytes.h"

struct ur_list {
	struct ur_list *next, *prev;
};

/* Makes an empty list, or an unlinked node. */
static inline void ur_list_init(struct ur_list *l)
{
	l->next = l;
	l->prev = l;
}

/* Returns whether the list is empty, or the node is in no list. */
static inline bool ur_list_empty(const struct ur_list *l)
{
	return l->next == l;
}

/* Add n, which is in no list, at the end or at the begin. */
static inline void ur_list_add_tail(struct ur_list *head, struct ur_list *n)
{
	n->prev = head->prev;
	n->next = head;
	head->prev->next = n;
	head->prev = n;
}

static inline void ur_list_add_head(struct ur_list *head, struct ur_list *n)
{
	ur_list_add_tail(head->next, n);
}

/* Takes n off its list, if it is in one. */
static inline void ur_list_del(struct ur_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	ur_list_init(n);
}

/* Moves all nodes of from, in their order, to the begin of head. */
static inline void ur_list_splice(struct ur_list *head, struct ur_list *from)
{
	if (ur_list_empty(from))
		return;
	from->prev->next = head->next;
	head->next->prev = from->prev;
	head->next = from->next;
	from->next->prev = head;
	ur_list_init(from);
}

#define ur_list_entry(node, type, member) ur_container_of(node, type, member)
#define ur_list_first(head, type, member) \
	ur_list_entry((head)->next, type, member)

#define ur_list_for_each(it, head) \
	for (struct ur_list *it = (head)->next; it != (head); it = it->next)

/* Declares it, and goes through the list with it: objects of that type, which have their node in
 * that member. */
#define ur_list_each(type, it, head, member)                       \
	for (type *it = ur_list_entry((head)->next, type, member); \
	     &it->member != (head);                                \
	     it = ur_list_entry(it->member.next, type, member))

/* As ur_list_for_each(), for a body that may remove the node under the cursor. */
#define ur_list_for_each_safe(it, head)                                \
	for (struct ur_list *it = (head)->next, *it##_next = it->next; \
	     it != (head); it = it##_next, it##_next = it->next)

#endif
