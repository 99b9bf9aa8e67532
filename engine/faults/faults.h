/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Faults on request: rules (engine/fault_rule.h) that act on packets, requests and
 * completions of this engine. Engine thread only.
 *
 * Without rules engine->faults is NULL, which costs one check for each batch of
 * packets. With rules, messages inside the device are sent as packets, so that they
 * behave as between hosts.
 */
#ifndef UR_ENGINE_FAULTS_FAULTS_H
#define UR_ENGINE_FAULTS_FAULTS_H

#include "engine/gsi/gsi.h"
#include "engine/record/record.h"
#include "engine/fault_rule.h"

struct ur_program_rule;

struct ur_efault {
	struct ur_list node;
	struct ur_fault_rule rule;
	struct ur_fault_state state;
	ur_time until; /* end of a stall; 0: not begun */
	ur_time idle;  /* slow link: when it will have sent its queue */
	struct ur_engine *engine;
	struct ur_program_fault
		*program; /* the same rule in programs, or NULL */
	/* In a program: the device's rule, its place, and its counts at the begin. */
	u64 id;
	u32 place;
	u64 since[2];
};

/* How long a packet that is to be reordered waits for a following one. */
#define UR_REORDER_NS 1000000u

/* A held outgoing packet; a held incoming packet. */
struct ur_held;
struct ur_held_in {
	struct ur_list node;
	ur_time at;
	bool overtaken; /* is handed in after the next one of its queue pair */
	struct ur_rx_meta meta;
	u32 len;
	u8 bytes[];
};

struct ur_faults {
	struct ur_list rules;	/* ur_efault */
	struct ur_list held;	/* ur_held, by time */
	struct ur_list held_in; /* ur_held_in, by time */
	u32 n_held, n_held_in;
	u64 *spoiled; /* a bit for each descriptor of the engine's tx */
	/* Contexts with a hostile card: adverse.h */
	u32 n_adverse;
	/* Lengths of late_cqs and waiting; packets kept by all of ordered. */
	u32 n_late, n_waiting, n_packets;
	struct ur_list late_cqs; /* ur_adverse_cq */
	struct ur_list waiting;	 /* ur_adverse_qp: requests to fetch */
	struct ur_list ordered;	 /* ur_adverse_qp: packets to hand in */
};

/* Applies the rules to the packets of engine->tx, none of which was sent yet: drops,
 * changes or holds some of them. */
void ur_faults_sent(struct ur_engine *engine);
/* Puts due held packets into engine->tx, which must be empty, as far as there is
 * room. Returns whether there were any. Then the caller sends them, and calls
 * ur_faults_let_go(). */
bool ur_faults_release(struct ur_engine *engine);
void ur_faults_let_go(struct ur_engine *engine);
/* Makes all held outgoing packets due now. */
void ur_faults_hurry(struct ur_engine *engine);
/* Hands in due held packets. Returns whether there were any. */
bool ur_faults_hand_in(struct ur_engine *engine);
/* Returns when the next held packet, or work of ur_adverse_turn(), is due; or
 * UR_NEVER. */
ur_time ur_faults_deadline(const struct ur_engine *engine);
/* Returns whether descriptor i of engine->tx is to have a wrong ICRC. */
static inline bool ur_faults_spoils(const struct ur_engine *engine, u32 i)
{
	return engine->faults &&
	       engine->faults->spoiled[i / 64] >> (i & 63) & 1;
}

/* Applies the rules to a received packet, and hands it in unless they forbid
 * it. */
void ur_faults_received(struct ur_engine *engine, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len);
/* Hands in a valid packet from a wire; records it if recording is on, and applies
 * the rules, if any. */
static inline void ur_engine_rx(struct ur_engine *engine,
				const struct ur_rx_meta *meta, const u8 *bth,
				u32 len)
{
	if (engine->record.on)
		ur_record_received(engine, meta, bth, len);
	if (engine->faults)
		ur_faults_received(engine, meta, bth, len);
	else
		engine->kind->rx(engine, meta, bth, len);
}

/* Hands in the first of n packets that came together, as ur_port_rx_run() does. Returns how
 * many it has taken; 0 while recording or with rules. */
static inline u32 ur_engine_rx_run(struct ur_engine *engine,
				   const struct ur_rx_meta *meta, const u8 *bth,
				   u32 len, u32 stride, u32 n)
{
	if (engine->record.on || engine->faults)
		return 0;
	return engine->kind->rx_run(engine, meta, bth, len, stride, n);
}

/* Does the same with packets whose payloads are split, as ur_port_rx_split(). */
static inline u32 ur_engine_rx_split(struct ur_engine *engine,
				     const struct ur_rx_meta *meta,
				     const u8 *bth, u32 stride,
				     const u8 *payload, u32 len, u32 n,
				     bool frail)
{
	if (engine->record.on || engine->faults)
		return 0;
	return engine->kind->rx_split(engine, meta, bth, stride, payload, len,
				      n, frail);
}

/* In a program: takes over the device's UR_PROGRAM_FAULTS rules. */
void ur_faults_follow(struct ur_engine *engine,
		      const struct ur_program_rule *rules);
/* Frees all rules and held packets when the engine ends. */
void ur_faults_fini(struct ur_engine *engine);

/* The rest is for faults.c, fault_ops.c, fault_held.c and adverse.c. */

/* Makes engine->faults if it does not exist. Returns 0 or -ENOMEM. */
int ur_faults_begin(struct ur_engine *engine);
/* Holds a copy of packet i of engine->tx until at. overtaken: or until the next
 * packet to its peer. Without room the packet is lost, here and below. */
void ur_faults_hold(struct ur_engine *engine, u32 i, ur_time at,
		    bool overtaken);
/* Makes the held packets due that a packet to av was to overtake. */
void ur_faults_overtake(struct ur_engine *engine, const struct ur_av *av);
/* Sets or clears the result of ur_faults_spoils(). */
void ur_faults_spoil(struct ur_engine *engine, u32 i, bool on);
/* Do the same as ur_faults_hold() and ur_faults_overtake() for received packets. */
void ur_faults_hold_in(struct ur_engine *engine, const struct ur_rx_meta *meta,
		       const u8 *bth, u32 len, ur_time at, bool overtaken);
void ur_faults_overtake_in(struct ur_engine *engine, u32 qpn);
/* Returns a copy of a packet, which is the caller's, or NULL. */
struct ur_held_in *ur_held_in_new(const struct ur_rx_meta *meta, const u8 *bth,
				  u32 len);
/* Frees all that is held back. */
void ur_faults_drop_held(struct ur_engine *engine);

/* Returns whether a rule of that action, for that queue pair and operation, strikes
 * now. Then *value is the rule's value. */
bool ur_faults_strike(struct ur_engine *engine, enum ur_fault_action action,
		      u32 qpn, u32 op, u64 *value);
/* Returns the UR_FAULT_OP_* of a BTH opcode. Any acknowledgement counts as ACK. */
u32 ur_faults_op(u8 opcode);
/* The transport's callbacks while there are rules. */
extern const struct ur_host_ops ur_fault_host_ops;

#endif
