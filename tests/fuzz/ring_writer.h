/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The stream of a ring (engine/local/peer_ring.h) as an enemy writes it, who knows how it lies in memory. */
#ifndef UR_TESTS_FUZZ_RING_WRITER_H
#define UR_TESTS_FUZZ_RING_WRITER_H

#include "engine/local/peer_ring.h"
#include "tests/fuzz/input.h"

#define RING_UNIT  64u
#define RING_SKIPS UINT32_MAX
/* The fields of a record, as they lie there. */
#define RING_LEN   4u
#define RING_FREED 8u
#define RING_BULK  12u
#define RING_FLOW  16u
#define RING_SEG   20u
#define RING_SPORT 22u
#define RING_FIRST 24u
#define RING_TOS   25u
#define RING_TTL   26u
#define RING_FLAGS 27u
#define RING_ADDRS 28u
/* Without a way, the bytes begin there. */
#define RING_SHORT 28u

#define RING_SPLIT     1u
#define RING_HAS_ADDRS 2u
#define RING_SHOWN     4u
#define RING_SHOWS     8u

struct ring_writer {
	u8 *file;
	u32 put;
};

static inline u8 *ring_at(const struct ring_writer *r, u32 count)
{
	return r->file + UR_PEER_HEAD_BYTES +
	       (count & (UR_PEER_STREAM_BYTES - 1));
}

static inline u32 ring_left(const struct ring_writer *r)
{
	return UR_PEER_STREAM_BYTES - (r->put & (UR_PEER_STREAM_BYTES - 1));
}

/* Shows a record of so many bytes. */
static inline void ring_show(struct ring_writer *r, u32 bytes)
{
	u32 next = r->put + (u32)ur_align_up(bytes, RING_UNIT);

	ur_put_le32(ring_at(r, next), 0);
	ur_put_le32(ring_at(r, r->put), r->put | 1);
	r->put = next;
}

/* The rest of the stream is empty. */
static inline void ring_skip(struct ring_writer *r)
{
	ur_put_le32(ring_at(r, r->put) + RING_LEN, RING_SKIPS);
	ur_put_le32(ring_at(r, r->put), r->put | 1);
	r->put += ring_left(r);
}

/* Returns the place of a record with so many bytes behind its head, which is zeros but for what is given. */
static inline u8 *ring_begin(struct ring_writer *r, u32 len, u32 seg, u8 flags)
{
	u32 head = flags & RING_HAS_ADDRS ? RING_UNIT : RING_SHORT;
	u8 *at;

	if (ring_left(r) < ur_align_up(head + len, RING_UNIT))
		ring_skip(r);
	at = ring_at(r, r->put);
	memset(at, 0, head);
	ur_put_le32(at + RING_LEN, len);
	at[RING_SEG] = (u8)seg;
	at[RING_SEG + 1] = (u8)(seg >> 8);
	at[RING_TTL] = 64;
	at[RING_FLAGS] = flags;
	return at;
}

/* A record as it comes: 64 bytes of the input. */
static inline void ring_raw(struct ring_writer *r, struct input *in)
{
	u8 *at = ring_at(r, r->put);
	u32 len;

	take_bytes(in, at, RING_UNIT);
	len = ur_get_le32(at + RING_LEN);
	ring_show(r, len > UR_PEER_BYTES ? RING_UNIT : RING_UNIT + len);
}

/* Replaces some of the first bytes of a record. */
static inline void ring_patch(struct input *in, u8 *record, u32 bytes)
{
	u32 n = take(in) & 7;

	bytes = ur_min_u32(bytes, 4096);
	while (n--) {
		u32 where = take16(in);

		record[where % bytes] = take(in);
	}
}

/* Bytes anywhere in the stream, and behind it. */
static inline void ring_scribble(struct ring_writer *r, struct input *in)
{
	u32 where = take16(in) * 8u, n = take(in);

	for (; n && in->left; n--, where++)
		r->file[UR_PEER_HEAD_BYTES +
			where % (UR_PEER_STREAM_BYTES + 65536)] = take(in);
}

/* One of the words, or of the words of the file's head. */
static inline void ring_word(struct ring_writer *r, struct ur_peer_word *words,
			     struct input *in)
{
	struct ur_peer_head *head = (void *)r->file;
	struct ur_peer_word *word = &words[take(in) & 1];
	u8 which = take(in);
	u32 v = take_be(in, 4);

	switch (which % 11) {
	case 0:
		word->taken = v;
		break;
	case 1:
		word->freed = v;
		break;
	case 2:
		word->asleep = v;
		break;
	case 3:
		word->reads = v;
		break;
	case 4:
		word->refusal = v;
		break;
	case 5:
		head->published = v;
		break;
	case 6:
		head->waits = v;
		break;
	case 7:
		head->void_before = v;
		break;
	case 8:
		word->maps = v;
		break;
	case 9:
		word->proof = v;
		break;
	default:
		word->seen[v >> 24 & (UR_PEER_FILES - 1)] = v & 0xffffff;
	}
}

#endif
