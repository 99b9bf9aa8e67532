/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Several missing packets named at once. A NAK names the first one only, so
 * where several of a window are lost each costs a round trip. Two peers that
 * both keep what comes behind a gap (ooo.h) also tell of the others, in packets
 * with an opcode that the standard leaves to manufacturers (IBTA volume 1,
 * 9.2.1); other peers drop these as of no service of the queue pair.
 *
 * A requester that has seen its peer keep packets says that it understands
 * them; the responder sends them from then on. Nothing depends on them: what
 * they name is sent again early, and NAK and timers go on as without.
 */
#ifndef UR_TRANSPORT_GAPS_H
#define UR_TRANSPORT_GAPS_H

#include "transport/ooo.h"

#define UR_GAPS_WORDS	 (UR_OOO_SPAN / 64)
#define UR_GAPS_SAY_MOST 8

struct ur_tx;

/* Of a requester. Bits are of PSNs, by the low bits of these. */
struct ur_gaps {
	bool todo; /* something is due: say, or one of due */
	bool say;
	bool heard; /* the peer has told of gaps */
	u8 said;    /* how often it was said */
	u64 due[UR_GAPS_WORDS];
	/* Sent again in this turn and the one before, of a round trip each. */
	u64 sent[2][UR_GAPS_WORDS];
	ur_time turn_at;
};

static inline bool ur_gaps_has(const u64 *bits, u32 psn)
{
	return bits[psn % UR_OOO_SPAN / 64] >> (psn % 64) & 1;
}

/* Returns whether the packet was sent again for them so short a time ago that
 * nobody can know of it. */
static inline bool ur_gaps_recent(const struct ur_gaps *g, u32 psn)
{
	return ur_gaps_has(g->due, psn) || ur_gaps_has(g->sent[0], psn) ||
	       ur_gaps_has(g->sent[1], psn);
}

/* All that is outstanding is sent again: nothing is due. */
static inline void ur_gaps_forget(struct ur_gaps *g)
{
	memset(g->due, 0, sizeof(g->due));
	memset(g->sent, 0, sizeof(g->sent));
	g->todo = g->say;
}

/* The peer keeps what comes behind a gap: says once more, until it is known
 * that it has heard, that gaps are understood. */
static inline void ur_gaps_welcome(struct ur_gaps *g)
{
	if (g->heard || g->said == UR_GAPS_SAY_MOST)
		return;
	g->said++;
	g->say = g->todo = true;
}

/* Receives a packet of UR_OP_GAPS for a queue pair of RC or XRC, where the port
 * has them (cfg.gaps). */
void ur_gaps_rx(struct ur_qp *qp, const struct ur_pkt *pkt);
/* Sends what is due of the requester (req.gaps.todo). Returns false where tx
 * has no room for all of it. */
bool ur_gaps_run(struct ur_qp *qp, struct ur_tx *tx);
/* Sends the list that the responder owes (resp.gaps_due). Returns false where tx
 * has no room. */
bool ur_gaps_tell(struct ur_qp *qp, struct ur_tx *tx);

#endif
