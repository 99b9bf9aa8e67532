// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A hostile card that writes the end of a message to memory before its begin. The
 * packets of a SEND or WRITE are kept until the last one has come. Its payload is
 * written at once; some time later all packets are handed in in order. So for the
 * protocol they are only a little late.
 */
#include <stdlib.h>
#include "engine/faults/adverse.h"
#include "transport/qp.h"
#include "util/assert.h"

/* Most packets kept for one queue pair, and longest wait for the end of a
 * message. */
#define PACKETS_MAX 256u
#define WHOLE_NS    200000u

static u32 psn_of(const u8 *bth)
{
	return ur_get_be32(bth + 8) & UR_24BIT_MASK;
}

static struct ur_adverse_qp *find_qp(struct ur_engine *e, const u8 *bth)
{
	const struct ur_qp *qp = ur_qp_lookup(e->port, ur_get_be24(bth + 5));
	const struct ur_eqp *eqp;

	if (!qp || !ur_qp_is_reliable(qp) || !qp->init.ctx)
		return NULL;
	eqp = qp->init.ctx;
	return eqp->adverse && (eqp->adverse->what & UROCE_ADVERSE_ORDER)
		       ? eqp->adverse
		       : NULL;
}

static u32 flags_of(const u8 *bth)
{
	const struct ur_opcode *op = ur_opcode_lookup(bth[0]);

	return op ? op->flags : 0;
}

static bool keep(struct ur_adverse_qp *a, const struct ur_rx_meta *meta,
		 const u8 *bth, u32 len)
{
	struct ur_faults *faults = a->qp->engine->faults;
	struct ur_held_in *h;

	if (faults->n_packets == UR_ADVERSE_PACKETS_MAX)
		return false;
	h = ur_held_in_new(meta, bth, len);
	if (!h)
		return false;
	ur_list_add_tail(&a->packets, &h->node);
	faults->n_packets++;
	a->n_packets++;
	return true;
}

static void hand_in(struct ur_engine *e, struct ur_adverse_qp *a)
{
	struct ur_list packets;

	/* The list is moved first: the port may send and complete, which may use it. */
	ur_list_del(&a->ordered);
	ur_list_init(&packets);
	while (!ur_list_empty(&a->packets)) {
		struct ur_list *it = a->packets.next;

		ur_list_del(it);
		ur_list_add_tail(&packets, it);
	}
	ur_assert(e->faults->n_packets >= a->n_packets);
	e->faults->n_packets -= a->n_packets;
	a->n_packets = 0;
	while (!ur_list_empty(&packets)) {
		struct ur_held_in *h =
			ur_list_first(&packets, struct ur_held_in, node);

		ur_list_del(&h->node);
		ur_port_rx(e->port, e->now, &h->meta, h->bytes, h->len);
		free(h);
	}
}

/* Handles the last packet of a kept message. */
static void end_first(struct ur_engine *e, struct ur_adverse_qp *a)
{
	const struct ur_held_in *first =
		ur_list_first(&a->packets, struct ur_held_in, node);
	const struct ur_held_in *last =
		ur_list_entry(a->packets.prev, struct ur_held_in, node);

	a->whole = true;
	if (ur_port_place_ahead(e->port, e->now, &first->meta, first->bytes,
				first->len, last->bytes, last->len))
		a->hand_in_at = e->now + ur_adverse_draw_late(&a->rng);
	else
		a->hand_in_at = e->now;
}

/* Keeps the packet if it begins a SEND or WRITE. Returns whether it did. */
static bool keep_first(struct ur_engine *e, struct ur_adverse_qp *a, u32 flags,
		       const struct ur_rx_meta *meta, const u8 *bth, u32 len)
{
	if (!(flags & UR_OPF_START) ||
	    !(flags & (UR_OPF_SEND | UR_OPF_WRITE)) || !keep(a, meta, bth, len))
		return false;
	a->whole = false;
	a->next_psn = ur_psn_add(psn_of(bth), 1);
	a->hand_in_at = e->now + WHOLE_NS;
	ur_list_add_tail(&e->faults->ordered, &a->ordered);
	if (flags & UR_OPF_END)
		end_first(e, a);
	return true;
}

void ur_adverse_rx(struct ur_engine *e, const struct ur_rx_meta *meta,
		   const u8 *bth, u32 len)
{
	struct ur_adverse_qp *a = NULL;
	u32 flags;

	if (e->faults->n_adverse && len >= UR_BTH_BYTES)
		a = find_qp(e, bth);
	flags = a ? flags_of(bth) : 0;
	/* Responses to this queue pair's own requests are not kept. */
	if (!flags || (flags & (UR_OPF_RESPONSE | UR_OPF_CNP))) {
		ur_port_rx(e->port, e->now, meta, bth, len);
		return;
	}
	if (ur_list_empty(&a->packets)) {
		if (!keep_first(e, a, flags, meta, bth, len))
			ur_port_rx(e->port, e->now, meta, bth, len);
		return;
	}
	if (a->n_packets == PACKETS_MAX || !keep(a, meta, bth, len)) {
		hand_in(e, a);
		ur_port_rx(e->port, e->now, meta, bth, len);
		return;
	}
	if (a->whole)
		return;
	if (psn_of(bth) != a->next_psn || (flags & UR_OPF_START)) {
		a->whole = true; /* its end cannot be recognized any more */
		return;
	}
	a->next_psn = ur_psn_add(a->next_psn, 1);
	if (flags & UR_OPF_END)
		end_first(e, a);
}

bool ur_adverse_hand_in(struct ur_engine *e)
{
	bool any = false;

	ur_list_for_each_safe(it, &e->faults->ordered) {
		struct ur_adverse_qp *a =
			ur_list_entry(it, struct ur_adverse_qp, ordered);

		if (a->hand_in_at > e->now)
			continue;
		hand_in(e, a);
		any = true;
	}
	return any;
}
