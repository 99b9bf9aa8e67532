// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ring between two engines: records back to back, none of which is cut in
 * two by the ring's end. */
#include "engine/several/handover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "transport/wire_format.h"
#include "util/assert.h"

#define SKIP UINT32_MAX

struct record {
	u32 len;   /* of the packet; SKIP: the rest of the ring is empty */
	u32 bytes; /* of the record */
	struct ur_rx_meta meta;
	u8 packet[];
};

_Static_assert(UR_IS_POW2(UR_HANDOVER_BYTES), "places are bits of a count");

int ur_handover_init(struct ur_handover *q)
{
	*q = (struct ur_handover){.ring = malloc(UR_HANDOVER_BYTES)};
	return q->ring ? 0 : -ENOMEM;
}

void ur_handover_fini(struct ur_handover *q)
{
	free(q->ring);
	q->ring = NULL;
}

static struct record *at(const struct ur_handover *q, u32 count)
{
	return (struct record *)(q->ring + (count & (UR_HANDOVER_BYTES - 1)));
}

/* Up to the ring's end. */
static u32 left(u32 count)
{
	return UR_HANDOVER_BYTES - (count & (UR_HANDOVER_BYTES - 1));
}

static bool has_room(struct ur_handover *q, u32 bytes, u32 most)
{
	if (q->put + bytes - q->seen <= most)
		return true;
	q->seen = __atomic_load_n(&q->taken, __ATOMIC_ACQUIRE);
	return q->put + bytes - q->seen <= most;
}

bool ur_handover_put(struct ur_handover *q, const struct ur_rx_meta *meta,
		     const u8 *bth, u32 len)
{
	u32 bytes = (u32)ur_align_up(sizeof(struct record) + len, 8);
	bool datagram = (bth[0] & UR_SVC_MASK) == UR_SVC_UD;
	u32 most = UR_HANDOVER_BYTES / (datagram ? 2 : 1);
	u32 gap = left(q->put) < bytes ? left(q->put) : 0;
	struct record *r;

	if (bytes > UR_HANDOVER_BYTES / 4 || !has_room(q, gap + bytes, most)) {
		q->lost++;
		return false;
	}
	if (gap) {
		/* Lengths are multiples of 8, so the first words fit. */
		at(q, q->put)->len = SKIP;
		q->put += gap;
	}
	r = at(q, q->put);
	r->len = len;
	r->bytes = bytes;
	r->meta = *meta;
	memcpy(r->packet, bth, len);
	q->put += bytes;
	return true;
}

bool ur_handover_publish(struct ur_handover *q)
{
	if (q->put == q->published)
		return false;
	__atomic_store_n(&q->published, q->put, __ATOMIC_RELEASE);
	return true;
}

const u8 *ur_handover_get(struct ur_handover *q, const struct ur_rx_meta **meta,
			  u32 *len)
{
	u32 from = q->taken;
	const struct record *r;

	if (__atomic_load_n(&q->published, __ATOMIC_ACQUIRE) == from)
		return NULL;
	r = at(q, from);
	if (r->len == SKIP) {
		from += left(from);
		r = at(q, from);
	}
	q->next = from + r->bytes;
	*meta = &r->meta;
	*len = r->len;
	return r->packet;
}

void ur_handover_done(struct ur_handover *q)
{
	__atomic_store_n(&q->taken, q->next, __ATOMIC_RELEASE);
}
