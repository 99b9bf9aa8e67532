// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The contexts that ring their doorbells, and how they are served. */
#include "engine/core/doorbell.h"
#include "engine/core/ringing.h"

/* A context that rang within this time has rung of late. */
#define LATELY_NS 1000000u

void ur_ringing_add(struct ur_engine *e, struct ur_ectx *x)
{
	x->rung_at = e->now;
	if (!ur_list_empty(&x->ring_node))
		return;
	ur_list_add_tail(&e->ringing, &x->ring_node);
	e->n_ringing++;
}

void ur_ringing_del(struct ur_engine *e, struct ur_ectx *x)
{
	if (ur_list_empty(&x->ring_node))
		return;
	ur_list_del(&x->ring_node);
	e->n_ringing--;
}

/* The sleep race of kernel-abi/uroce-ring.h, for several contexts at once [S2]. */
static void leave_quiet(struct ur_engine *e)
{
	struct ur_list quiet;

	ur_list_init(&quiet);
	ur_list_for_each_safe(it, &e->ringing) {
		struct ur_ectx *x =
			ur_list_entry(it, struct ur_ectx, ring_node);

		if (e->now - x->rung_at < LATELY_NS)
			continue;
		ur_ringing_del(e, x);
		ur_list_add_tail(&quiet, &x->ring_node);
		ur_doorbell_sleep(x->db, true);
	}
	atomic_thread_fence(memory_order_seq_cst);
	ur_list_for_each_safe(it, &quiet) {
		struct ur_ectx *x =
			ur_list_entry(it, struct ur_ectx, ring_node);

		ur_list_del(it);
		if (!ur_doorbell_any(x->db))
			continue;
		ur_doorbell_sleep(x->db, false);
		ur_ringing_add(e, x);
	}
}

void ur_ringing_check(struct ur_engine *e)
{
	if (e->n_ringing <= UR_RINGING_FEW ||
	    e->now - e->ringing_checked < LATELY_NS)
		return;
	e->ringing_checked = e->now;
	leave_quiet(e);
}

static void ring_slot(void *arg, u32 slot)
{
	struct ur_ectx *x = arg;
	struct ur_db_client *next;

	for (struct ur_db_client *b = x->db_clients[slot]; b; b = next) {
		next = b->next;
		b->ring(b);
	}
}

static bool answer(struct ur_engine *e, struct ur_ectx *x)
{
	if (!ur_doorbell_any(x->db))
		return false;
	x->rung_at = e->now;
	ur_doorbell_take(x->db, ring_slot, x);
	ur_idle_serve(&e->idle, &x->predictor);
	return true;
}

bool ur_ringing_answer(struct ur_engine *e, bool all)
{
	bool any = false;

	if (all || e->lost_events) {
		e->lost_events = false;
		ur_list_for_each(it, &e->ectxs)
			any |= answer(e,
				      ur_list_entry(it, struct ur_ectx, node));
		return any;
	}
	ur_list_for_each(it, &e->ringing)
		any |= answer(e, ur_list_entry(it, struct ur_ectx, ring_node));
	return any;
}

bool ur_ringing_waits(const struct ur_engine *e)
{
	ur_list_for_each(it, &e->ringing)
		if (ur_doorbell_any(
			    ur_list_entry(it, struct ur_ectx, ring_node)->db))
			return true;
	return false;
}
