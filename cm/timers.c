/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Deadlines: a binary heap of ids, one deadline each. Arming and disarming
 * cost O(log n); the room is taken at create, so neither can fail. cm.c acts
 * upon what is due.
 */
#include "cm/conn.h"

/* 2^(t-8) ms; 1 << 16 s and more can only come from hostile MADs, so the
 * exponent is capped at 24 (65 s), what rdma_cm itself asks for in an MRA. */
#define EXPONENT_MAX 24

u64 ur_cm_time_ns(u8 exponent)
{
	if (exponent > EXPONENT_MAX)
		exponent = EXPONENT_MAX;
	return 1000000ull << (exponent > 8 ? exponent - 8 : 0);
}

static void place(struct ur_cm *cm, u32 slot, struct ur_cm_id *id)
{
	cm->heap[slot] = id;
	id->heap_slot = slot;
}

static void sift_up(struct ur_cm *cm, u32 slot)
{
	struct ur_cm_id *id = cm->heap[slot];

	for (; slot > 1; slot /= 2) {
		struct ur_cm_id *parent = cm->heap[slot / 2];

		if (parent->deadline <= id->deadline)
			break;
		place(cm, slot, parent);
	}
	place(cm, slot, id);
}

static void sift_down(struct ur_cm *cm, u32 slot)
{
	struct ur_cm_id *id = cm->heap[slot];

	for (;;) {
		u32 child = slot * 2;

		if (child > cm->heap_count)
			break;
		if (child < cm->heap_count &&
		    cm->heap[child + 1]->deadline < cm->heap[child]->deadline)
			child++;
		if (cm->heap[child]->deadline >= id->deadline)
			break;
		place(cm, slot, cm->heap[child]);
		slot = child;
	}
	place(cm, slot, id);
}

void ur_cm_disarm(struct ur_cm_id *id)
{
	struct ur_cm *cm = id->cm;
	u32 slot = id->heap_slot;
	struct ur_cm_id *last;

	if (!slot)
		return;
	id->heap_slot = 0;
	last = cm->heap[cm->heap_count--];
	if (last == id)
		return;
	place(cm, slot, last);
	sift_up(cm, slot);
	sift_down(cm, last->heap_slot);
}

void ur_cm_arm(struct ur_cm_id *id, u64 deadline)
{
	struct ur_cm *cm = id->cm;

	ur_cm_disarm(id);
	id->deadline = deadline;
	place(cm, ++cm->heap_count, id);
	sift_up(cm, cm->heap_count);
}

const char *ur_cm_heap_check(const struct ur_cm *cm)
{
	for (u32 i = 1; i <= cm->heap_count; i++) {
		if (cm->heap[i]->heap_slot != i)
			return "an id knows its place in the heap";
		if (i > 1 && cm->heap[i / 2]->deadline > cm->heap[i]->deadline)
			return "a parent in the heap is due no later";
	}
	return NULL;
}
