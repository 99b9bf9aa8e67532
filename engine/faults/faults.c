// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Applies fault rules to packets and requests (fault_set.c has their list). */
#include <string.h>
#include "engine/faults/adverse.h"
#include "engine/faults/faults.h"
#include "engine/grant/program_faults.h"

/* Queue size of a slow link, as of a small switch. */
#define QUEUE_BYTES (256u << 10)
/* Overhead of a RoCEv2 packet over IPv4 on Ethernet: preamble, header, IPv4, UDP,
 * ICRC, FCS, gap. */
#define FRAME_BYTES (8 + 14 + 20 + 8 + 4 + 4 + 12)

/* ---- classification of packets ---- */

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

/* Returns whether the queue pair sent the packet. The BTH names only the
 * destination; the sender is known from the address vector of a connected queue
 * pair, or from the DETH. */
static bool sent_by(const struct ur_engine *e, u32 qpn, const struct ur_av *av,
		    const u8 *bth, u32 len)
{
	if (is_ud(bth, len))
		return ur_get_be24(bth + UR_BTH_BYTES + 5) == qpn;
	return av->lqpn == qpn;
}

/* Counts a match. Returns whether the rule strikes now. */
static bool strikes(struct ur_efault *f)
{
	bool is = ur_fault_strikes(&f->state, &f->rule);

	if (f->id)
		ur_faults_show(f->engine->inproc.counters, f->place,
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

/* Returns when a packet of len bytes has passed the slow link, or UR_NEVER if its
 * queue is full. */
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

/* Returns when a packet that a rule of these actions strikes may go on; UR_NEVER: it
 * is lost. */
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

/* Applies a rule to packet i. Returns false if the packet does not leave now. */
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
		/* Raw Ethernet frames are not RoCE packets. */
		if (!tx->desc[i].av->raw && !leaves(e, i))
			continue;
		ur_faults_overtake(e, tx->desc[i].av);
		ur_faults_spoil(e, kept, ur_faults_spoils(e, i));
		tx->desc[kept++] = tx->desc[i];
	}
	tx->n_desc = kept;
}

/* ---- packets that come in ---- */

/* Applies a rule to a received packet. Returns false if it is not handed in now. */
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
		ur_engine_tally(e, UR_CNT_rx_icrc_encapsulated, 1);
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
		e->kind->rx_ruled(e, meta, bth, len);
	ur_faults_overtake_in(e, ur_get_be24(bth + 5));
}

/* ---- requests and completions ---- */

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
