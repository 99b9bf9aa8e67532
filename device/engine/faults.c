// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fault rules: their list, and what they do to packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/engine/faults.h"
#include "device/engine/record.h"

/* Packets held back at most; what comes then is lost. 4 MiB of the largest. */
#define HELD_MAX 1024u
/* Where nothing follows a packet that was to be overtaken. */
#define REORDER_NS 1000000u
/* The queue of a slow link, as of a small switch. */
#define QUEUE_BYTES (256u << 10)
/* What else a packet of RoCEv2 over IPv4 has on Ethernet: preamble, header,
 * IPv4, UDP, ICRC, FCS, gap. */
#define FRAME_BYTES (8 + 14 + 20 + 8 + 4 + 4 + 12)

struct ur_held {
	struct ur_list node;
	ur_time at;
	bool overtaken; /* leaves behind the next packet of its av */
	bool spoiled;
	bool leaving; /* is in engine->tx */
	struct ur_av *av;
	u32 len;
	u8 bytes[];
};

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

/* Packets name the queue pair that they go to. Whose they are shows in the
 * address vector, which each connected queue pair has one of, or in the DETH. */
static bool sent_by(const struct ur_engine *e, u32 qpn, const struct ur_av *av,
		    const u8 *bth, u32 len)
{
	if (is_ud(bth, len))
		return ur_get_be24(bth + UR_BTH_BYTES + 5) == qpn;
	return ur_port_qp_av(e->port, qpn) == av;
}

static bool matches(const struct ur_efault *f, u32 op, const u8 *peer)
{
	const struct ur_fault_rule *r = &f->rule;

	return (!r->ops || (r->ops & op)) &&
	       (!r->by_peer || !memcmp(r->peer, peer, 16));
}

/* ---- packets that leave ---- */

static void drop_held(struct ur_faults *faults, struct ur_held *h)
{
	ur_list_del(&h->node);
	faults->n_held--;
	ur_av_put(h->av);
	free(h);
}

/* Where there is no room the packet is lost. */
static struct ur_held *hold(struct ur_engine *e, u32 i, ur_time at)
{
	struct ur_faults *faults = e->faults;
	const struct ur_tx_desc *d = &e->tx.desc[i];
	struct ur_list *behind = &faults->held;
	struct ur_held *h;

	if (faults->n_held >= HELD_MAX)
		return NULL;
	h = calloc(1, sizeof(*h) + d->len);
	if (!h)
		return NULL;
	h->at = at;
	h->spoiled = ur_faults_spoils(e, i);
	h->av = ur_av_get((struct ur_av *)d->av);
	h->len = d->len;
	memcpy(h->bytes, e->tx.buf + d->off, d->len);
	/* Behind all that leave earlier or with it. */
	while (behind->prev != &faults->held &&
	       ur_list_entry(behind->prev, struct ur_held, node)->at > at)
		behind = behind->prev;
	ur_list_add_tail(behind, &h->node);
	faults->n_held++;
	return h;
}

static void spoil(struct ur_faults *faults, u32 i, bool on)
{
	u64 bit = 1ull << (i & 63);

	if (on)
		faults->spoiled[i / 64] |= bit;
	else
		faults->spoiled[i / 64] &= ~bit;
}

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

/* One rule strikes packet i. Returns false where it does not leave now. */
static bool strike_sent(struct ur_engine *e, struct ur_efault *f, u32 i)
{
	ur_time at;
	struct ur_held *h;

	switch (f->rule.action) {
	case UR_FAULT_DROP:
		return false;
	case UR_FAULT_DUP:
		hold(e, i, e->now);
		return true;
	case UR_FAULT_CORRUPT:
		spoil(e->faults, i, true);
		return true;
	case UR_FAULT_DELAY:
		hold(e, i, e->now + f->rule.value * 1000);
		return false;
	case UR_FAULT_REORDER:
		h = hold(e, i, e->now + REORDER_NS);
		if (h)
			h->overtaken = true;
		return false;
	case UR_FAULT_SLOW:
		at = slow_link(f, e->now, e->tx.desc[i].len);
		if (at != UR_NEVER)
			hold(e, i, at);
		return false;
	case UR_FAULT_STALL:
		if (!f->until)
			f->until = e->now + f->rule.value * 1000000;
		if (e->now >= f->until)
			return true;
		hold(e, i, f->until);
		return false;
	default:
		return true;
	}
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
		if (ur_fault_strikes(&f->state, r) && !strike_sent(e, f, i))
			return false;
	}
	return true;
}

/* Those that were to be overtaken by a packet to av leave in the next round. */
static void overtake(struct ur_engine *e, const struct ur_av *av)
{
	ur_list_for_each(it, &e->faults->held) {
		struct ur_held *h = ur_list_entry(it, struct ur_held, node);

		if (h->overtaken && h->av == av)
			h->at = e->now;
	}
}

void ur_faults_sent(struct ur_engine *e)
{
	struct ur_tx *tx = &e->tx;
	u32 kept = 0;

	for (u32 i = 0; i < tx->n_desc; i++) {
		spoil(e->faults, i, false);
		/* Frames of raw Ethernet are no packets of RoCE. */
		if (!tx->desc[i].av->raw && !leaves(e, i))
			continue;
		overtake(e, tx->desc[i].av);
		spoil(e->faults, kept, ur_faults_spoils(e, i));
		tx->desc[kept++] = tx->desc[i];
	}
	tx->n_desc = kept;
}

/* ---- those that were held back ---- */

ur_time ur_faults_deadline(const struct ur_engine *e)
{
	ur_time first = UR_NEVER;

	if (!e->faults)
		return UR_NEVER;
	ur_list_for_each(it, &e->faults->held)
		first = ur_min_u64(first,
				   ur_list_entry(it, struct ur_held, node)->at);
	return first;
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
		spoil(e->faults, tx->n_desc, h->spoiled);
		tx->desc[tx->n_desc++] =
			(struct ur_tx_desc){tx->used, h->len, h->av};
		tx->used += h->len + UR_ICRC_BYTES;
		h->leaving = true;
	}
	return tx->n_desc;
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

void ur_faults_received(struct ur_engine *e, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	u32 op = op_of(bth, len), times = 1;

	ur_list_for_each(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		const struct ur_fault_rule *r = &f->rule;

		if (!ur_fault_of_packets(r->action) || !r->in ||
		    !matches(f, op, meta->saddr) ||
		    (r->by_qp && ur_get_be24(bth + 5) != r->qpn) ||
		    !ur_fault_strikes(&f->state, r))
			continue;
		if (r->action == UR_FAULT_CORRUPT)
			ur_port_count(e->port, UR_CNT_rx_icrc_encapsulated, 1);
		if (r->action != UR_FAULT_DUP)
			return;
		times++;
	}
	while (times--)
		ur_port_rx(e->port, e->now, meta, bth, len);
}

/* ---- the rules ---- */

bool ur_faults_strike(struct ur_engine *e, enum ur_fault_action action, u32 qpn,
		      u32 op, u64 *value)
{
	ur_list_for_each(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);
		const struct ur_fault_rule *r = &f->rule;

		if (r->action != action || (r->by_qp && r->qpn != qpn) ||
		    (r->ops && !(r->ops & op)) ||
		    !ur_fault_strikes(&f->state, r))
			continue;
		*value = r->value;
		return true;
	}
	return false;
}

static int begin(struct ur_engine *e)
{
	struct ur_faults *faults = calloc(1, sizeof(*faults));

	if (!faults)
		return -ENOMEM;
	faults->spoiled = calloc((e->tx.max_desc + 63) / 64, sizeof(u64));
	if (!faults->spoiled) {
		free(faults);
		return -ENOMEM;
	}
	ur_list_init(&faults->rules);
	ur_list_init(&faults->held);
	e->faults = faults;
	return 0;
}

/* Packets of tx that wait for room were judged, or sent, before the rules. */
static void choose_ways(struct ur_engine *e)
{
	bool any = !ur_list_empty(&e->faults->rules);

	ur_record_set_ops(e, any ? &ur_fault_host_ops : &ur_engine_host_ops);
	ur_port_set_shortcuts(e->port, e->opt.loop && !any,
			      e->opt.fast && !any);
}

static int fault_add(struct ur_engine *e, struct ur_efault *f)
{
	int err = e->faults ? 0 : begin(e);

	if (err)
		return err;
	ur_list_add_tail(&e->faults->rules, &f->node);
	choose_ways(e);
	return 0;
}
UR_ENGINE_CALL(1, fault_add, struct ur_efault *);

static int fault_del(struct ur_engine *e, struct ur_efault *f)
{
	ur_list_del(&f->node);
	choose_ways(e);
	return 0;
}
UR_ENGINE_CALL(1, fault_del, struct ur_efault *);

int ur_engine_fault_add(struct ur_engine *engine,
			const struct ur_fault_rule *rule,
			struct ur_efault **fault)
{
	struct ur_efault *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->rule = *rule;
	ur_fault_begin(&f->state, rule);
	err = call_fault_add(engine, f);
	if (err)
		free(f);
	else
		*fault = f;
	return err;
}

void ur_engine_fault_del(struct ur_engine *engine, struct ur_efault *fault)
{
	call_fault_del(engine, fault);
	free(fault);
}

void ur_efault_counts(const struct ur_efault *fault, u64 *matched, u64 *done)
{
	*matched = __atomic_load_n(&fault->state.matched, __ATOMIC_RELAXED);
	*done = __atomic_load_n(&fault->state.done, __ATOMIC_RELAXED);
}

void ur_faults_fini(struct ur_engine *e)
{
	struct ur_faults *faults = e->faults;

	if (!faults)
		return;
	while (!ur_list_empty(&faults->held))
		drop_held(faults,
			  ur_list_first(&faults->held, struct ur_held, node));
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
