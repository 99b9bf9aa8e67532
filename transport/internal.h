/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the halves of the protocol call of each other, from the lowest layer to
 * the highest (the layers of README.md, which a test holds: a file calls only
 * what stands before its own part here).
 */
#ifndef UR_TRANSPORT_INTERNAL_H
#define UR_TRANSPORT_INTERNAL_H

#include "transport/qp.h"

/* ---- what all of them speak of ---- */

/* How a queue pair's quantum, its share of one ur_port_tx(), ended. */
enum ur_quantum {
	UR_QUANTUM_IDLE, /* nothing to do until something happens */
	UR_QUANTUM_MORE, /* budget spent, more to do */
	UR_QUANTUM_FULL, /* no room in the ur_tx */
};

/* Packets sent and not answered. */
static inline u32 ur_inflight(const struct ur_requester *req)
{
	return ur_psn_sub(req->tx_psn, req->una);
}

/* ---- inflight.c: how much may be in flight ---- */

/* As at first; so many packets answered; one lost. */
void ur_inflight_reset(struct ur_qp *qp);
void ur_inflight_answered(struct ur_qp *qp, u32 packets);
void ur_inflight_lost(struct ur_qp *qp);

/* ---- qp.c: what failing and arming need of timers ---- */

void ur_retry_reset(struct ur_qp *qp); /* no timer runs, nothing is counted */
/* When DCQCN wants ur_cc_expire(); UR_NEVER while the rate is not limited. */
ur_time ur_cc_deadline(const struct ur_qp *qp);

/* ---- ack.c: acknowledgements owed, and their credits ---- */

/* Owe an acknowledgement or NAK. */
void ur_answer_ack(struct ur_qp *qp, u8 syndrome, u32 psn);
/* The credit code to put into an AETH. */
u8 ur_answer_credits(struct ur_qp *qp);
/* The largest credit code that promises no more than count receives. */
u8 ur_credit_code(u32 count);
/* What such a code (not UR_AETH_CREDIT_NONE) promises. */
u32 ur_credit_count(u8 code);

/* ---- cc.c: DCQCN (cc_init.c: its memory) ---- */

void ur_cc_init(struct ur_qp *qp);
void ur_cc_fini(struct ur_qp *qp);
void ur_cc_cnp(struct ur_qp *qp);      /* one was received */
void ur_cc_marked(struct ur_qp *qp);   /* a CE-marked packet came */
bool ur_cc_may_send(struct ur_qp *qp); /* else a timer is armed */
void ur_cc_sent(struct ur_qp *qp, u32 bytes);
void ur_cc_expire(struct ur_qp *qp);

/* ---- finish.c: the end of posted work ---- */

/* The oldest entry fails with that UR_WC_* status; the QP goes to ERR (SQE for
 * UC, UD). */
void ur_completer_fail(struct ur_qp *qp, u8 status);
/* Entries whose turn has come are completed and popped. */
void ur_completer_retire(struct ur_qp *qp);
/* A refusal: NAK code of the AETH. Shared with the in-device path. */
void ur_completer_nak(struct ur_qp *qp, u8 code);

/* ---- refuse.c: requests refused, and what comes before accepting ---- */

/* Annex A14: an XRC target QP has no protection domain; keys are checked
 * against that of the SRQ the packet names. No-op for other types. */
void ur_responder_domain(struct ur_qp *qp, u32 xrc_srqn);
/* The receive WQE of this message: own queue, SRQ or the XRC SRQ. */
bool ur_responder_take(struct ur_qp *qp, u32 xrc_srqn, enum ur_verdict *v);
/* The verdict where a copy failed with err: v, unless the process is gone. */
enum ur_verdict ur_responder_blame(int err, enum ur_verdict v);
/* The connection is broken by what the peer asked (v) or by our own receive
 * WQE (status of its completion, or 0). */
void ur_responder_fatal(struct ur_qp *qp, enum ur_verdict v, u8 status);
/* As ur_responder_fatal(), with the NAK that tells the peer; silent where
 * our process is gone. */
void ur_responder_refuse(struct ur_qp *qp, enum ur_verdict v, u32 psn,
			 u8 status);

/* ---- replay.c: responder resources and the queue of answers ---- */

void ur_replay_reset(struct ur_qp *qp);
/* A resource for a new request, where ur_replay_free(). */
struct ur_resource *ur_replay_take(struct ur_qp *qp);
/* Is there one to take? */
bool ur_replay_free(const struct ur_qp *qp);
/* Queue the answer (from PSN on) of a resource. False: no room. */
bool ur_replay_queue(struct ur_qp *qp, struct ur_resource *res, u32 psn,
		     u32 npkts);
/* A request that came before. */
void ur_replay_duplicate(struct ur_qp *qp, const struct ur_pkt *pkt);

/* ---- retry.c: when to send again, and when to give up ---- */

/* A packet has gone that asks for an answer or does not: timers are armed. */
void ur_retry_sent(struct ur_qp *qp, bool ackreq);
/* Something was answered: timers and counts begin anew. */
void ur_retry_progress(struct ur_qp *qp);
/* A sequence error NAK: only the missing packet, where the peer seems to keep
 * the others; else as the next. */
void ur_retry_hole(struct ur_qp *qp);
/* The missing packet was acknowledged: was the rest kept? */
void ur_retry_hole_acked(struct ur_qp *qp, u32 psn);
/* A sequence error NAK or a lost response: counted, then back to the
 * oldest unacknowledged packet. False: it says nothing new. */
bool ur_retry_sequence(struct ur_qp *qp);
/* Ask for all again where answers say that the last asking was in vain. Does
 * not count, and the timer runs on. False: not yet a round trip ago. */
bool ur_retry_again(struct ur_qp *qp);
/* RNR NAK with that timer code: counted, wait, then back. */
void ur_retry_rnr(struct ur_qp *qp, u8 code);
/* What is due by now. */
void ur_retry_expire(struct ur_qp *qp);
/* Nanoseconds of an RNR timer code, IBTA table 45. */
u64 ur_rnr_ns(u8 code);

/* ---- rx_check.c: what a request is found to be ---- */

enum ur_verdict ur_rx_check(const struct ur_qp *qp, const struct ur_pkt *pkt);
/* Does the queue pair let its peer do that at all? flags: UR_OPF_* of the
 * request, placement: UR_FETH_* of a FLUSH. */
bool ur_rx_check_allows(const struct ur_qp *qp, u32 flags, u8 placement);

/* ---- execute.c: accepted requests ---- */

enum ur_verdict ur_execute(struct ur_qp *qp, const struct ur_pkt *pkt,
			   u8 *status);
/* Completion of a SEND or WRITE with immediate. */
void ur_execute_complete(struct ur_qp *qp, u32 flags, u32 byte_len, u32 imm,
			 u32 inv_rkey, bool se);
/* An atomic of that opcode on 8 checked bytes. 0 or -EFAULT. */
int ur_execute_atomic(const struct ur_span *span, bool cmp_swap, u64 swap_add,
		      u64 compare, u64 *orig);

/* ---- ud.c, uc.c: packets that come in, datagrams that go out ---- */

void ur_ud_rx(struct ur_qp *qp, const struct ur_rx_meta *meta,
	      const struct ur_pkt *pkt);
enum ur_quantum ur_ud_send(struct ur_qp *qp, struct ur_swqe *e,
			   struct ur_tx *tx);
void ur_uc_rx(struct ur_qp *qp, const struct ur_pkt *pkt);

/* ---- loop.c: a peer on this port ---- */

enum ur_loop {
	UR_LOOP_PACKETS, /* not in step: use packets */
	UR_LOOP_DONE,	 /* executed; the entry is completed or failed */
	UR_LOOP_MORE,	 /* partly; go on in the next turn */
	UR_LOOP_WAIT,	 /* receiver not ready; the timer is armed */
};
/* bytes: what may still be copied in this turn; less what was. */
enum ur_loop ur_loopback_run(struct ur_qp *qp, struct ur_swqe *e, u32 *bytes);

/* ---- completer.c: answers to our requests ---- */

void ur_completer_rx(struct ur_qp *qp, const struct ur_pkt *pkt);
/* Everything before una is answered. */
void ur_completer_advance(struct ur_qp *qp, u32 una);

/* ---- request.c: the next packet of the entry being sent ---- */

enum ur_request {
	UR_REQUEST_SENT,
	UR_REQUEST_FULL,  /* no room in the ur_tx */
	UR_REQUEST_BLOCK, /* as many READs and atomics are open as may be */
	UR_REQUEST_FAULT, /* its memory cannot be read */
};

/* Of a SEND or WRITE. */
enum ur_request ur_request_data(struct ur_qp *qp, struct ur_swqe *e,
				struct ur_tx *tx);
/* Of one that is answered with more than an acknowledgement. */
enum ur_request ur_request_read_type(struct ur_qp *qp, struct ur_swqe *e,
				     struct ur_tx *tx);
/* So many PSNs more have been sent, in that many packets: all of them for the
 * first time, or all of them again. */
void ur_requester_sent(struct ur_qp *qp, u32 psns, u32 packets);

/* ---- responder.c: requests of RC and XRC ---- */

void ur_responder_rx(struct ur_qp *qp, const struct ur_pkt *pkt);
/* As before the first packet; what was kept and owed is dropped. */
void ur_responder_reset(struct ur_qp *qp);

/* ---- answer.c: what the responder sends ---- */

/* Send what is owed, as far as there is room. */
enum ur_quantum ur_answer_run(struct ur_qp *qp, struct ur_tx *tx);
/* The queue pair is about to end: the port sends what it owes, if it can. */
void ur_answer_orphan(struct ur_qp *qp);

/* ---- requester.c: turns work into packets ---- */

/* One turn: fill tx as far as budget, window and room go. */
enum ur_quantum ur_requester_run(struct ur_qp *qp, struct ur_tx *tx);

/* ---- qp_run.c: a queue pair's turn ---- */

/* Forget all work, without completions. */
void ur_qp_drop_work(struct ur_qp *qp);
/* Whatever of it is due by the port's now. */
void ur_qp_expire(struct ur_qp *qp);
/* One turn of the queue pair: true when there is more to do at once. *full:
 * the ur_tx has no room left. */
bool ur_qp_run(struct ur_qp *qp, struct ur_tx *tx, bool *full);

/* ---- qp_life.c: what a queue pair allocates ---- */

/* Room for so many READs and atomics, max_dest_rd_atomic. 0 or -ENOMEM. */
int ur_replay_resize(struct ur_qp *qp, u32 count);

#endif
