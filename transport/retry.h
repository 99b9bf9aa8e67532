/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * When to send again, and when to give up: trip.c measures round trips, retry.c
 * has timers and counts, hole.c sends one missing packet alone, timeout.c does
 * what is due. The rules of internal.h hold for these functions too.
 *
 * Each function that counts against retry_cnt or rnr_retry fails the oldest
 * entry, and with it the queue pair, when the count is used up.
 */
#ifndef UR_TRANSPORT_RETRY_H
#define UR_TRANSPORT_RETRY_H

#include "transport/internal.h"

/* So many early probes without an answer; then the timeout decides. */
#define UR_PROBE_MAX 7

/* Returns whether the oldest request that is not done is a READ or an atomic. */
static inline bool ur_asks_first(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;

	return req->head != req->tail &&
	       ur_swqe_is_read_type(ur_sq_entry(qp, req->head));
}

/* ---- trip.c ---- */

/* Estimates the round trip where the packet that was measured has been sent
 * twice: any bound is better than none. Only while req.srtt is 0. */
void ur_trip_estimate(struct ur_qp *qp);
/* The oldest packet is sent again, perhaps not for the first time. */
void ur_trip_again(struct ur_qp *qp);
/* Ends the measurement that runs, if its packet was answered. */
void ur_trip_take(struct ur_qp *qp);
/*
 * Does the same for a packet that was sent again: where part of each window is
 * lost, nothing else is measured, and this shows the path how long packets
 * wait. The answer may be to the first sending, or to the third (Karn); so it
 * never counts as the shortest trip, and no timer uses it.
 */
void ur_trip_take_again(struct ur_qp *qp);
/* The peer answered more than before. */
static inline void ur_trip_answered(struct ur_qp *qp)
{
	if (__builtin_expect(qp->req.again_at != 0, 0))
		ur_trip_take_again(qp);
	if (qp->req.sample_at)
		ur_trip_take(qp);
	if (!qp->req.srtt)
		ur_trip_estimate(qp);
}

/* ---- retry.c ---- */

/* A packet was sent, up to req.tx_psn: starts the timers if none runs. ackreq:
 * it asks for an answer, so it also starts to measure a round trip. */
void ur_retry_sent(struct ur_qp *qp, bool ackreq);
/* The peer answered more than before (req.una has moved): timers and counts
 * start anew, or stop where nothing is outstanding. */
void ur_retry_progress(struct ur_qp *qp);
/*
 * The peer has acknowledged what it had acknowledged before: something that was sent
 * twice has come twice. So packets are on their way, and those behind it may be, which
 * a flow's own queue lets wait for as many of its packets as are in front of them.
 */
void ur_retry_moves(struct ur_qp *qp);
/* Timers start anew, for what is outstanding. */
void ur_retry_start_timers(struct ur_qp *qp);
/* Returns after how many nanoseconds an early probe is due. */
u64 ur_retry_probe_ns(const struct ur_qp *qp);
/* Tells the windows that so many packets were lost. late: a timer found out. */
void ur_retry_lost(struct ur_qp *qp, u32 packets, bool late);
/* Something is sent again, whether or not it counts against retry_cnt. */
void ur_retry_count(struct ur_qp *qp);
/*
 * Uses one of retry_cnt. Returns false, with the queue pair failed, where none
 * was left.
 *
 * told: the reason is a NAK. A peer that says what it misses is alive. So its
 * NAKs for the same packet count once in the time after which silence would
 * have counted: a packet that a network has only put behind others is asked for
 * often, and needs time to arrive.
 */
bool ur_retry_use(struct ur_qp *qp, bool told);
/* All from the oldest unacknowledged packet on is sent again. */
void ur_retry_go_back(struct ur_qp *qp);
/* A NAK for a sequence error came, or so many packets of a response are missing.
 * Counts, then goes back to the oldest unacknowledged packet. Returns false where
 * it did not go back: the news is too old to mean what was sent since, or the
 * queue pair has failed. */
bool ur_retry_sequence(struct ur_qp *qp, u32 missing);
/* Goes back once more where later answers show that the last repetition was
 * lost too. Does not count, and the timer runs on. Returns false, with nothing
 * done, less than a round trip after the last one. */
bool ur_retry_again(struct ur_qp *qp, u32 missing);
/* One more packet is known to be missing, and is sent again. */
void ur_retry_gap(struct ur_qp *qp);
/* An RNR NAK came with that timer code (5 bits). Counts against rnr_retry,
 * waits as long as the code says, then goes back. */
void ur_retry_rnr(struct ur_qp *qp, u8 code);
/* Returns the nanoseconds of an RNR timer code, IBTA 9.7.5.2.8 table 45. */
u64 ur_rnr_ns(u8 code);

/* ---- hole.c ---- */

/* A NAK for a sequence error came, with req.una the packet that is missing.
 * Counts, unless that packet has just been sent again. Only that packet is sent
 * again where the peer seems to keep the packets behind it; else the same as
 * ur_retry_sequence(). */
void ur_retry_hole(struct ur_qp *qp);
/* An acknowledgement of psn came after ur_retry_hole(). If it shows that the
 * peer did not keep the packets behind the missing one, all are sent again. */
void ur_retry_hole_acked(struct ur_qp *qp, u32 psn);
/* Sends the oldest packet again, with a request to acknowledge. alone: only
 * that one, if its answer says as much as those of all from there on; otherwise
 * all of them go. */
void ur_retry_ask(struct ur_qp *qp, bool alone);

/* ---- timeout.c ---- */

/* Does what is due by now: a timeout, an early probe, the end of an RNR
 * wait. */
void ur_retry_expire(struct ur_qp *qp);

#endif
