// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One turn of a program's engine: commands, doorbells, datagrams, timers, transmission. */
#include "engine/core/dispatch.h"
#include "engine/faults/faults.h"
#include "engine/core/poll_loop.h"
#include "engine/record/record.h"
#include "engine/core/ringing.h"
#include "engine/core/engine_impl.h"
#include "engine/core/transmit.h"
#include "engine/core/wait.h"
#include "engine/wire/wire.h"

/* Most receive queues kicked in one turn, since a kick may add another. */
#define KICKS 256
/* Most rounds of ur_poll_arrived(), since a peer may send for ever. */
#define ARRIVED_ROUNDS 16

/* ---- doorbells ---- */

/* all: also for contexts that have not rung of late. */
static bool answer_doorbells(struct ur_engine *e, bool all)
{
	bool any = ur_ringing_answer(e, all);

	for (u32 i = 0; i < KICKS && !ur_list_empty(&e->kicks); i++) {
		struct ur_erq *rq =
			ur_list_first(&e->kicks, struct ur_erq, kick_node);

		ur_list_del(&rq->kick_node);
		ur_rq_ring(rq);
		any = true;
	}
	return any;
}

/* ---- the loop ---- */

/* The engine's thread alone takes edge-triggered events. If it has just received, the program's event
 * is sent first. */
static bool poll_wire(struct ur_engine *e)
{
	return e->rx_any || ur_wire_poll(e);
}

void ur_poll_arrived(struct ur_engine *e)
{
	for (u32 i = 0; i < ARRIVED_ROUNDS && ur_wire_poll(e); i++)
		ur_dispatch_end_rx(e);
}

/*
 * Sends due events. Those of packets from memory are sent without the owner lock. Between two hosts
 * that would not pay: the program's requests would be sent one by one, each with a system call, and
 * not together at the end of this turn. Returns whether the program has posted anything.
 */
static bool send_due(struct ur_engine *e)
{
	bool aside = e->rx_memory && !e->inproc.drives;

	e->rx_memory = false;
	if (ur_list_empty(&e->due))
		return false;
	if (aside) {
		ur_ecq_send_events_aside(e);
		return false;
	}
	ur_ecq_send_events(e);
	/* The program may have posted, but could not run the engine. */
	return e->config.inproc && answer_doorbells(e, false);
}

bool ur_poll_turn(struct ur_engine *e)
{
	bool any, called;

	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_record_check_probes(e);
	/* Doorbells rung before a command are served before it. */
	called = ur_mailbox_waits(e);
	ur_inproc_turn_begins(e);
	ur_ringing_check(e);
	any = answer_doorbells(e, called);
	any |= poll_wire(e);
	ur_dispatch_end_rx(e);
	if (e->now >= ur_port_deadline(e->port)) {
		ur_port_expire(e->port, e->now);
		any = true;
	}
	/* Send the events of what was received first: a program that wakes on
	 * this processor can answer before the ACK leaves, and the ACK then
	 * travels with its answer. */
	any |= send_due(e);
	if (called || !ur_inproc_defers_ack(e))
		any |= ur_transmit(e);
	/* No command while events or bursts are being sent: it could destroy a queue of theirs. */
	if (called && !e->events_away && !e->asides.away)
		any |= ur_mailbox_run(e);
	if (!ur_list_empty(&e->moderated))
		e->mod_deadline = ur_ecq_moderate(e, e->now);
	else
		e->mod_deadline = UR_NEVER;
	/* The events of messages within the device, and of the command. */
	ur_ecq_send_events(e);
	if (any && e->config.inproc)
		ur_inproc_acted(e);
	ur_inproc_turn_ends(e);
	return any;
}

void ur_poll_posted(struct ur_engine *e)
{
	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_inproc_turn_begins(e);
	answer_doorbells(e, false);
	ur_transmit(e);
	ur_ecq_send_events(e);
	ur_inproc_turn_ends(e);
}

bool ur_poll_overdue(struct ur_engine *e)
{
	return e->stop || e->tx_blocked || !ur_list_empty(&e->kicks) ||
	       !ur_list_empty(&e->moderated) ||
	       ur_port_deadline(e->port) < e->asleep_until ||
	       e->wire_retry_at < e->asleep_until ||
	       ur_faults_deadline(e) < e->asleep_until;
}

bool ur_poll_after_call(struct ur_engine *e)
{
	bool more;

	more = ur_transmit_little(e);
	ur_ecq_send_events(e);
	return more || ur_chores_wait(e) || ur_poll_overdue(e);
}
