/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The functions that the source files of the transport call in each other, from
 * the lowest layer to the highest. README.md lists the layers and a test holds
 * them: a file calls only functions that stand above its own section here.
 *
 * All functions of this header run on the port's thread, inside a call of the
 * host into the port. They take the time from port->now. Arguments are never
 * NULL unless the comment says so. qp is a queue pair of the port, in any state
 * unless the comment names states. PSNs have 24 bits. Nothing here allocates
 * memory but ur_cc_init(), ur_cc_reserve() and ur_replay_resize().
 */
#ifndef UR_TRANSPORT_INTERNAL_H
#define UR_TRANSPORT_INTERNAL_H

#include "transport/qp.h"

/* ---- shared definitions ---- */

/* How a queue pair's quantum, its share of one ur_port_tx(), ended. */
enum ur_quantum {
	UR_QUANTUM_IDLE, /* nothing to do until something happens */
	UR_QUANTUM_MORE, /* budget spent, more to do */
	UR_QUANTUM_FULL, /* no room in the ur_tx */
};

/* Returns the number of PSNs that were sent and not yet answered. */
static inline u32 ur_inflight(const struct ur_requester *req)
{
	return ur_psn_sub(req->tx_psn, req->una);
}

/* ---- inflight.c: how many packets may be in flight ---- */

/* Sets the window to its initial size, cfg.window_pkts. */
void ur_inflight_reset(struct ur_qp *qp);
/* Grows the window for that many answered packets. It doubles after enough of
 * them without a loss. */
void ur_inflight_answered(struct ur_qp *qp, u32 packets);
/* Notes a lost packet. A grown window falls back to its initial size, and
 * needs longer to grow after each such loss. On a congested path the window
 * is cut. */
void ur_inflight_lost(struct ur_qp *qp);
/* Returns whether round trips show packets waiting in a queue. */
bool ur_inflight_queues(const struct ur_requester *req);
/* Returns whether many packets were lost recently. */
bool ur_inflight_many(const struct ur_requester *req);
/* Returns whether congestion has cut the window below its initial size. */
static inline bool ur_inflight_is_cut(const struct ur_qp *qp)
{
	return qp->req.window < qp->port->cfg.window_pkts;
}

/* Returns the largest number of packets between acknowledgement requests. A
 * small window requests one after its first half, which is answered while the
 * second half is under way. */
static inline u32 ur_inflight_ask(const struct ur_qp *qp)
{
	if (qp->req.window >= 2 * UR_ACK_PKTS || !ur_inflight_is_cut(qp))
		return UR_ACK_PKTS;
	return qp->req.window > 1 ? qp->req.window / 2 : 1;
}

/* ---- qp.c: what failing and arming need of timers ---- */

/* Stops the timers of retransmission and sets its counts to zero. The caller
 * rearms the queue pair (ur_qp_rearm()) if it may still be armed. */
void ur_retry_reset(struct ur_qp *qp);
/* Returns when DCQCN wants ur_cc_expire(), or UR_NEVER while it does not limit
 * the rate. */
ur_time ur_cc_deadline(const struct ur_qp *qp);

/* ---- ack.c: acknowledgements owed, and their credits ---- */

/*
 * Makes the responder owe an acknowledgement (or NAK) of psn. It goes out when
 * the queue pair runs next; a later one takes its place, unless coalescing is
 * off. A NAK that ends the connection stays: later calls do nothing. syndrome
 * is that of the AETH.
 */
void ur_answer_ack(struct ur_qp *qp, u8 syndrome, u32 psn);
/* Returns the credit code for an AETH: the receives that are posted, rounded
 * down, or UR_AETH_CREDIT_NONE where none can be promised. With no receive
 * posted it asks the host to be kicked by the next one. */
u8 ur_answer_credits(struct ur_qp *qp);
/* Returns the largest credit code that promises no more than count receives. */
u8 ur_credit_code(u32 count);
/* Returns the number of receives that a credit code promises. code is at most
 * 30, so it is not UR_AETH_CREDIT_NONE. */
u32 ur_credit_count(u8 code);

/* ---- cc.c: DCQCN (cc_init.c: its memory) ---- */

/* Allocates what CNPs need, and DCQCN state if the port has DCQCN enabled, for
 * a queue pair with an address vector. Without memory its rate is not limited,
 * and its CNPs have the class of the connection. */
void ur_cc_init(struct ur_qp *qp);
/* Allocates room for a rate limit of the program. Returns 0 or -ENOMEM. */
int ur_cc_reserve(struct ur_qp *qp);
/* Applies the rate limit of the attributes; needs ur_cc_reserve() unless the
 * limit is 0. */
void ur_cc_cap(struct ur_qp *qp);
/* Frees the congestion control state, if there is one. */
void ur_cc_fini(struct ur_qp *qp);
/* Handles a received CNP: lowers the rate if DCQCN limits it, else the window
 * of the path. Without either, counts the CNP as ignored. */
void ur_cc_cnp(struct ur_qp *qp);
/* Handles a CE-marked packet: owes the peer a CNP, unless one left less than
 * cnp_interval_ns ago. If the packet answers a READ, also cuts the window of
 * the path. */
void ur_cc_marked(struct ur_qp *qp, const struct ur_pkt *pkt);
/* Returns the address vector for a CNP, by the present settings: the
 * connection's or cnp_av. State RTR or later. */
const struct ur_av *ur_cc_cnp_av(struct ur_qp *qp);
/* Returns whether the rate allows a packet now. If not, arms the deadline for
 * the time when it does. */
bool ur_cc_may_send(struct ur_qp *qp);
/* Returns whether an answer yields to the queue pair's own requests: where a
 * rate limits both, they alternate. The queue pair has cc. */
bool ur_cc_yields(struct ur_qp *qp);
/* Charges a packet of so many bytes, BTH to pad, to the rate. */
void ur_cc_sent(struct ur_qp *qp, u32 bytes);
/* Does what is due by now: alpha decays, the rate rises, a pause ends. */
void ur_cc_expire(struct ur_qp *qp);

/* ---- failure.c: the details of failures for the host ---- */

/* A request of the peer, as far as known. */
struct ur_asked {
	u8 opcode; /* enum ur_wr_opcode */
	u8 reason; /* enum ur_reason */
	u32 need;  /* UR_ACCESS_* */
	u32 rkey, psn, payload;
	u64 va, length;
};

/* Reports to the host why entry e (or NULL) makes the queue pair fail. Called
 * before any state changes. */
void ur_failure_own(const struct ur_qp *qp, const struct ur_swqe *e, u8 status);
/* Does the same for a request of the peer: v and status as of
 * ur_responder_fatal(). asked may be NULL. */
void ur_failure_peers(const struct ur_qp *qp, enum ur_verdict v, u8 status,
		      const struct ur_asked *asked);
/* Does the same where a queue of the program is corrupt or full. */
void ur_failure_broken(const struct ur_qp *qp, enum ur_reason reason);

/* ---- finish.c: the end of posted work ---- */

/* Completes the oldest entry, if there is one, with status (an error of enum
 * ur_wc_status). Before that the queue pair enters ERR, or SQE for UC and
 * UD. */
void ur_completer_fail(struct ur_qp *qp, u8 status);
/* Completes and pops entries from the oldest on, as far as they are done. Also
 * notices that a draining send queue has drained. */
void ur_completer_retire(struct ur_qp *qp);
/* Fails the oldest entry as the NAK code of an AETH says (UR_NAK_*, not the
 * sequence error). The in-device path uses it too. */
void ur_completer_nak(struct ur_qp *qp, u8 code);

/* ---- rest.c: receive buffers behind the message, for a hostile host ---- */

/* Overwrites some of the held receive's memory behind the first used bytes. */
void ur_rest_write(struct ur_qp *qp, u32 used);
/* Does so where the queue pair was made for it (ur_qp_init.rest). */
static inline void ur_rest_scribble(struct ur_qp *qp, u32 used)
{
	if (qp->init.rest)
		ur_rest_write(qp, used);
}

/* ---- refuse.c: requests refused, and what comes before accepting ---- */

/* For an XRC target, which has no protection domain of its own: takes that of
 * the SRQ with number xrc_srqn, if there is such an SRQ in its XRC domain (IBTA
 * annex A14). Does nothing for other types. */
void ur_responder_domain(struct ur_qp *qp, u32 xrc_srqn);
/*
 * Gets a receive WQE for an incoming message: from the queue pair's own queue,
 * its SRQ, or, for an XRC target, the SRQ with number xrc_srqn. Returns true
 * with resp.rqe held. Returns false with the verdict in *v: RNR where no
 * receive is posted, else the NAK to send.
 */
bool ur_responder_take(struct ur_qp *qp, u32 xrc_srqn, enum ur_verdict *v);
/* Gets a receive WQE for a request whose memory is refused: a WRITE with
 * immediate ends its receive with a local access error (IBTA 11.6.2). flags:
 * UR_OPF_* of the packet with the immediate; for other packets nothing is
 * taken. */
bool ur_responder_take_refused(struct ur_qp *qp, u32 flags, u32 xrc_srqn);
/* Returns the verdict for the result of a copy: ACCEPT for 0, GONE for -ESRCH
 * (the client's process has ended), v for any other error. */
enum ur_verdict ur_responder_blame(int err, enum ur_verdict v);
/* Ends the connection for a request with verdict v, which is not ACCEPT: state
 * ERR, an event and, if a receive WQE is held and status is not 0, its
 * completion with that status. asked, which may be NULL, is for the host's
 * report. Sends nothing. */
void ur_responder_fatal(struct ur_qp *qp, enum ur_verdict v, u8 status,
			const struct ur_asked *asked);
/* Does the same after owing the peer the NAK of asked->psn that fits v. Verdict
 * GONE owes nothing, since closing the device sends a message; CLASS_J leaves
 * what was owed before. */
void ur_responder_refuse(struct ur_qp *qp, enum ur_verdict v, u8 status,
			 const struct ur_asked *asked);

/* ---- replay.c: responder resources and the queue of answers ---- */

/* Forgets all responder resources and all queued answers. */
void ur_replay_reset(struct ur_qp *qp);
/* Returns the resource for a new request: the oldest one, whose answer is
 * withdrawn if it is still queued. The caller fills it. Needs
 * ur_replay_free(). */
struct ur_resource *ur_replay_take(struct ur_qp *qp);
/* Returns whether ur_replay_take() may be called: false while even the oldest
 * resource has not been answered completely, or where there are none. */
bool ur_replay_free(const struct ur_qp *qp);
/* Queues npkts packets of the answer of res, from psn on; an answer of res that
 * is queued already is replaced. Returns false where the queue has no room. */
bool ur_replay_queue(struct ur_qp *qp, struct ur_resource *res, u32 psn,
		     u32 npkts);
/* Handles a duplicate request: acknowledges or answers it again. Does nothing
 * where its resource was reused. */
void ur_replay_duplicate(struct ur_qp *qp, const struct ur_pkt *pkt);

/* ---- retry.h: when to send again, and when to give up ---- */

/* ---- rx_check.c: the checks of a received request ---- */

/* Returns the verdict on a request of RC or XRC: the first check, in the order
 * of the specification, that it does not pass, or ACCEPT. Changes nothing. */
enum ur_verdict ur_rx_check(const struct ur_qp *qp, const struct ur_pkt *pkt);
/* Returns the reason for which ur_rx_check() refuses the request. */
enum ur_reason ur_rx_check_reason(const struct ur_qp *qp,
				  const struct ur_pkt *pkt);
/* Returns whether the queue pair's access rights allow the peer's operation.
 * flags: UR_OPF_* of the request; placement: UR_FETH_* of a FLUSH, else 0. */
bool ur_rx_check_allows(const struct ur_qp *qp, u32 flags, u8 placement);

/* ---- execute.c: accepted requests ---- */

/* Executes a request that ur_rx_check() accepted. Returns ACCEPT, or the
 * verdict to refuse it with; *status is then the status for the receive WQE's
 * completion, or 0. */
enum ur_verdict ur_execute(struct ur_qp *qp, const struct ur_pkt *pkt,
			   u8 *status);
/*
 * Completes the held receive WQE of a SEND, or of a WRITE with immediate.
 * flags: UR_OPF_* of the last packet; byte_len: length of the message; imm: the
 * immediate as a number; inv_rkey: the key to invalidate; se: solicited event.
 * imm and inv_rkey count only where flags say so.
 */
void ur_execute_complete(struct ur_qp *qp, u32 flags, u32 byte_len, u32 imm,
			 u32 inv_rkey, bool se);
/* Executes an atomic on span, which is 8 checked bytes. cmp_swap: CMP_SWAP;
 * else FETCH_ADD, which uses swap_add alone. Returns 0 with the former value in
 * *orig, -EFAULT or -ESRCH. */
int ur_execute_atomic(const struct ur_span *span, bool cmp_swap, u64 swap_add,
		      u64 compare, u64 *orig);

/* ---- ud.c, uc.c: packets that come in, datagrams that go out ---- */

/* Receives a datagram for a UD queue pair: completes a receive WQE with it, or
 * drops and counts it. Returns whether the queue pair was its destination. */
bool ur_ud_rx(struct ur_qp *qp, const struct ur_rx_meta *meta,
	      const struct ur_pkt *pkt);
/* Sends entry e of a UD queue pair and completes it, with an error where its
 * memory cannot be read. Returns FULL, with nothing done, where tx has no
 * room. */
enum ur_quantum ur_ud_send(struct ur_qp *qp, struct ur_swqe *e,
			   struct ur_tx *tx);

/* ---- ud_marks.c: congestion marks of datagrams ---- */

/* Handles a marked datagram from queue pair sqpn: owes its sender a CNP, unless
 * one is owed already or left less than cnp_interval_ns ago. */
void ur_ud_marked(struct ur_qp *qp, const struct ur_rx_meta *meta, u32 sqpn);
/* Handles a CNP for a UD queue pair: lowers the rate if the queue pair has sent
 * ECT packets to that address, else counts the CNP as ignored. */
void ur_ud_cnp(struct ur_qp *qp, const struct ur_rx_meta *meta);
/* Sets the ECN bits of av, whose ecn is set, for a datagram that leaves now,
 * and notes the address if they are ECT. */
void ur_ud_set_ecn(struct ur_qp *qp, struct ur_av *av);
#if UROCE_WITH_RAW_PACKET
/* raw.c: does the same for a frame of a raw packet queue pair. */
enum ur_quantum ur_raw_send(struct ur_qp *qp, struct ur_swqe *e,
			    struct ur_tx *tx);
#else
/* qp_life.c refuses such queue pairs where this is not built. */
static inline enum ur_quantum ur_raw_send(struct ur_qp *qp, struct ur_swqe *e,
					  struct ur_tx *tx)
{
	return UR_QUANTUM_FULL;
}
#endif
/* Receives a packet for a UC queue pair. A message with a gap is dropped. */
void ur_uc_rx(struct ur_qp *qp, const struct ur_pkt *pkt);

/* ---- loopback.c: a peer on this port ---- */

enum ur_loopback {
	UR_LOOP_PACKETS, /* not in step; use packets */
	UR_LOOP_DONE,	 /* executed; the entry is completed or failed */
	UR_LOOP_MORE,	 /* partly executed; go on in the next quantum */
	UR_LOOP_WAIT,	 /* receiver not ready; the timer is armed */
};
/* Executes entry e, the next to send, by copying from the sender's memory to
 * the receiver's. *bytes: the bytes that this quantum may still copy; reduced
 * by those copied. */
enum ur_loopback ur_loopback_run(struct ur_qp *qp, struct ur_swqe *e,
				 u32 *bytes);

/* ---- completer.c: answers to our requests ---- */

/* Receives an acknowledgement or response for the requester of RC and XRC. */
void ur_completer_rx(struct ur_qp *qp, const struct ur_pkt *pkt);
/* Moves req.una to una: everything before is answered. Grows the window and
 * restarts the timers. una is between req.una and req.max_psn. The caller then
 * calls ur_completer_retire(). */
void ur_completer_advance(struct ur_qp *qp, u32 una);

/* ---- request.c: the next packet of the entry being sent ---- */

enum ur_request_result {
	UR_REQUEST_SENT,
	UR_REQUEST_FULL,  /* no room in the ur_tx */
	UR_REQUEST_BLOCK, /* the limit of open READs and atomics is reached */
	UR_REQUEST_FAULT, /* the entry's memory cannot be read */
};

/* Adds the packet at req.tx_psn of e, a SEND or WRITE, to tx. With FULL
 * nothing has changed. */
enum ur_request_result ur_request_data(struct ur_qp *qp, struct ur_swqe *e,
				       struct ur_tx *tx);
/* Does the same for an entry that ur_swqe_is_read_type(). One READ request may
 * ask for read_pkts packets. With BLOCK, too, nothing has changed. */
enum ur_request_result ur_request_read_type(struct ur_qp *qp, struct ur_swqe *e,
					    struct ur_tx *tx);
/* Advances req.tx_psn by psns, which were sent in that many packets. Counts the
 * packets as resent where req.max_psn shows that they are. */
void ur_requester_sent(struct ur_qp *qp, u32 psns, u32 packets);

/* ---- responder.c: requests of RC and XRC ---- */

/* Receives a request: checks it, executes it, and owes its answer. */
void ur_responder_rx(struct ur_qp *qp, const struct ur_pkt *pkt);
/* Resets the responder: drops the packets that were kept and the answers that
 * are owed, and expects PSN 0. */
void ur_responder_reset(struct ur_qp *qp);

/* ---- answer.c: what the responder sends ---- */

/* Adds to tx what the responder owes, in the order of PSNs, as far as the room
 * of tx and the quantum allow. */
enum ur_quantum ur_answer_run(struct ur_qp *qp, struct ur_tx *tx);
/* Saves the acknowledgement or NAK that a queue pair owes when it is destroyed.
 * The port sends it as an orphan, if there is room for one. */
void ur_answer_orphan(struct ur_qp *qp);

/* ---- requester.c: turns work into packets ---- */

/* Runs the requester for one quantum: takes posted work and fills tx as far as
 * budget, window, credits, rate and room allow. State RTS or SQD. */
enum ur_quantum ur_requester_run(struct ur_qp *qp, struct ur_tx *tx);

/* ---- qp_run.c: a queue pair's quantum ---- */

/* Drops all posted work without completions, and the connection's state, for
 * RESET and destruction. */
void ur_qp_drop_work(struct ur_qp *qp);
/* Does what is due for the queue pair by now, and rearms it. */
void ur_qp_expire(struct ur_qp *qp);
/* Runs the queue pair for one quantum. Returns true when it has more to do at
 * once. Sets *full, and never clears it, when tx has no room left. */
bool ur_qp_run(struct ur_qp *qp, struct ur_tx *tx, bool *full);

/* ---- qp_life.c: what a queue pair allocates ---- */

/* Allocates room for count READs and atomics of the peer (max_dest_rd_atomic).
 * A new count drops the present ones. Returns 0, or -ENOMEM with nothing
 * changed. */
int ur_replay_resize(struct ur_qp *qp, u32 count);

#endif
