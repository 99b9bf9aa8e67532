// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring of the flight recorder. The writer gives up the oldest records (tail)
 * before it overwrites them, and new ones are there when head has passed them. A
 * reader copies from tail to head, and then leaves out what tail has passed
 * meanwhile. All words are atomic, so that a torn one is no undefined behaviour.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "engine/ground/recorder.h"
#include "util/assert.h"

#define WORDS (UROCE_RECORD_SLOT / 8)

_Static_assert(sizeof(struct uroce_record) == UROCE_RECORD_SLOT, "one slot");
_Static_assert(sizeof(struct uroce_record_packet) == 2 * UROCE_RECORD_SLOT,
	       "two slots");

struct ur_recorder {
	u64 head; /* slots ever written */
	u64 tail; /* the oldest one that is still there begins a record */
	u64 mask; /* of a slot's place */
	bool shared;
	_Atomic u32 refs;
	pthread_mutex_t lock; /* writers, when shared */
	u64 word[];
};

struct ur_recorder *ur_recorder_create(u32 kib)
{
	struct ur_recorder *rec;

	rec = calloc(1, sizeof(*rec) + (size_t)kib * 1024);
	if (!rec)
		return NULL;
	rec->mask = (u64)kib * 1024 / UROCE_RECORD_SLOT - 1;
	pthread_mutex_init(&rec->lock, NULL);
	rec->refs = 1;
	return rec;
}

void ur_recorder_share(struct ur_recorder *rec)
{
	rec->shared = true;
}

void ur_recorder_keep(struct ur_recorder *rec)
{
	atomic_fetch_add(&rec->refs, 1);
}

void ur_recorder_free(struct ur_recorder *rec)
{
	if (!rec || atomic_fetch_sub(&rec->refs, 1) > 1)
		return;
	pthread_mutex_destroy(&rec->lock);
	free(rec);
}

static u64 *place(struct ur_recorder *rec, u64 slot)
{
	return rec->word + (slot & rec->mask) * WORDS;
}

static u32 slots_of(u8 kind)
{
	return kind == UROCE_RECORD_PACKET_OUT || kind == UROCE_RECORD_PACKET_IN
		       ? 2
		       : 1;
}

/* Gives up the oldest until there is room. Only the writer writes words, so it
 * reads them as they are. */
static void make_room(struct ur_recorder *rec, u64 end)
{
	u64 tail = rec->tail;
	struct uroce_record r;

	while (end - tail > rec->mask + 1) {
		memcpy(&r, place(rec, tail), sizeof(r));
		tail += slots_of(r.kind);
	}
	__atomic_store_n(&rec->tail, tail, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with copy's */
}

static void put_slots(struct ur_recorder *rec, const void *from, u32 slots)
{
	u64 head = rec->head, word;

	make_room(rec, head + slots);
	ur_assert_hot(head + slots - rec->tail <= rec->mask + 1);
	for (u32 s = 0; s < slots; s++) {
		u64 *to = place(rec, head + s);

		for (u32 i = 0; i < WORDS; i++) {
			memcpy(&word, (const u8 *)from + (s * WORDS + i) * 8,
			       sizeof(word));
			__atomic_store_n(to + i, word, __ATOMIC_RELAXED);
		}
	}
	__atomic_store_n(&rec->head, head + slots, __ATOMIC_RELEASE);
}

static void put_in_turn(struct ur_recorder *rec, const void *from, u32 slots)
{
	if (rec->shared)
		pthread_mutex_lock(&rec->lock);
	put_slots(rec, from, slots);
	if (rec->shared)
		pthread_mutex_unlock(&rec->lock);
}

void ur_recorder_put(struct ur_recorder *rec, const struct uroce_record *r)
{
	put_in_turn(rec, r, 1);
}

void ur_recorder_put_packet(struct ur_recorder *rec,
			    const struct uroce_record_packet *p)
{
	put_in_turn(rec, p, 2);
}

u32 ur_recorder_copy(struct ur_recorder *rec, void *to, u64 *lost)
{
	u64 from = __atomic_load_n(&rec->tail, __ATOMIC_RELAXED);
	u64 end = __atomic_load_n(&rec->head, __ATOMIC_ACQUIRE);
	u64 *out = to, now;

	/* head is read behind tail, so more than a ring may lie between. */
	if (end - from > rec->mask + 1)
		from = end - rec->mask - 1;
	for (u64 s = from; s != end; s++)
		for (u32 i = 0; i < WORDS; i++)
			*out++ = __atomic_load_n(place(rec, s) + i,
						 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	now = __atomic_load_n(&rec->tail, __ATOMIC_RELAXED);
	if (now > end)
		now = end;
	*lost = now;
	if (now > from)
		memmove(to, (u64 *)to + (now - from) * WORDS,
			(end - now) * UROCE_RECORD_SLOT);
	return (u32)(end - now);
}
