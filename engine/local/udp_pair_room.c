// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The room in the rings to neighbours.
 *
 * A slow neighbour delays only the queue pairs that send to it: while its ring is nearly full, the port makes no packets for
 * it and goes on with others. All packets of one fill find room, so no packet blocks those behind it. If little room is
 * left, fills are small.
 *
 * If a neighbour reads nothing for a while, packets to it are made again and lost, as on any wire: then timers end the
 * connections. Datagrams to all peers share one queue, so for them even a neighbour that reads a little now and then
 * counts as one that reads nothing.
 */
#include "engine/wire/wire_udp.h"

#define FULL_NS 1000000u
/* A neighbour must read this many bytes in FULL_NS, or datagrams do not wait for it. */
#define FULL_BYTES UR_PEER_BYTES

static u32 whole_fill(const struct ur_engine *e)
{
	return ur_peer_most(e->tx.max_desc, e->tx.cap);
}

static u32 little_fill(void)
{
	return ur_peer_most(UR_LITTLE_PACKETS, UR_LITTLE_BYTES);
}

static void set(struct ur_udp_held *held, u32 *slots, u32 slot, bool on)
{
	held->freed |= *slots >> slot & !on;
	*slots = (*slots & ~(1u << slot)) | (u32)on << slot;
}

/* Asks the neighbour for a wake-up when there is room. Repeated after it has read something. */
static void ask(struct ur_udp_pair *p)
{
	p->full.asked_at = p->out.seen;
	ur_peer_wait(&p->out, UR_LITTLE_BYTES);
}

static void look_at_full(struct ur_udp_pair *p, ur_time now)
{
	struct ur_udp_full *f = &p->full;

	if (!f->is) {
		*f = (struct ur_udp_full){.is = true,
					  .moved_at = p->out.seen,
					  .took_at = p->out.seen,
					  .moved = now,
					  .took = now};
		ask(p);
	}
	if (p->out.seen != f->asked_at)
		ask(p);
	if (p->out.seen != f->moved_at) {
		f->moved_at = p->out.seen;
		f->moved = now;
	}
	if (p->out.seen - f->took_at >= FULL_BYTES) {
		f->took_at = p->out.seen;
		f->took = now;
	}
}

void ur_udp_pair_retry(struct ur_wire_udp *w, struct ur_udp_pair *p)
{
	struct ur_engine *e = w->wire.engine;
	struct ur_udp_held *held = &w->held;
	struct ur_udp_full *f = &p->full;
	bool little = ur_peer_is_read(&p->out) &&
		      !ur_peer_has_room(&p->out, whole_fill(e));

	if (!little || ur_peer_has_room(&p->out, little_fill()))
		f->is = false;
	else
		look_at_full(p, e->now);
	set(held, &held->little, p->slot, little);
	set(held, &held->all, p->slot, f->is && e->now - f->moved < FULL_NS);
	set(held, &held->datagrams, p->slot,
	    f->is && e->now - f->took < FULL_NS);
}

void ur_udp_pair_forget(struct ur_wire_udp *w, u32 slot)
{
	set(&w->held, &w->held.little, slot, false);
	set(&w->held, &w->held.all, slot, false);
	set(&w->held, &w->held.datagrams, slot, false);
}

void ur_udp_pairs_report(struct ur_wire_udp *w)
{
	struct ur_engine *e = w->wire.engine;
	bool some = w->held.all | w->held.datagrams;

	e->tx_little = w->held.little;
	if (some)
		e->wire_retry_at = e->now + FULL_NS;
	/* The port checks its held queue pairs again. */
	if (some != w->held.said || w->held.freed)
		e->kind->hold(e, some);
	w->held.said = some;
	w->held.freed = false;
}

bool ur_udp_pair_holds(const struct ur_wire_udp *w, u32 dqpn, bool datagram)
{
	u32 slots = datagram ? w->held.datagrams : w->held.all;

	u32 slot = ur_slot_of(dqpn);

	return !ur_slot_is_small(slot) && (slots >> slot & 1);
}
