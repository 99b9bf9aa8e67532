// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring between two processes. Counts of bytes go up for ever; a place is a count
 * modulo the size. No record is cut in two by the end of the stream, and no piece of the
 * bulk by its end.
 *
 * Sleep race: the writer publishes and then looks at asleep; the reader sets asleep and
 * then looks at published, with a full barrier between the two on both sides, so that
 * one of them sees the other. So it is with waits and the room.
 */
#include "engine/wire/peer_ring.h"

#include <errno.h>
#include <string.h>
#include "util/assert.h"

#define UNIT UR_PEER_MESSAGE_BYTES
#define SKIP UINT32_MAX

struct peer_record {
	u32 len;   /* SKIP: the rest of the stream is empty */
	u32 freed; /* of the bulk, once this message was taken */
	struct ur_peer_message m;
};

_Static_assert(sizeof(struct peer_record) <= UNIT, "bytes follow a unit");
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

/* Up to the end of the stream, or of the bulk. */
static u32 left(u32 count, u32 size)
{
	return size - (count & (size - 1));
}

/* Returns the bytes of a record that has so many behind it. */
static u32 record_bytes(u32 len)
{
	return (u32)ur_align_up(UNIT + len, UNIT);
}

void ur_peer_out_init(struct ur_peer_out *out, void *file,
		      struct ur_peer_word *word)
{
	*out = (struct ur_peer_out){.head = file, .word = word};
}

void ur_peer_out_resume(struct ur_peer_out *out, void *file,
			struct ur_peer_word *word)
{
	ur_peer_out_init(out, file, word);
	out->put = atomic_load(&out->head->published);
	out->seen = atomic_load(&word->taken);
}

void ur_peer_in_init(struct ur_peer_in *in, const void *file,
		     struct ur_peer_word *word)
{
	*in = (struct ur_peer_in){.head = file, .word = word};
}

/* ---- writer ---- */

static bool has_room(struct ur_peer_out *out, u32 bytes)
{
	if (out->put + bytes - out->seen <= UR_PEER_STREAM_BYTES)
		return true;
	out->seen =
		atomic_load_explicit(&out->word->taken, memory_order_acquire);
	if (out->put - out->seen > UR_PEER_STREAM_BYTES)
		out->broken = true;
	return !out->broken &&
	       out->put + bytes - out->seen <= UR_PEER_STREAM_BYTES;
}

u32 ur_peer_space(struct ur_peer_out *out)
{
	has_room(out, UR_PEER_STREAM_BYTES);
	return out->broken ? 0 : UR_PEER_STREAM_BYTES - (out->put - out->seen);
}

/* With what is lost at the end of the stream. */
static u32 bytes_for(const struct ur_peer_out *out, u32 len)
{
	u32 bytes = record_bytes(len),
	    end = left(out->put, UR_PEER_STREAM_BYTES);

	return end < bytes ? end + bytes : bytes;
}

u8 *ur_peer_room(struct ur_peer_out *out, u32 len)
{
	u32 end = left(out->put, UR_PEER_STREAM_BYTES);

	ur_assert(len <= UR_PEER_BYTES);
	if (!has_room(out, bytes_for(out, len)))
		return NULL;
	if (end < record_bytes(len)) {
		((struct peer_record *)stream_at(out->head, out->put))->len =
			SKIP;
		out->put += end;
	}
	return stream_at(out->head, out->put) + UNIT;
}

void ur_peer_put(struct ur_peer_out *out, const struct ur_peer_message *m)
{
	struct peer_record *r =
		(struct peer_record *)stream_at(out->head, out->put);

	if (m->apart)
		ur_peer_release(out,
				m->bulk + m->len / UR_PEER_BTH_ROOM * m->seg);
	r->len = m->len;
	r->freed = out->released;
	r->m = *m;
	out->put += record_bytes(m->len);
}

/* With what is lost at the end of the bulk. */
static u32 bulk_for(const struct ur_peer_out *out, u32 bytes)
{
	u32 end = left(out->reserved, UR_PEER_BULK_BYTES);

	return end < bytes ? end + bytes : bytes;
}

bool ur_peer_may_reserve(struct ur_peer_out *out, u32 bytes)
{
	u32 all = bulk_for(out, bytes);

	if (out->reserved + all - out->freed <= UR_PEER_BULK_BYTES)
		return true;
	out->freed =
		atomic_load_explicit(&out->word->freed, memory_order_acquire);
	if (out->reserved - out->freed > UR_PEER_BULK_BYTES)
		out->broken = true;
	return !out->broken &&
	       out->reserved + all - out->freed <= UR_PEER_BULK_BYTES;
}

u8 *ur_peer_reserve(struct ur_peer_out *out, u32 bytes, u32 *bulk)
{
	ur_assert(bytes <= UR_PEER_BULK_BYTES / 2);
	bytes = (u32)ur_align_up(bytes, UR_PEER_PAGE);
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
	u32 asleep = UR_PEER_ASLEEP;

	if (out->put ==
	    atomic_load_explicit(&out->head->published, memory_order_relaxed))
		return false;
	atomic_store_explicit(&out->head->published, out->put,
			      memory_order_release);
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
	return has_room(out, bytes_for(out, len));
}

/* ---- reader ---- */

static void load(struct peer_record *r, const void *head, u32 count)
{
	memcpy(r, stream_at(head, count), sizeof(*r));
	/* From here on it is the copy that counts. */
	atomic_signal_fence(memory_order_seq_cst);
}

static u32 packets(const struct ur_peer_message *m)
{
	return m->apart ? m->len / UR_PEER_BTH_ROOM
			: (m->len + m->seg - 1) / m->seg;
}

static bool is_sound(const struct peer_record *r, u32 there)
{
	const struct ur_peer_message *m = &r->m;

	if (!r->len || r->len > UR_PEER_BYTES || r->len != m->len ||
	    record_bytes(r->len) > there || !m->seg)
		return false;
	if (!m->apart)
		return packets(m) <= UR_PEER_PACKETS;
	return !(m->seg % 4) && !(r->len % UR_PEER_BTH_ROOM) &&
	       packets(m) <= UR_PEER_PACKETS &&
	       packets(m) * m->seg <= left(m->bulk, UR_PEER_BULK_BYTES);
}

int ur_peer_get(struct ur_peer_in *in, struct ur_peer_message *m, u8 *buf)
{
	u32 there = atomic_load_explicit(&in->head->published,
					 memory_order_acquire) -
		    in->taken;
	u32 at = in->taken, end = left(at, UR_PEER_STREAM_BYTES);
	struct peer_record r;

	if (!there)
		return 0;
	if (there > UR_PEER_STREAM_BYTES || there % UNIT)
		return -EPROTO;
	load(&r, in->head, at);
	if (r.len == SKIP && end < there) {
		at += end;
		there -= end;
		load(&r, in->head, at);
	}
	end = left(at, UR_PEER_STREAM_BYTES);
	if (!is_sound(&r, there < end ? there : end))
		return -EPROTO;
	memcpy(buf, stream_at(in->head, at) + UNIT, r.len);
	*m = r.m;
	in->next = at + record_bytes(r.len);
	in->freed = r.freed;
	return 1;
}

const u8 *ur_peer_bulk(const struct ur_peer_in *in,
		       const struct ur_peer_message *m)
{
	return bulk_at(in->head, m->bulk);
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
