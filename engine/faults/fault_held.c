// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packets that faults hold, outgoing and incoming ones. */
#include <stdlib.h>
#include "engine/faults/adverse.h"
#include "engine/faults/faults.h"
#include "util/assert.h"

/* Most packets held in each direction: 4 MiB of the largest. Further ones are
 * lost. */
#define HELD_MAX 1024u

struct ur_held {
	struct ur_list node;
	ur_time at;
	bool overtaken; /* leaves after the next packet of its av */
	bool spoiled;
	bool leaving; /* is in engine->tx */
	struct ur_av *av;
	u32 len;
	u8 bytes[];
};

/* ---- packets that leave ---- */

static void drop_held(struct ur_faults *faults, struct ur_held *h)
{
	ur_list_del(&h->node);
	ur_assert(faults->n_held);
	faults->n_held--;
	ur_av_put(h->av);
	free(h);
}

void ur_faults_hold(struct ur_engine *e, u32 i, ur_time at, bool overtaken)
{
	struct ur_faults *faults = e->faults;
	const struct ur_tx_desc *d = &e->tx.desc[i];
	struct ur_list *behind = &faults->held;
	struct ur_held *h;

	if (faults->n_held >= HELD_MAX)
		return;
	h = calloc(1, sizeof(*h) + d->len);
	if (!h)
		return;
	h->at = at;
	h->overtaken = overtaken;
	h->spoiled = ur_faults_spoils(e, i);
	h->av = ur_av_get((struct ur_av *)d->av);
	h->len = d->len;
	memcpy(h->bytes, e->tx.buf + d->off, d->len);
	/* Behind all packets that leave earlier or at the same time. */
	while (behind->prev != &faults->held &&
	       ur_list_entry(behind->prev, struct ur_held, node)->at > at)
		behind = behind->prev;
	ur_list_add_tail(behind, &h->node);
	faults->n_held++;
}

void ur_faults_overtake(struct ur_engine *e, const struct ur_av *av)
{
	ur_list_for_each(it, &e->faults->held) {
		struct ur_held *h = ur_list_entry(it, struct ur_held, node);

		if (h->overtaken && h->av == av)
			h->at = e->now;
	}
}

void ur_faults_spoil(struct ur_engine *e, u32 i, bool on)
{
	u64 bit = 1ull << (i & 63);

	if (on)
		e->faults->spoiled[i / 64] |= bit;
	else
		e->faults->spoiled[i / 64] &= ~bit;
}

bool ur_faults_release(struct ur_engine *e)
{
	struct ur_tx *tx = &e->tx;

	ur_list_for_each(it, &e->faults->held) {
		struct ur_held *h = ur_list_entry(it, struct ur_held, node);

		if (h->at > e->now)
			continue;
		if (tx->n_desc == tx->max_desc ||
		    tx->cap - tx->used < h->len + UR_ICRC_BYTES)
			break;
		memcpy(tx->buf + tx->used, h->bytes, h->len);
		ur_faults_spoil(e, tx->n_desc, h->spoiled);
		tx->desc[tx->n_desc++] = (struct ur_tx_desc){
			.off = tx->used, .len = h->len, .av = h->av};
		tx->used += h->len + UR_ICRC_BYTES;
		h->leaving = true;
	}
	return tx->n_desc;
}

void ur_faults_hurry(struct ur_engine *e)
{
	ur_list_for_each(it, &e->faults->held)
		ur_list_entry(it, struct ur_held, node)->at = 0;
}

void ur_faults_let_go(struct ur_engine *e)
{
	struct ur_list *it = e->faults->held.next, *next;

	for (; it != &e->faults->held; it = next) {
		struct ur_held *h = ur_list_entry(it, struct ur_held, node);

		next = it->next;
		if (h->leaving)
			drop_held(e->faults, h);
	}
}

/* ---- packets that come in ---- */

struct ur_held_in *ur_held_in_new(const struct ur_rx_meta *meta, const u8 *bth,
				  u32 len)
{
	struct ur_held_in *h = malloc(sizeof(*h) + len);

	if (!h)
		return NULL;
	ur_list_init(&h->node);
	h->at = 0;
	h->overtaken = false;
	h->meta = *meta;
	h->len = len;
	memcpy(h->bytes, bth, len);
	return h;
}

void ur_faults_hold_in(struct ur_engine *e, const struct ur_rx_meta *meta,
		       const u8 *bth, u32 len, ur_time at, bool overtaken)
{
	struct ur_faults *faults = e->faults;
	struct ur_list *behind = &faults->held_in;
	struct ur_held_in *h;

	if (faults->n_held_in >= HELD_MAX)
		return;
	h = ur_held_in_new(meta, bth, len);
	if (!h)
		return;
	h->at = at;
	h->overtaken = overtaken;
	while (behind->prev != &faults->held_in &&
	       ur_list_entry(behind->prev, struct ur_held_in, node)->at > at)
		behind = behind->prev;
	ur_list_add_tail(behind, &h->node);
	faults->n_held_in++;
}

void ur_faults_overtake_in(struct ur_engine *e, u32 qpn)
{
	ur_list_for_each(it, &e->faults->held_in) {
		struct ur_held_in *h =
			ur_list_entry(it, struct ur_held_in, node);

		if (h->overtaken && ur_get_be24(h->bytes + 5) == qpn)
			h->at = e->now;
	}
}

bool ur_faults_hand_in(struct ur_engine *e)
{
	struct ur_list *it = e->faults->held_in.next, *next;
	bool any = false;

	for (; it != &e->faults->held_in; it = next) {
		struct ur_held_in *h =
			ur_list_entry(it, struct ur_held_in, node);

		next = it->next;
		if (h->at > e->now)
			continue;
		ur_list_del(&h->node);
		ur_assert(e->faults->n_held_in);
		e->faults->n_held_in--;
		e->kind->rx_ruled(e, &h->meta, h->bytes, h->len);
		free(h);
		any = true;
	}
	return any;
}

/* ---- both ---- */

ur_time ur_faults_deadline(const struct ur_engine *e)
{
	ur_time first = UR_NEVER;

	if (!e->faults)
		return UR_NEVER;
	ur_list_for_each(it, &e->faults->held)
		first = ur_min_u64(first,
				   ur_list_entry(it, struct ur_held, node)->at);
	ur_list_for_each(it, &e->faults->held_in)
		first = ur_min_u64(
			first, ur_list_entry(it, struct ur_held_in, node)->at);
	return ur_min_u64(first, ur_adverse_deadline(e));
}

void ur_faults_drop_held(struct ur_engine *e)
{
	struct ur_faults *faults = e->faults;

	while (!ur_list_empty(&faults->held))
		drop_held(faults,
			  ur_list_first(&faults->held, struct ur_held, node));
	while (!ur_list_empty(&faults->held_in)) {
		struct ur_held_in *h = ur_list_first(&faults->held_in,
						     struct ur_held_in, node);

		ur_list_del(&h->node);
		free(h);
	}
	faults->n_held_in = 0;
}
