// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fault rules: their list, and what they do to packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/adverse.h"
#include "engine/faults.h"
#include "engine/lend_faults.h"
#include "engine/record.h"
#include "engine/shards.h"

/* The queue of a slow link, as of a small switch. */
#define QUEUE_BYTES (256u << 10)
/* Further bytes of a packet of RoCEv2 over IPv4 on Ethernet: preamble, header,
 * IPv4, UDP, ICRC, FCS, gap. */
#define FRAME_BYTES (8 + 14 + 20 + 8 + 4 + 4 + 12)

/* ---- what a packet is ---- */

u32 ur_faults_op(u8 opcode)
{
	/* IBTA 9.2.1: the low five bits mean the same in each service. */
	u8 low = opcode & UR_OPC_MASK;

	if (opcode == UR_OP_CNP)
		return UR_FAULT_OP_CNP;
	if (low <= UR_OPC_SEND_ONLY_IMM || low == UR_OPC_SEND_LAST_INV ||
	    low == UR_OPC_SEND_ONLY_INV)
		return UR_FAULT_OP_SEND;
	if (low <= UR_OPC_WRITE_ONLY_IMM)
		return UR_FAULT_OP_WRITE;
	if (low == UR_OPC_READ_REQ)
		return UR_FAULT_OP_READ;
	if (low <= UR_OPC_READ_RESP_ONLY || low == UR_OPC_ATOMIC_ACK)
		return UR_FAULT_OP_RESPONSE;
	if (low == UR_OPC_ACK)
		return UR_FAULT_OP_ACK;
	if (low == UR_OPC_FLUSH)
		return UR_FAULT_OP_FLUSH;
	return UR_FAULT_OP_ATOMIC;
}

static u32 op_of(const u8 *bth, u32 len)
{
	u32 op = ur_faults_op(bth[0]);

	/* 9.7.5.2: the syndrome of an AETH begins with 00 in an ACK. */
	if (op == UR_FAULT_OP_ACK && len > UR_BTH_BYTES &&
	    (bth[UR_BTH_BYTES] & 0x60))
		op = UR_FAULT_OP_NAK;
	if (ur_get_be24(bth + 5) == UR_QPN_GSI)
		op = UR_FAULT_OP_CM;
	return op;
}

static bool is_ud(const u8 *bth, u32 len)
{
	return bth[0] >> 5 == UR_SVC_UD >> 5 &&
	       len >= UR_BTH_BYTES + UR_DETH_BYTES;
}

/* Returns whether the queue pair sent the packet, which names only its
 * destination. The sender shows in the address vector, which each connected
 * queue pair has one of, or in the DETH. */
static bool sent_by(const struct ur_engine *e, u32 qpn, const struct ur_av *av,
		    const u8 *bth, u32 len)
{
	if (is_ud(bth, len))
		return ur_get_be24(bth + UR_BTH_BYTES + 5) == qpn;
	return ur_port_qp_av(e->port, qpn) == av;
}

/* Returns whether the rule strikes what it matches now. Others see its counts. */
static bool strikes(struct ur_efault *f)
{
	bool is = ur_fault_strikes(&f->state, &f->rule);

	if (f->id)
		ur_faults_show(f->engine->guest.counters, f->place,
			       f->state.matched - f->since[0],
			       f->state.done - f->since[1]);
	return is;
}

static bool matches(const struct ur_efault *f, u32 op, const u8 *peer)
{
	const struct ur_fault_rule *r = &f->rule;

	return (!r->ops || (r->ops & op)) &&
	       (!r->by_peer || !memcmp(r->peer, peer, 16));
}

/* ---- packets that leave ---- */

/* When a packet of so many bytes has gone over the slow link; UR_NEVER where
 * its queue is full. */
static ur_time slow_link(struct ur_efault *f, ur_time now, u32 len)
{
	u64 mbps = f->rule.value;

	if (f->idle < now)
		f->idle = now;
	if (f->idle - now > QUEUE_BYTES * 8000ull / mbps)
		return UR_NEVER;
	f->idle += (len + FRAME_BYTES) * 8000ull / mbps;
	return f->idle;
}

/* When a packet that one of these rules strikes may go on; UR_NEVER: it is
 * lost. */
static ur_time when(struct ur_engine *e, struct ur_efault *f, u32 len)
{
	switch (f->rule.action) {
	case UR_FAULT_DELAY:
		return e->now + f->rule.value * 1000;
	case UR_FAULT_REORDER:
		return e->now + UR_REORDER_NS;
	case UR_FAULT_SLOW:
		return slow_link(f, e->now, len);
	case UR_FAULT_STALL:
		if (!f->until)
			f->until = e->now + f->rule.value * 1000000;
		return f->until;
	default:
		return UR_NEVER; /* drop */
	}
}

/* One rule strikes packet i. Returns false where it does not leave now. */
static bool strike_sent(struct ur_engine *e, struct ur_efault *f, u32 i)
{
	ur_time at;

	switch (f->rule.action) {
	case UR_FAULT_DUP:
		ur_faults_hold(e, i, e->now, false);
		return true;
	case UR_FAULT_CORRUPT:
		ur_faults_spoil(e, i, true);
		return true;
	default:
		break;
	}
	at = when(e, f, e->tx.desc[i].len);
	if (f->rule.action == UR_FAULT_STALL && at <= e->now)
		return true;
	if (at != UR_NEVER)
		ur_faults_hold(e, i, at, f->rule.action == UR_FAULT_REORDER);
	return false;
}

static bool leaves(struct ur_engine *e, u32 i)
{
	const struct ur_tx_desc *d = &e->tx.desc[i];
	const u8 *bth = e->tx.buf + d->off;
	u32 op = op_of(bth, d->len);

	ur_list_for_each(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		const struct ur_fault_rule *r = &f->rule;

		if (!ur_fault_of_packets(r->action) || r->in ||
		    !matches(f, op, d->av->dgid) ||
		    (r->by_qp && !sent_by(e, r->qpn, d->av, bth, d->len)))
			continue;
		if (strikes(f) && !strike_sent(e, f, i))
			return false;
	}
	return true;
}

void ur_faults_sent(struct ur_engine *e)
{
	struct ur_tx *tx = &e->tx;
	u32 kept = 0;

	for (u32 i = 0; i < tx->n_desc; i++) {
		ur_faults_spoil(e, i, false);
		/* Frames of raw Ethernet are no packets of RoCE. */
		if (!tx->desc[i].av->raw && !leaves(e, i))
			continue;
		ur_faults_overtake(e, tx->desc[i].av);
		ur_faults_spoil(e, kept, ur_faults_spoils(e, i));
		tx->desc[kept++] = tx->desc[i];
	}
	tx->n_desc = kept;
}

/* ---- packets that come in ---- */

/* One rule strikes. Returns false where the packet does not come in now. */
static bool strike_received(struct ur_engine *e, struct ur_efault *f,
			    const struct ur_rx_meta *meta, const u8 *bth,
			    u32 len, u32 *times)
{
	ur_time at;

	switch (f->rule.action) {
	case UR_FAULT_DUP:
		++*times;
		return true;
	case UR_FAULT_CORRUPT:
		ur_port_count(e->port, UR_CNT_rx_icrc_encapsulated, 1);
		return false;
	default:
		break;
	}
	at = when(e, f, len);
	if (f->rule.action == UR_FAULT_STALL && at <= e->now)
		return true;
	for (; at != UR_NEVER && *times; --*times)
		ur_faults_hold_in(e, meta, bth, len, at,
				  f->rule.action == UR_FAULT_REORDER);
	return false;
}

void ur_faults_received(struct ur_engine *e, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	u32 op = op_of(bth, len), times = 1;

	ur_list_for_each(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		const struct ur_fault_rule *r = &f->rule;

		if (!ur_fault_of_packets(r->action) || !r->in ||
		    !matches(f, op, meta->saddr) ||
		    (r->by_qp && ur_get_be24(bth + 5) != r->qpn) || !strikes(f))
			continue;
		if (!strike_received(e, f, meta, bth, len, &times))
			return;
	}
	while (times--)
		ur_adverse_rx(e, meta, bth, len);
	ur_faults_overtake_in(e, ur_get_be24(bth + 5));
}

/* ---- the rules ---- */

bool ur_faults_strike(struct ur_engine *e, enum ur_fault_action action, u32 qpn,
		      u32 op, u64 *value)
{
	ur_list_for_each(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		const struct ur_fault_rule *r = &f->rule;

		if (r->action != action || (r->by_qp && r->qpn != qpn) ||
		    (r->ops && !(r->ops & op)) || !strikes(f))
			continue;
		*value = r->value;
		return true;
	}
	return false;
}

int ur_faults_begin(struct ur_engine *e)
{
	struct ur_faults *faults;

	if (e->faults)
		return 0;
	faults = calloc(1, sizeof(*faults));
	if (!faults)
		return -ENOMEM;
	faults->spoiled = calloc((e->tx.max_desc + 63) / 64, sizeof(u64));
	if (!faults->spoiled) {
		free(faults);
		return -ENOMEM;
	}
	ur_list_init(&faults->rules);
	ur_list_init(&faults->held);
	ur_list_init(&faults->held_in);
	ur_list_init(&faults->late_cqs);
	ur_list_init(&faults->waiting);
	ur_list_init(&faults->ordered);
	e->faults = faults;
	return 0;
}

/* Packets of tx that wait for room were judged, or sent, before the rules. */
void ur_faults_choose_ways(struct ur_engine *e)
{
	bool any = !ur_list_empty(&e->faults->rules);

	ur_record_set_ops(e, any || e->faults->n_adverse ? &ur_fault_host_ops
							 : &ur_engine_host_ops);
	ur_port_set_shortcuts(e->port, e->opt.loop && !any,
			      e->opt.fast && !any);
}

static int fault_add(struct ur_engine *e, struct ur_efault *f)
{
	int err = ur_faults_begin(e);

	ur_list_init(&f->node);
	if (err)
		return err;
	ur_list_add_tail(&e->faults->rules, &f->node);
	ur_faults_choose_ways(e);
	return 0;
}
UR_ENGINE_ORDER(1, fault_add, struct ur_efault *);

static int fault_del(struct ur_engine *e, struct ur_efault *f)
{
	ur_list_del(&f->node);
	free(f);
	if (e->faults)
		ur_faults_choose_ways(e);
	return 0;
}
UR_ENGINE_ORDER(1, fault_del, struct ur_efault *);

static int add_one(struct ur_engine *engine, const struct ur_fault_rule *rule,
		   struct ur_efault **fault)
{
	struct ur_efault *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->engine = engine;
	f->rule = *rule;
	ur_fault_begin(&f->state, rule);
	err = order_fault_add(engine, f);
	if (err) {
		free(f);
		return err;
	}
	f->more = *fault;
	*fault = f;
	return 0;
}

/* A rule of one queue pair is where that is, others are everywhere. */
int ur_engine_fault_add(struct ur_engine *engine,
			const struct ur_fault_rule *rule,
			struct ur_efault **fault)
{
	struct ur_efault *all = NULL;

	for (u32 i = ur_shards_count(engine); i--;) {
		struct ur_engine *e = ur_shards_nth(engine, i);
		int err;

		if (rule->by_qp && e != ur_shards_of(engine, rule->qpn))
			continue;
		err = add_one(e, rule, &all);
		if (err) {
			if (all)
				ur_engine_fault_del(engine, all);
			return err;
		}
	}
	if (engine->opt.guests && all) {
		int err = ur_faults_lend(engine, rule, &all->lent);

		if (err) {
			ur_engine_fault_del(engine, all);
			return err;
		}
		ur_settings_show(engine);
	}
	*fault = all;
	return 0;
}

static void undo_copy(const struct ur_engine *from, struct ur_engine *to)
{
	ur_list_for_each(it, &from->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		struct ur_efault *copy = f->more;

		if (!copy || copy->engine != to)
			continue;
		f->more = copy->more;
		order_fault_del(to, copy);
	}
}

int ur_faults_copy(const struct ur_engine *from, struct ur_engine *to)
{
	if (!from->faults)
		return 0;
	ur_list_for_each(it, &from->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		int err = f->rule.by_qp ? 0 : add_one(to, &f->rule, &f->more);

		if (err) {
			undo_copy(from, to);
			return err;
		}
	}
	return 0;
}

void ur_engine_fault_del(struct ur_engine *engine, struct ur_efault *fault)
{
	while (fault) {
		struct ur_efault *more = fault->more;

		ur_faults_lend_del(fault->lent);
		ur_settings_show(engine);
		order_fault_del(fault->engine, fault);
		fault = more;
	}
}

/* ---- in a program ---- */

static bool has_rule(const struct ur_engine *e, u64 id)
{
	if (!e->faults)
		return false;
	ur_list_for_each(it, &e->faults->rules)
		if (ur_list_entry(it, struct ur_efault, node)->id == id)
			return true;
	return false;
}

/* It goes on where programs were, so that after, nth and count hold for those that come one after
 * the other as for one. Without memory there is no such rule, and its counts say so. */
static void begin_lent(struct ur_engine *e, const struct ur_lent_rule *lent,
		       u32 place)
{
	struct ur_efault *f = calloc(1, sizeof(*f));

	if (!f)
		return;
	f->engine = e;
	f->rule = lent->rule;
	f->id = lent->id;
	f->place = place;
	ur_fault_begin(&f->state, &f->rule);
	f->since[0] = f->state.matched = lent->matched;
	f->since[1] = f->state.done = lent->done;
	if (fault_add(e, f)) {
		free(f);
		return;
	}
	ur_faults_show_new(e->guest.counters, place, f->id);
}

static void end_lent(struct ur_engine *e, const struct ur_lent_rule *rules)
{
	ur_list_for_each_safe(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);

		if (rules[f->place].id != f->id)
			fault_del(e, f);
	}
}

void ur_faults_follow(struct ur_engine *e, const struct ur_lent_rule *rules)
{
	if (e->faults)
		end_lent(e, rules);
	for (u32 i = 0; i < UR_LENT_FAULTS; i++)
		if (rules[i].id && !has_rule(e, rules[i].id))
			begin_lent(e, &rules[i], i);
}

/* ---- what others see ---- */

void ur_efault_counts(const struct ur_efault *fault, u64 *matched, u64 *done)
{
	*matched = *done = 0;
	if (fault && fault->lent)
		ur_faults_lent_counts(fault->lent, matched, done);
	for (; fault; fault = fault->more) {
		*matched += __atomic_load_n(&fault->state.matched,
					    __ATOMIC_RELAXED);
		*done += __atomic_load_n(&fault->state.done, __ATOMIC_RELAXED);
	}
}

void ur_faults_fini(struct ur_engine *e)
{
	struct ur_faults *faults = e->faults;

	if (!faults)
		return;
	ur_faults_drop_held(e);
	while (!ur_list_empty(&faults->rules)) {
		struct ur_efault *f =
			ur_list_first(&faults->rules, struct ur_efault, node);

		ur_list_del(&f->node);
		free(f);
	}
	free(faults->spoiled);
	free(faults);
	e->faults = NULL;
}
