// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring between two processes. Byte counts only grow, modulo 2^32; an offset in an area is
 * a count modulo the area's size. The end of the stream splits no record, and the end of the
 * bulk area no reservation.
 *
 * Sleep race: the writer publishes and then reads asleep; the reader sets asleep and then
 * reads the next record, with a full barrier in between on both sides, so that one of them
 * sees the other. Likewise for waits and the room.
 */
#include "engine/local/peer_ring.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "util/assert.h"

#define UNIT UR_PEER_MESSAGE_BYTES
#define SKIP UINT32_MAX

struct peer_record {
	_Atomic u32 mark; /* ur_peer_mark(): the record is present */
	u32 len;	  /* SKIP: the rest of the stream is empty */
	u32 freed;	  /* ur_peer_word.freed once this record was read */
	u32 bulk, flow_label;
	u16 seg, sport;
	u8 first, tos, ttl;
	u8 flags; /* SPLIT, HAS_ADDRS, SHOWN, SHOWS */
	/* With HAS_ADDRS: the addresses, then the packets. Else the packets begin here. */
	u8 addrs[32];
};

#define SPLIT	  1u
#define HAS_ADDRS 2u
#define SHOWN \
	4u /* with SPLIT: bulk and first are the place, sport is the file */
#define SHOWS 8u
#define SHORT offsetof(struct peer_record, addrs)

_Static_assert(sizeof(struct peer_record) <= UNIT && SHORT == 28,
	       "a packet of 64 bytes and an acknowledgement are in two lines");
_Static_assert(offsetof(struct ur_peer_message, daddr) == 16 &&
		       !offsetof(struct ur_peer_message, saddr),
	       "the two addresses");
_Static_assert(UR_IS_POW2(UR_PEER_STREAM_BYTES) &&
		       UR_IS_POW2(UR_PEER_BULK_BYTES),
	       "places are bits of a count");
_Static_assert(2 * sizeof(struct ur_peer_word) <= UR_PEER_WORDS_BYTES,
	       "a word for each");

static u8 *stream_at(const void *head, u32 count)
{
	return (u8 *)(uintptr_t)head + UR_PEER_HEAD_BYTES +
	       (count & (UR_PEER_STREAM_BYTES - 1));
}

static u8 *bulk_at(const void *head, u32 count)
{
	return (u8 *)(uintptr_t)head + UR_PEER_HEAD_BYTES +
	       UR_PEER_STREAM_BYTES + (count & (UR_PEER_BULK_BYTES - 1));
}

/* Returns the bytes up to the end of an area of that size. */
static u32 left(u32 count, u32 size)
{
	return size - (count & (size - 1));
}

static u32 head_bytes(bool has_addresses)
{
	return has_addresses ? UNIT : SHORT;
}

/* Returns the size of a record with len bytes of packets. */
static u32 record_bytes(u32 len, bool has_addresses)
{
	return (u32)ur_align_up(head_bytes(has_addresses) + len, UNIT);
}

static struct peer_record *record_at(const void *head, u32 count)
{
	return (struct peer_record *)stream_at(head, count);
}

void ur_peer_out_init(struct ur_peer_out *out, void *file,
		      struct ur_peer_word *word)
{
	*out = (struct ur_peer_out){.head = file, .word = word};
}

void ur_peer_out_reattach(struct ur_peer_out *out, void *file,
			  struct ur_peer_word *word)
{
	const struct peer_record *r;

	ur_peer_out_init(out, file, word);
	out->put = atomic_load(&out->head->published);
	out->seen = atomic_load(&word->taken);
	/* "published" may lag behind the last published records. */
	for (u32 i = 0; i < UR_PEER_STREAM_BYTES / UNIT; i++) {
		r = record_at(file, out->put);
		if (atomic_load(&r->mark) != ur_peer_mark(out->put))
			break;
		out->put +=
			r->len == SKIP
				? left(out->put, UR_PEER_STREAM_BYTES)
				: record_bytes(r->len, r->flags & HAS_ADDRS);
	}
}

void ur_peer_in_init(struct ur_peer_in *in, const void *file,
		     struct ur_peer_word *word)
{
	*in = (struct ur_peer_in){.head = file, .word = word};
}

void ur_peer_in_reattach(struct ur_peer_in *in, const void *file,
			 struct ur_peer_word *word)
{
	ur_peer_in_init(in, file, word);
	in->taken = atomic_load(&word->taken) & ~(UNIT - 1);
	in->next = in->taken;
	in->freed = atomic_load(&word->freed);
}

/* ---- writer ---- */

/* Includes the first cache line of the next record. */
static bool has_room(struct ur_peer_out *out, u32 bytes)
{
	bytes += UNIT;
	if (!out->broken &&
	    out->put + bytes - out->seen <= UR_PEER_STREAM_BYTES)
		return true;
	out->seen =
		atomic_load_explicit(&out->word->taken, memory_order_acquire);
	if (out->put - out->seen > UR_PEER_STREAM_BYTES)
		out->broken = true;
	return !out->broken &&
	       out->put + bytes - out->seen <= UR_PEER_STREAM_BYTES;
}

bool ur_peer_has_room(struct ur_peer_out *out, u32 bytes)
{
	return has_room(out, bytes);
}

u32 ur_peer_space(struct ur_peer_out *out)
{
	u32 used;

	has_room(out, UR_PEER_STREAM_BYTES - UNIT);
	used = out->put - out->seen + UNIT;
	return out->broken || used > UR_PEER_STREAM_BYTES
		       ? 0
		       : UR_PEER_STREAM_BYTES - used;
}

/* Returns the room that a record takes, including the gap at the end of the stream. */
static u32 bytes_for(const struct ur_peer_out *out, u32 len, bool has_addresses)
{
	u32 bytes = record_bytes(len, has_addresses),
	    end = left(out->put, UR_PEER_STREAM_BYTES);

	return end < bytes ? end + bytes : bytes;
}

/* Marks a record as present. The first unpublished record gets its mark in ur_peer_publish(). */
static void mark(struct ur_peer_out *out)
{
	if (out->begun) {
		atomic_store_explicit(ur_peer_mark_at(out->head, out->put),
				      ur_peer_mark(out->put),
				      memory_order_relaxed);
		return;
	}
	out->begun = true;
	out->first = out->put;
}

u8 *ur_peer_room(struct ur_peer_out *out, const struct ur_peer_message *m)
{
	u32 end = left(out->put, UR_PEER_STREAM_BYTES);
	bool has_addresses = !out->has_addrs ||
			     memcmp(out->addrs, m->saddr, sizeof(out->addrs));

	ur_assert(m->len <= UR_PEER_BYTES);
	if (!has_room(out, bytes_for(out, m->len, has_addresses)))
		return NULL;
	if (end < record_bytes(m->len, has_addresses)) {
		record_at(out->head, out->put)->len = SKIP;
		mark(out);
		out->put += end;
	}
	out->as_before = !has_addresses;
	return stream_at(out->head, out->put) + head_bytes(has_addresses);
}

/* Advances void_before from time to time: counts wrap around, so an old one would look like a
 * later one. */
static void name_last(struct ur_peer_out *out)
{
	out->named = out->put;
	if (out->put - out->void_before < 1u << 30)
		return;
	out->void_before = out->put - 2 * UR_PEER_STREAM_BYTES;
	atomic_store_explicit(&out->head->void_before, out->void_before,
			      memory_order_relaxed);
}

void ur_peer_take_back(struct ur_peer_out *out)
{
	u32 taken =
		atomic_load_explicit(&out->word->taken, memory_order_acquire);

	if ((s32)(out->named - taken) <= 0)
		return;
	out->void_before = out->named = out->put;
	atomic_store_explicit(&out->head->void_before, out->void_before,
			      memory_order_relaxed);
	/* The store must be visible before the memory gets other content. */
	atomic_thread_fence(memory_order_seq_cst);
}

void ur_peer_put(struct ur_peer_out *out, const struct ur_peer_message *m)
{
	struct peer_record *r = record_at(out->head, out->put);
	bool has_addresses = !out->as_before;

	if (m->split && !m->shown)
		ur_peer_release(out,
				m->bulk + m->len / UR_PEER_BTH_ROOM * m->seg);
	r->len = m->len;
	r->freed = out->released;
	r->bulk = m->bulk;
	r->flow_label = m->flow_label;
	r->seg = m->seg;
	r->sport = m->sport;
	r->first = m->first;
	r->tos = m->tos;
	r->ttl = m->ttl;
	r->flags =
		(u8)((m->split ? SPLIT : 0) | (has_addresses ? HAS_ADDRS : 0) |
		     (m->shown ? SHOWN : 0) | (m->shows ? SHOWS : 0));
	if (m->shown) {
		ur_assert(m->split && m->at < 1ull << 40);
		r->bulk = (u32)m->at;
		r->first = (u8)(m->at >> 32);
		r->sport = m->file;
	}
	if (has_addresses) {
		memcpy(r->addrs, m->saddr, sizeof(r->addrs));
		memcpy(out->addrs, m->saddr, sizeof(out->addrs));
		out->has_addrs = true;
	}
	mark(out);
	out->put += record_bytes(m->len, has_addresses);
	if (m->shown)
		name_last(out);
}

/* Reads how far the reader has released the area. It may not have seen the last restart. A reader that
 * says it released what no record has named yet breaks the ring, or that would be reserved twice. */
static void see_freed(struct ur_peer_out *out)
{
	u32 freed =
		atomic_load_explicit(&out->word->freed, memory_order_acquire);

	out->freed = (s32)(out->restart - freed) > 0 ? out->restart : freed;
	if ((s32)(freed - out->released) > 0 ||
	    out->reserved - out->freed > UR_PEER_BULK_BYTES)
		out->broken = true;
}

/* Returns the room that a reservation takes, including the gap at the end of the bulk area. */
static u32 bulk_for(const struct ur_peer_out *out, u32 bytes)
{
	u32 end = left(out->reserved, UR_PEER_BULK_BYTES);

	return end < bytes ? end + bytes : bytes;
}

bool ur_peer_may_reserve(struct ur_peer_out *out, u32 bytes)
{
	u32 all = bulk_for(out, bytes);

	if (!out->broken &&
	    out->reserved + all - out->freed <= UR_PEER_BULK_BYTES)
		return true;
	see_freed(out);
	return !out->broken &&
	       out->reserved + all - out->freed <= UR_PEER_BULK_BYTES;
}

/* If the reader has released everything, goes on at the begin of the area, which is still in a cache. */
static void restart(struct ur_peer_out *out)
{
	see_freed(out);
	if (out->broken || out->freed != out->reserved)
		return;
	out->reserved = (u32)ur_align_up(out->reserved, UR_PEER_BULK_BYTES);
	out->freed = out->restart = out->reserved;
}

u8 *ur_peer_reserve(struct ur_peer_out *out, u32 bytes, u32 *bulk)
{
	ur_assert(bytes <= UR_PEER_BULK_BYTES / 2);
	bytes = (u32)ur_align_up(bytes, UR_PEER_PAGE);
	restart(out);
	if (!ur_peer_may_reserve(out, bytes))
		return NULL;
	out->reserved += bulk_for(out, bytes);
	*bulk = out->reserved - bytes;
	return bulk_at(out->head, *bulk);
}

u32 ur_peer_place(const struct ur_peer_out *out, const u8 *bytes)
{
	u32 at = (u32)(bytes - bulk_at(out->head, 0));

	return out->reserved - 1 -
	       ((out->reserved - 1 - at) & (UR_PEER_BULK_BYTES - 1));
}

void ur_peer_release(struct ur_peer_out *out, u32 bulk_end)
{
	ur_assert(out->reserved - bulk_end <= UR_PEER_BULK_BYTES);
	out->released = bulk_end;
}

bool ur_peer_publish(struct ur_peer_out *out)
{
	_Atomic u32 *first = ur_peer_mark_at(out->head, out->first);
	u32 asleep = UR_PEER_ASLEEP;

	if (!out->begun)
		return false;
	out->begun = false;
	atomic_store_explicit(ur_peer_mark_at(out->head, out->put), 0,
			      memory_order_relaxed);
	atomic_store_explicit(first, ur_peer_mark(out->first),
			      memory_order_release);
	atomic_store_explicit(&out->head->published, out->put,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&out->word->asleep, memory_order_relaxed) ==
		       UR_PEER_ASLEEP &&
	       atomic_compare_exchange_strong(&out->word->asleep, &asleep,
					      UR_PEER_ASKED);
}

bool ur_peer_still_sleeps(const struct ur_peer_out *out)
{
	return atomic_load_explicit(&out->word->asleep, memory_order_relaxed) ==
	       UR_PEER_ASKED;
}

bool ur_peer_wait(struct ur_peer_out *out, u32 len)
{
	atomic_fetch_add(&out->head->waits, 1);
	atomic_thread_fence(memory_order_seq_cst);
	return has_room(out, bytes_for(out, len, true));
}

/* ---- reader ---- */

static void load(struct peer_record *r, const void *head, u32 count)
{
	memcpy(r, stream_at(head, count), sizeof(*r));
	/* Only the copy is used from here on. */
	atomic_signal_fence(memory_order_seq_cst);
}

static u32 packets(const struct peer_record *r)
{
	return r->flags & SPLIT ? r->len / UR_PEER_BTH_ROOM
				: (r->len + r->seg - 1) / r->seg;
}

/* Checks a record. end: bytes up to the end of the stream. */
static bool is_sound(const struct peer_record *r, u32 end)
{
	if (!r->len || r->len > UR_PEER_BYTES ||
	    record_bytes(r->len, r->flags & HAS_ADDRS) > end || !r->seg)
		return false;
	if (r->flags & SHOWS)
		return r->len == UR_PEER_SHOWN_BYTES;
	if (!(r->flags & SPLIT))
		return packets(r) <= UR_PEER_PACKETS;
	return !(r->seg % 4) && !(r->len % UR_PEER_BTH_ROOM) &&
	       packets(r) <= UR_PEER_PACKETS &&
	       ((r->flags & SHOWN) ||
		packets(r) * r->seg <= left(r->bulk, UR_PEER_BULK_BYTES));
}

/* Remembers the addresses of a record. Returns false if it has none and none are known. */
static bool note_addrs(struct ur_peer_in *in, const struct peer_record *r)
{
	if (!(r->flags & HAS_ADDRS))
		return in->has_addrs;
	memcpy(in->addrs, r->addrs, sizeof(in->addrs));
	return in->has_addrs = true;
}

/* Fills *m from a valid record. */
static void fill(struct ur_peer_message *m, const struct ur_peer_in *in,
		 const struct peer_record *r)
{
	memcpy(m->saddr, in->addrs, sizeof(m->saddr));
	memcpy(m->daddr, in->addrs + sizeof(m->saddr), sizeof(m->daddr));
	m->flow_label = r->flow_label;
	m->len = r->len;
	m->bulk = r->bulk;
	m->seg = r->seg;
	m->sport = r->sport;
	m->first = r->first;
	m->tos = r->tos;
	m->ttl = r->ttl;
	m->shows = !!(r->flags & SHOWS);
	m->split = !m->shows && (r->flags & SPLIT);
	m->shown = m->split && (r->flags & SHOWN);
	m->file = r->sport;
	m->at = r->bulk | (u64)r->first << 32;
}

int ur_peer_get(struct ur_peer_in *in, struct ur_peer_message *m, u8 *buf)
{
	u32 at = in->taken;
	struct peer_record r;

	if (!ur_peer_any(in))
		return 0;
	load(&r, in->head, at);
	if (r.len == SKIP) {
		at += left(at, UR_PEER_STREAM_BYTES);
		load(&r, in->head, at);
		if (r.mark != ur_peer_mark(at))
			return -EPROTO;
	}
	if (!is_sound(&r, left(at, UR_PEER_STREAM_BYTES)) ||
	    !note_addrs(in, &r))
		return -EPROTO;
	memcpy(buf, stream_at(in->head, at) + head_bytes(r.flags & HAS_ADDRS),
	       r.len);
	fill(m, in, &r);
	in->next = at + record_bytes(r.len, r.flags & HAS_ADDRS);
	in->freed = r.freed;
	return 1;
}

const u8 *ur_peer_bulk(const struct ur_peer_in *in,
		       const struct ur_peer_message *m)
{
	return bulk_at(in->head, m->bulk);
}

bool ur_peer_is_good(const struct ur_peer_in *in)
{
	u32 before;

	/* Orders the copy before the load. */
	atomic_thread_fence(memory_order_acquire);
	before = atomic_load_explicit(&in->head->void_before,
				      memory_order_relaxed);
	return (s32)(in->next - before) > 0;
}

void ur_peer_done(struct ur_peer_in *in)
{
	in->taken = in->next;
	atomic_store_explicit(&in->word->freed, in->freed,
			      memory_order_relaxed);
	atomic_store_explicit(&in->word->taken, in->taken,
			      memory_order_release);
}

bool ur_peer_woken(struct ur_peer_in *in)
{
	u32 waits;

	atomic_thread_fence(memory_order_seq_cst);
	waits = atomic_load_explicit(&in->head->waits, memory_order_relaxed);
	if (waits == in->waits)
		return false;
	in->waits = waits;
	return true;
}

void ur_peer_sleep(struct ur_peer_in *in, bool asleep)
{
	u32 rest = asleep ? UR_PEER_ASLEEP : UR_PEER_AWAKE;

	if (atomic_load_explicit(&in->word->asleep, memory_order_relaxed) !=
	    rest)
		atomic_store_explicit(&in->word->asleep, rest,
				      memory_order_relaxed);
}

void ur_peer_read(struct ur_peer_in *in, bool reads)
{
	atomic_store_explicit(&in->word->reads, reads, memory_order_release);
}
