// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring of the flight recorder. The writer advances tail past the oldest records
 * before it overwrites them, and advances head past new ones when they are complete.
 * A reader copies from tail to head, and then drops what tail has passed meanwhile.
 * All words are atomic, since readers copy while the writer writes.
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

struct ur_recorder_ring {
	u64 run; /* number of the recording, for a reader in another process */
	u64 failures; /* failed work requests, for that reader */
	u64 head;     /* slots ever written */
	u64 tail;     /* first slot of the oldest record */
	u64 rsv[4];
	u64 word[];
};

struct ur_recorder {
	struct ur_recorder_ring *ring;
	bool attached;	/* the ring belongs to the caller */
	u64 head, tail; /* the ring's, as the writer knows them */
	u64 mask;	/* of a slot's index */
	bool shared;
	_Atomic u32 refs;
	pthread_mutex_t lock; /* for writers, when shared */
};

static u64 mask_of(u32 kib)
{
	return (u64)kib * 1024 / UROCE_RECORD_SLOT - 1;
}

size_t ur_recorder_ring_bytes(u32 kib)
{
	return sizeof(struct ur_recorder_ring) + (size_t)kib * 1024;
}

static struct ur_recorder *make_recorder(struct ur_recorder_ring *ring, u32 kib)
{
	struct ur_recorder *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return NULL;
	rec->ring = ring;
	rec->mask = mask_of(kib);
	pthread_mutex_init(&rec->lock, NULL);
	rec->refs = 1;
	return rec;
}

struct ur_recorder *ur_recorder_create(u32 kib)
{
	struct ur_recorder_ring *ring = calloc(1, ur_recorder_ring_bytes(kib));
	struct ur_recorder *rec = ring ? make_recorder(ring, kib) : NULL;

	if (!rec)
		free(ring);
	return rec;
}

static void store_word(u64 *to, u64 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

struct ur_recorder *ur_recorder_attach(struct ur_recorder_ring *ring, u32 kib,
				       u32 run)
{
	struct ur_recorder *rec = make_recorder(ring, kib);

	if (!rec)
		return NULL;
	rec->attached = true;
	store_word(&ring->run, 0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	store_word(&ring->head, 0);
	store_word(&ring->tail, 0);
	__atomic_store_n(&ring->run, run, __ATOMIC_RELEASE);
	return rec;
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
	if (!rec->attached)
		free(rec->ring);
	free(rec);
}

static u64 *place(struct ur_recorder *rec, u64 slot)
{
	return rec->ring->word + (slot & rec->mask) * WORDS;
}

static u32 slots_of(u8 kind)
{
	return kind == UROCE_RECORD_PACKET_OUT || kind == UROCE_RECORD_PACKET_IN
		       ? 2
		       : 1;
}

/* Drops the oldest records until there is room. The number of steps is bounded,
 * whatever is in the ring. Plain reads, since only the writer writes words. */
static void make_room(struct ur_recorder *rec, u64 end)
{
	u64 tail = rec->tail;
	struct uroce_record r;

	while (end - tail > rec->mask + 1) {
		memcpy(&r, place(rec, tail), sizeof(r));
		tail += slots_of(r.kind);
	}
	rec->tail = tail;
	store_word(&rec->ring->tail, tail);
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
			store_word(to + i, word);
		}
	}
	rec->head = head + slots;
	__atomic_store_n(&rec->ring->head, rec->head, __ATOMIC_RELEASE);
}

static void put_in_turn(struct ur_recorder *rec, const void *from, u32 slots)
{
	put_slots(rec, from, slots);
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

void ur_recorder_count_failure(struct ur_recorder *rec)
{
	store_word(&rec->ring->failures, rec->ring->failures + 1);
}

static u64 load_word(const u64 *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

u64 ur_recorder_ring_failures(const struct ur_recorder_ring *ring)
{
	return load_word(&ring->failures);
}

u64 ur_recorder_ring_run(const struct ur_recorder_ring *ring)
{
	return __atomic_load_n(&ring->run, __ATOMIC_ACQUIRE);
}

/* head and tail may have any values, and change: copies at most the ring, once. */
u32 ur_recorder_ring_copy(const struct ur_recorder_ring *ring, u32 kib,
			  void *to, u64 *lost)
{
	u64 from = load_word(&ring->tail), mask = mask_of(kib);
	u64 end = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	u64 *out = to, gone;

	/* head is read after tail, so the difference may exceed the ring. */
	if (end - from > mask + 1)
		from = end - mask - 1;
	for (u64 s = from; s != end; s++)
		for (u32 i = 0; i < WORDS; i++)
			*out++ = load_word(ring->word + (s & mask) * WORDS + i);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	gone = load_word(&ring->tail) - from;
	if ((s64)gone < 0)
		gone = 0;
	gone = ur_min_u64(gone, end - from);
	*lost = from + gone;
	if (gone)
		memmove(to, (u64 *)to + gone * WORDS,
			(end - from - gone) * UROCE_RECORD_SLOT);
	return (u32)(end - from - gone);
}

u32 ur_recorder_kib(const struct ur_recorder *rec)
{
	return (u32)((rec->mask + 1) * UROCE_RECORD_SLOT / 1024);
}

u32 ur_recorder_copy(struct ur_recorder *rec, void *to, u64 *lost)
{
	return ur_recorder_ring_copy(rec->ring, ur_recorder_kib(rec), to, lost);
}
