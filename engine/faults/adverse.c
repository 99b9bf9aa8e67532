// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A hostile card: its contexts and queues; completions that are late and come
 * together, requests fetched late, RNR NAKs. Packets are in adverse_rx.c. */
#include <errno.h>
#include <stdlib.h>
#include "engine/faults/adverse.h"
#include "util/assert.h"

#define LATE_MIN_NS 20000u
#define LATE_NS	    200000u

/* ---- random draws ---- */

struct ur_rng ur_adverse_rng(u32 seed, u32 nth)
{
	struct ur_rng r = {(u64)seed << 32 | nth};

	ur_rng_u64(&r);
	return r;
}

u32 ur_adverse_draw_batch(struct ur_rng *rng)
{
	return 1 + ur_rng_below(rng, UR_ADVERSE_BATCH_MAX);
}

u64 ur_adverse_draw_late(struct ur_rng *rng)
{
	return LATE_MIN_NS + ur_rng_below(rng, LATE_NS + 1);
}

bool ur_adverse_draw_rnr(struct ur_rng *rng)
{
	return !ur_rng_below(rng, 8);
}

bool ur_adverse_draw_event(struct ur_rng *rng)
{
	return !ur_rng_below(rng, 64);
}

/* ---- contexts ---- */

static int begin(struct ur_engine *engine, struct ur_ectx *ectx,
		 struct ur_adverse *a)
{
	int err = ur_faults_begin(engine);

	if (err)
		return err;
	ectx->adverse = a;
	engine->faults->n_adverse++;
	engine->kind->ruled(engine);
	return 0;
}
UR_ENGINE_CALL(2, begin, struct ur_ectx *, struct ur_adverse *);

int ur_ectx_set_adverse(struct ur_ectx *ectx, u32 what, u32 seed)
{
	struct ur_adverse *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->what = what;
	a->seed = seed;
	err = call_begin(ectx->engine, ectx, a);
	if (err)
		free(a);
	return err;
}

void ur_adverse_end(struct ur_ectx *ectx)
{
	if (!ectx->adverse)
		return;
	ur_assert(ectx->engine->faults->n_adverse);
	ectx->engine->faults->n_adverse--;
	ectx->engine->kind->ruled(ectx->engine);
	free(ectx->adverse);
	ectx->adverse = NULL;
}

/* ---- queues ---- */

int ur_adverse_make_cq(struct ur_ecq *cq)
{
	struct ur_adverse *a = cq->ectx->adverse;

	if (!a || !(a->what & (UROCE_ADVERSE_BATCH | UROCE_ADVERSE_EVENTS)))
		return 0;
	cq->adverse = calloc(1, sizeof(*cq->adverse));
	if (!cq->adverse)
		return -ENOMEM;
	cq->adverse->cq = cq;
	cq->adverse->rng = ur_adverse_rng(a->seed, ++a->queues);
	ur_list_init(&cq->adverse->node);
	if (a->what & UROCE_ADVERSE_EVENTS) {
		/* The event comes late, when the program may already have polled
		 * the completion. */
		cq->mod_count = UINT16_MAX;
		cq->mod_period_us =
			(u16)(ur_adverse_draw_late(&cq->adverse->rng) / 1000);
	}
	return 0;
}

int ur_adverse_make_qp(struct ur_eqp *qp, struct ur_ectx *ectx)
{
	struct ur_adverse *a = ectx->adverse;

	if (!a)
		return 0;
	qp->adverse = calloc(1, sizeof(*qp->adverse));
	if (!qp->adverse)
		return -ENOMEM;
	qp->adverse->qp = qp;
	qp->adverse->what = a->what;
	qp->adverse->rng = ur_adverse_rng(a->seed, ++a->queues);
	ur_list_init(&qp->adverse->waiting);
	ur_list_init(&qp->adverse->ordered);
	ur_list_init(&qp->adverse->packets);
	return 0;
}

void ur_adverse_free_cq(struct ur_ecq *cq)
{
	free(cq->adverse);
	cq->adverse = NULL;
}

void ur_adverse_free_qp(struct ur_eqp *qp)
{
	free(qp->adverse);
	qp->adverse = NULL;
}

void ur_adverse_flush_cq(struct ur_ecq *cq)
{
	struct ur_adverse_cq *a = cq ? cq->adverse : NULL;

	if (!a || !a->n)
		return;
	ur_list_del(&a->node);
	ur_assert(cq->ectx->engine->faults->n_late);
	cq->ectx->engine->faults->n_late--;
	/* ur_cq_push() handles a full queue itself. */
	for (u32 i = 0; i < a->n; i++)
		(void)ur_cq_push(cq, &a->wc[i]);
	a->n = 0;
}

static void drop_packets(struct ur_adverse_qp *a)
{
	ur_list_del(&a->ordered);
	while (!ur_list_empty(&a->packets)) {
		struct ur_held_in *h =
			ur_list_first(&a->packets, struct ur_held_in, node);

		ur_list_del(&h->node);
		free(h);
	}
	ur_assert(a->qp->engine->faults->n_packets >= a->n_packets);
	a->qp->engine->faults->n_packets -= a->n_packets;
	a->n_packets = 0;
}

static void stop_waiting(struct ur_adverse_qp *a)
{
	if (ur_list_empty(&a->waiting))
		return;
	ur_list_del(&a->waiting);
	ur_assert(a->qp->engine->faults->n_waiting);
	a->qp->engine->faults->n_waiting--;
}

void ur_adverse_forget_qp(struct ur_eqp *qp)
{
	struct ur_adverse_qp *a = qp->adverse;

	ur_adverse_flush_cq(qp->init.send_cq);
	ur_adverse_flush_cq(qp->init.recv_cq);
	if (qp->init.srq)
		ur_adverse_flush_cq(qp->init.srq->cq);
	if (!a)
		return;
	stop_waiting(a);
	a->fetch = 0;
	drop_packets(a);
}

/* ---- completions ---- */

/* Now and then sends an asynchronous event that changes nothing. */
static void send_spare_event(struct ur_adverse_cq *a)
{
	struct ur_easync *async = a->cq->async;

	if (!(a->cq->ectx->adverse->what & UROCE_ADVERSE_EVENTS) || !async ||
	    !ur_adverse_draw_event(&a->rng))
		return;
	async->loose.element = 1; /* port number */
	ur_evsock_send(&async->sock, &async->loose, UR_EVENT_GID_CHANGE);
}

/* Returns whether the queue has room for one more completion than the delayed ones. */
static bool has_room(struct ur_ecq *cq)
{
	u32 cons;

	if (cq->overrun)
		return false;
	if (cq->ignore_overrun ||
	    cq->prod - cq->cons + cq->adverse->n < cq->entries)
		return true;
	cons = __atomic_load_n(&cq->hdr->cons, __ATOMIC_ACQUIRE); /* [Q4] */
	if (cq->prod - cons <= cq->entries)
		cq->cons = cons;
	return cq->prod - cq->cons + cq->adverse->n < cq->entries;
}

int ur_adverse_push(struct ur_ecq *cq, const struct ur_wc *wc)
{
	struct ur_engine *engine = cq->ectx->engine;
	struct ur_adverse_cq *a = cq->adverse;

	send_spare_event(a);
	if (!(cq->ectx->adverse->what & UROCE_ADVERSE_BATCH))
		return ur_cq_push(cq, wc);
	if (!has_room(cq) ||
	    (!a->n && engine->faults->n_late == UR_ADVERSE_QUEUES_MAX)) {
		ur_adverse_flush_cq(cq);
		return ur_cq_push(cq, wc);
	}
	if (!a->n) {
		engine->faults->n_late++;
		a->size = ur_adverse_draw_batch(&a->rng);
		a->at = engine->now + ur_adverse_draw_late(&a->rng);
		ur_list_add_tail(&engine->faults->late_cqs, &a->node);
	}
	a->wc[a->n++] = *wc;
	if (a->n == a->size)
		ur_adverse_flush_cq(cq);
	return 0;
}

/* ---- requests ---- */

void ur_adverse_hurry(struct ur_eqp *qp, bool on)
{
	if (!qp->adverse)
		return;
	qp->adverse->fetch = on ? UINT32_MAX : 0;
	if (on)
		stop_waiting(qp->adverse);
}

bool ur_adverse_waits(struct ur_eqp *qp)
{
	struct ur_adverse_qp *a = qp->adverse;

	if (!a || !(a->what & UROCE_ADVERSE_SOURCES) || !qp->sq.hdr ||
	    ur_ring_avail(&qp->sq) <= 0)
		return false;
	if (a->fetch) {
		a->fetch -= a->fetch != UINT32_MAX;
		return false;
	}
	if (ur_list_empty(&a->waiting)) {
		if (qp->engine->faults->n_waiting == UR_ADVERSE_QUEUES_MAX)
			return false;
		qp->engine->faults->n_waiting++;
		a->fetch_at = qp->engine->now + ur_adverse_draw_late(&a->rng);
		ur_list_add_tail(&qp->engine->faults->waiting, &a->waiting);
	}
	return true;
}

/* Lets the queue pair fetch n requests in its next turn. */
static void fetch_soon(struct ur_adverse_qp *a, u32 n)
{
	stop_waiting(a);
	a->fetch = n;
	ur_qp_kick(a->qp->qp);
}

static bool fetch_some(struct ur_engine *e)
{
	bool any = false;

	ur_list_for_each_safe(it, &e->faults->waiting) {
		struct ur_adverse_qp *a =
			ur_list_entry(it, struct ur_adverse_qp, waiting);

		if (a->fetch_at > e->now)
			continue;
		fetch_soon(a, 1 + ur_rng_below(&a->rng, 8));
		any = true;
	}
	return any;
}

void ur_adverse_fetch_all(struct ur_engine *e, const struct ur_ectx *x)
{
	ur_list_for_each_safe(it, &e->faults->waiting) {
		struct ur_adverse_qp *a =
			ur_list_entry(it, struct ur_adverse_qp, waiting);
		s64 posted;

		if (a->qp->ectx != x)
			continue;
		posted = ur_ring_avail(&a->qp->sq);
		fetch_soon(a, posted > 0 ? (u32)posted : 0);
	}
}

/* Never two in a row, so that a retry count of one is enough. */
bool ur_adverse_refuses(struct ur_eqp *qp)
{
	struct ur_adverse_qp *a = qp->adverse;

	if (!a || !(a->what & UROCE_ADVERSE_RNR))
		return false;
	a->rnr_said = !a->rnr_said && ur_adverse_draw_rnr(&a->rng);
	return a->rnr_said;
}

/* ---- the turn ---- */

static bool write_some(struct ur_engine *e)
{
	bool any = false;

	ur_list_for_each_safe(it, &e->faults->late_cqs) {
		struct ur_adverse_cq *a =
			ur_list_entry(it, struct ur_adverse_cq, node);

		if (a->at > e->now)
			continue;
		ur_adverse_flush_cq(a->cq);
		any = true;
	}
	return any;
}

bool ur_adverse_turn(struct ur_engine *e)
{
	bool any = write_some(e);

	any |= fetch_some(e);
	return ur_adverse_hand_in(e) || any;
}

ur_time ur_adverse_deadline(const struct ur_engine *e)
{
	ur_time first = UR_NEVER;

	ur_list_for_each(it, &e->faults->late_cqs)
		first = ur_min_u64(
			first,
			ur_list_entry(it, struct ur_adverse_cq, node)->at);
	ur_list_for_each(it, &e->faults->waiting)
		first = ur_min_u64(
			first, ur_list_entry(it, struct ur_adverse_qp, waiting)
				       ->fetch_at);
	ur_list_for_each(it, &e->faults->ordered)
		first = ur_min_u64(
			first, ur_list_entry(it, struct ur_adverse_qp, ordered)
				       ->hand_in_at);
	return first;
}
