/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Repetition: trip.c measures round trips, retry.c has timers and counts,
 * hole.c repeats a single missing packet, timeout.c does what is due. The rules
 * of internal.h hold for these functions too.
 *
 * Each function that counts against retry_cnt or rnr_retry fails the oldest
 * entry, and with it the queue pair, when the count is used up.
 */
#ifndef UR_TRANSPORT_RETRY_H
#define UR_TRANSPORT_RETRY_H

#include "transport/internal.h"

/* Early probes without an answer, at most; then the timeout decides. */
#define UR_PROBE_MAX 7

/* IBTA 9.7.6.1.3: a timeout comes after one to four times the local ACK timeout. */
#define UR_TIMEOUT_MOST 4

/* Returns whether the oldest unfinished request is a READ or an atomic. */
static inline bool ur_asks_first(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;

	return req->head != req->tail &&
	       ur_swqe_is_read_type(ur_sq_entry(qp, req->head));
}

/* ---- trip.c ---- */

/* Estimates the round trip when the measured packet was sent twice: any bound
 * is better than none. Only while req.srtt is 0. */
void ur_trip_estimate(struct ur_qp *qp);
/* Notes that the oldest packet is sent again. */
void ur_trip_again(struct ur_qp *qp);
/* Ends the running measurement if its packet was answered. */
void ur_trip_take(struct ur_qp *qp);
/*
 * Ends the measurement of a packet that was sent again. Where each window loses
 * packets there is no other measurement. The answer may be to any of the sendings
 * (Karn's problem): so the trip shows only that packets wait. It never becomes the
 * shortest trip, and no timer uses it.
 */
void ur_trip_take_again(struct ur_qp *qp);
/* Measures after an answer that acknowledged something new. */
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

/* Notes that packets up to req.tx_psn were sent: starts the timers if none
 * runs. ackreq: the last packet requests an answer, so a measurement starts
 * too. */
void ur_retry_sent(struct ur_qp *qp, bool ackreq);
/* Notes that req.una has moved: restarts timers and counts, or stops them where
 * nothing is outstanding. */
void ur_retry_progress(struct ur_qp *qp);
/*
 * Notes a repeated acknowledgement: a packet that was sent twice has arrived twice.
 * So the network still delivers. Later packets may only wait in a queue behind that
 * one, and are not sent again yet.
 */
void ur_retry_moves(struct ur_qp *qp);
/* Starts the timers anew for what is outstanding. */
void ur_retry_start_timers(struct ur_qp *qp);
/* Returns the nanoseconds from sending to the timeout, or UR_NEVER. */
u64 ur_retry_timeout_ns(const struct ur_qp *qp);
/* Returns the nanoseconds until an early probe is due. */
u64 ur_retry_probe_ns(const struct ur_qp *qp);
/* Reports so many lost packets to the windows. late: a timer found it. */
void ur_retry_lost(struct ur_qp *qp, u32 packets, bool late);
/* Counts a repetition, whether or not it counts against retry_cnt. */
void ur_retry_count(struct ur_qp *qp);
/*
 * Uses one of retry_cnt. Returns false, with the queue pair failed, if none was
 * left.
 *
 * by_nak: the reason is a NAK. A peer that reports what it misses is alive. So
 * its NAKs for one packet count once per timeout: a packet that a network has
 * only put behind others is requested often, and needs time to arrive.
 */
bool ur_retry_use(struct ur_qp *qp, bool by_nak);
/* Sends everything from the oldest unacknowledged packet on again. */
void ur_retry_go_back(struct ur_qp *qp);
/* Handles a sequence NAK, or so many missing packets of a response. Counts,
 * then goes back to the oldest unacknowledged packet. Returns false where it
 * did not go back: the report is too old to concern what was sent since, or the
 * queue pair has failed. */
bool ur_retry_sequence(struct ur_qp *qp, u32 missing);
/* Goes back once more if later answers show that the last repetition was lost
 * too. Does not count, and the timer runs on. Returns false, with nothing done,
 * less than a round trip after the last go-back. */
bool ur_retry_again(struct ur_qp *qp, u32 missing);
/* Handles an RNR NAK with that timer code (5 bits): counts against rnr_retry,
 * waits as long as the code says, then goes back. */
void ur_retry_rnr(struct ur_qp *qp, u8 code);
/* Returns the nanoseconds of an RNR timer code, IBTA 9.7.5.2.8 table 45. */
u64 ur_rnr_ns(u8 code);

/* ---- hole.c ---- */

/* Handles a sequence NAK for req.una. Counts, unless that packet was just
 * repeated. Repeats only that packet if the peer seems to keep later ones; else
 * does the same as ur_retry_sequence(). */
void ur_retry_hole(struct ur_qp *qp);
/* Handles an acknowledgement of psn after ur_retry_hole(). If it shows that the
 * peer did not keep the packets behind the missing one, repeats all. */
void ur_retry_hole_acked(struct ur_qp *qp, u32 psn);
/* Repeats the oldest packet, with a request to acknowledge. alone: only that
 * one, if its answer says as much as those of all later ones; otherwise all. */
void ur_retry_ask(struct ur_qp *qp, bool alone);

/* ---- timeout.c ---- */

/* Does what is due by now: a timeout, an early probe, the end of an RNR
 * wait. */
void ur_retry_expire(struct ur_qp *qp);

#endif
