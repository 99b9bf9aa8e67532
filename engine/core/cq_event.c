// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events of completion queues: the arm check, moderation, and when they are sent.
 *
 * Whether a completion causes an event is decided when the CQE is written. The
 * event is sent after the other completions of the turn: a woken program often
 * takes the processor from the engine at once. It would find one completion of a
 * batch, sleep, and be woken by the next. The rest of the batch, acknowledgements
 * too, would wait each time.
 */
#include "engine/core/engine_impl.h"

/*
 * Events of long messages do not wait for the end of the turn: the application
 * works on the first message while the engine copies the next ones on another
 * processor. DUE_BYTES are copied in 10 to 20 us; each completion counts as some
 * bytes too.
 */
#define DUE_BYTES	 (128u << 10)
#define COMPLETION_BYTES 1024u

void ur_ecq_event(struct ur_ecq *cq)
{
	struct ur_engine *engine = cq->ectx->engine;

	ur_assert(cq->chan);
	cq->mod_seen = 0;
	cq->mod_deadline = UR_NEVER;
	ur_list_del(&cq->mod_node);
	if (!cq->due) {
		if (ur_list_empty(&engine->due))
			engine->due_bytes = 0;
		ur_list_add_tail(&engine->due, &cq->due_node);
	}
	cq->due++;
}

static void send_event(struct ur_ecq *cq)
{
	ur_evsock_send(&cq->chan->sock, &cq->comp_src, 0);
}

static bool goes_together(const struct ur_ecq *cq)
{
	const struct ur_engine *engine = cq->ectx->engine;

	return !engine->events_away && !cq->chan->sock.frozen &&
	       !cq->comp_src.pending;
}

static void send_or_put(struct ur_ecq *cq, struct ur_event_batch *batch)
{
	if (goes_together(cq)) {
		ur_event_batch_put(batch, cq->chan->sock.tx,
				   cq->comp_src.element, cq);
		cq->due--;
	}
	for (; cq->due; cq->due--)
		send_event(cq);
}

/* Sends without the owner lock. Other threads that run the engine meanwhile run no commands, so the
 * queues stay. */
static u32 send_aside(struct ur_engine *engine)
{
	u32 n;

	engine->events_away = true;
	ur_inproc_steps_aside(engine);
	n = ur_event_batch_send(&engine->events);
	ur_inproc_steps_back(engine);
	engine->events_away = false;
	return n;
}

static void send_batch(struct ur_engine *engine, bool aside)
{
	struct ur_event_batch *batch = &engine->events;
	u32 n = aside ? send_aside(engine) : ur_event_batch_send(batch);

	for (u32 i = 0; i < n; i++) {
		struct ur_ecq *cq = batch->event[i].about;

		if (batch->event[i].sent)
			cq->comp_src.sent++;
		else
			send_event(cq);
	}
}

static void send_events(struct ur_engine *engine, bool aside)
{
	while (!ur_list_empty(&engine->due)) {
		struct ur_ecq *cq =
			ur_list_first(&engine->due, struct ur_ecq, due_node);

		ur_list_del(&cq->due_node);
		send_or_put(cq, &engine->events);
		if (!engine->events_away && engine->events.n &&
		    (engine->events.n == UR_EVENT_BATCH ||
		     ur_list_empty(&engine->due)))
			send_batch(engine, aside);
	}
}

void ur_ecq_send_events(struct ur_engine *engine)
{
	send_events(engine, false);
}

void ur_ecq_send_events_aside(struct ur_engine *engine)
{
	send_events(engine, true);
}

static void moderated_event(struct ur_ecq *cq)
{
	struct ur_engine *engine = cq->ectx->engine;

	if (cq->mod_count <= 1 || !cq->mod_period_us ||
	    cq->mod_seen >= cq->mod_count) {
		ur_ecq_event(cq);
		return;
	}
	if (cq->mod_deadline == UR_NEVER) {
		cq->mod_deadline = engine->now + cq->mod_period_us * 1000ull;
		ur_list_add_tail(&engine->moderated, &cq->mod_node);
	}
}

ur_time ur_ecq_moderate(struct ur_engine *engine, ur_time now)
{
	ur_time next = UR_NEVER;

	ur_list_for_each_safe(it, &engine->moderated) {
		struct ur_ecq *cq = ur_list_entry(it, struct ur_ecq, mod_node);

		if (cq->mod_deadline <= now)
			ur_ecq_event(cq);
		else
			next = ur_min_u64(next, cq->mod_deadline);
		ur_assert_rules_hot(ur_ecq_check(cq));
	}
	return next;
}

/* Returns the kind of event (UROCE_ARM_*) that the client has armed the ring for.
 * arm: the value of hdr->arm. */
static u32 armed_for(const struct ur_ecq *cq, u32 arm)
{
	u32 next, kind = arm & UROCE_ARM_MASK;

	if (arm == cq->arm_taken)
		return UROCE_ARM_NONE;
	if (kind != UROCE_ARM_SOLICITED)
		return kind;
	/* Serials wrap around, so compare their difference. */
	next = __atomic_load_n(&cq->hdr->arm_next, __ATOMIC_RELAXED);
	return next && (s32)(next - cq->arm_taken) > 0 ? UROCE_ARM_NEXT : kind;
}

/* [A2]: the CQE is out; has the client armed? */
static void check_arm(struct ur_ecq *cq, bool solicited)
{
	u32 arm, kind;

	cq->mod_seen++;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	arm = __atomic_load_n(&cq->hdr->arm, __ATOMIC_ACQUIRE);
	kind = armed_for(cq, arm);
	if (kind == UROCE_ARM_NEXT ||
	    (kind == UROCE_ARM_SOLICITED && solicited)) {
		cq->arm_taken = arm;
		moderated_event(cq);
	} else if (cq->mod_deadline != UR_NEVER &&
		   cq->mod_seen >= cq->mod_count) {
		ur_ecq_event(cq);
	}
}

void ur_ecq_completed(struct ur_ecq *cq, const struct ur_wc *wc)
{
	struct ur_engine *engine = cq->ectx->engine;

	check_arm(cq, wc->solicited || wc->status != UR_WC_SUCCESS);
	if (ur_list_empty(&engine->due))
		return;
	engine->due_bytes += COMPLETION_BYTES + wc->byte_len;
	if (engine->due_bytes >= DUE_BYTES)
		ur_ecq_send_events(engine);
}
