/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A rule that makes a device misbehave on request, and its text form:
 *
 *     drop dir=out op=write prob=0.01 seed=7
 *
 * An action, perhaps with a value, and what it is limited to, in any order.
 * uroce-fault(7) has all of them. Any thread.
 */
#ifndef UR_ENGINE_FAULT_RULE_H
#define UR_ENGINE_FAULT_RULE_H

#include "util/bytes.h"
#include "util/rng.h"

enum ur_fault_action {
	/* on packets */
	UR_FAULT_DROP,
	UR_FAULT_DUP,
	UR_FAULT_DELAY,	  /* microseconds */
	UR_FAULT_REORDER, /* behind the next one */
	UR_FAULT_CORRUPT, /* so that the ICRC is wrong */
	UR_FAULT_CM_DROP, /* those of the connection manager are lost */
	UR_FAULT_SLOW,	  /* a link of so many Mbit/s, with a short queue */
	UR_FAULT_STALL,	  /* milliseconds, in which all of them wait */
	/* on requests that come in */
	UR_FAULT_NAK, /* enum ur_refusal */
	UR_FAULT_RNR,
	/* on requests that a program posts */
	UR_FAULT_WC, /* completion status, enum ibv_wc_status */
	/* on completion queues */
	UR_FAULT_CQ_OVERRUN,
	/* on the device and its control */
	UR_FAULT_REG_ENOMEM,
	UR_FAULT_CM_REJECT, /* reason of the REJ */
	UR_FAULT_LINK_DOWN, /* milliseconds; 0: until the rule is deleted */
	UR_FAULT_GID_CHANGE,
	UR_FAULT_PORT_ERROR,
	UR_FAULT_DEVICE_FATAL,
	UR_FAULT_ACTIONS
};

/* The kinds of packets and requests, for op=. */
enum ur_fault_op {
	UR_FAULT_OP_SEND = 1u << 0,
	UR_FAULT_OP_WRITE = 1u << 1,
	UR_FAULT_OP_READ = 1u << 2,
	UR_FAULT_OP_ATOMIC = 1u << 3,
	UR_FAULT_OP_RESPONSE = 1u << 4, /* of a READ or atomic */
	UR_FAULT_OP_ACK = 1u << 5,
	UR_FAULT_OP_NAK = 1u << 6,
	UR_FAULT_OP_CM = 1u << 7, /* any datagram of QP1 */
	UR_FAULT_OP_CNP = 1u << 8,
	UR_FAULT_OP_FLUSH = 1u << 9,
};

struct ur_fault_rule {
	enum ur_fault_action action;
	u64 value;
	u32 ops; /* UR_FAULT_OP_*; 0: any */
	bool in; /* packets that come in; else those that leave */
	bool by_qp, by_peer;
	u32 qpn;
	u8 peer[16]; /* as a GID */
	u64 after;   /* so many matches pass first */
	u64 nth;     /* then each nth; 0 and 1: each */
	u64 count;   /* so often in all; 0: no end */
	u64 prob;    /* of 2^32 */
	u64 seed;
};

/* The counts of a rule. One thread decides; others may read the counts. */
struct ur_fault_state {
	u64 matched, done;
	struct ur_rng rng;
};

/* Returns whether the action is one of packets. */
bool ur_fault_of_packets(enum ur_fault_action action);
/* Makes *rule of text. Returns 0, or -EINVAL with *why, a static text that says
 * what is wrong with *word, which points into text and ends with a space or
 * NUL. */
int ur_fault_parse(const char *text, struct ur_fault_rule *rule,
		   const char **why, const char **word);
/* Prepares *state for the rule. */
void ur_fault_begin(struct ur_fault_state *state,
		    const struct ur_fault_rule *rule);
/* Returns whether the rule strikes what it matches now, by after, nth, prob and
 * count. */
bool ur_fault_strikes(struct ur_fault_state *state,
		      const struct ur_fault_rule *rule);

#endif
