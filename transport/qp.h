/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A queue pair inside the transport: requester half, responder half, and the
 * functions that both and the port use. All of them run on the port's thread.
 * Times are nanoseconds, PSNs and SSNs have 24 bits.
 */
#ifndef UR_TRANSPORT_QP_H
#define UR_TRANSPORT_QP_H

#include "transport/mem.h"
#include "transport/fastpath.h"
#include "transport/origin.h"
#include "transport/packet.h"
#include "transport/path.h"
#include "transport/port.h"
#include "transport/psn.h"
#include "transport/unready.h"
#include "transport/wqe.h"

#define UR_SQ_WINDOW	128 /* WQEs taken from the ring and not yet retired */
#define UR_ACK_PKTS	64  /* most packets between acknowledgement requests */
#define UR_PROBE_MIN_NS 400000u
#define UR_READ_PKTS	128 /* packets of one READ request, approximately */
#define UR_CALM_NS	20000000u /* READs may be longer without a loss for it */

_Static_assert(UR_IS_POW2(UR_SQ_WINDOW),
	       "the window is a power of two at its largest, too");

/* ---- receive side ---- */

enum ur_verdict {
	UR_VERDICT_ACCEPT,
	UR_VERDICT_DUPLICATE,
	UR_VERDICT_DROP,
	UR_VERDICT_NAK_SEQ,
	UR_VERDICT_NAK_INVALID,
	UR_VERDICT_NAK_ACCESS,
	UR_VERDICT_NAK_OP,
	UR_VERDICT_RNR,
	UR_VERDICT_GONE, /* the process of our memory has ended */
	/* Class J of IBTA 9.9.3: the key to invalidate is bad. No NAK. */
	UR_VERDICT_CLASS_J,
};

/* A READ, atomic, ATOMIC WRITE or FLUSH that may have to be answered again. */
struct ur_resource {
	u8 opc;	       /* UR_OPC_* of the request */
	bool queued;   /* the response queue has an item for it */
	bool answered; /* sent completely at least once */
	u32 psn, npkts;
	u32 msn;
	u32 rkey;
	u32 pd; /* XRC: domain of the SRQ that the request named */
	u64 va;
	u32 length;
	u64 orig; /* former value of an atomic's target */
};

enum ur_resp_kind {
	UR_RESP_NONE, /* withdrawn item */
	UR_RESP_ACK,
	UR_RESP_READ, /* also ATOMIC WRITE and FLUSH: no data */
	UR_RESP_ATOMIC,
};

/* One answer to send, in order. */
struct ur_resp_item {
	u8 kind;     /* enum ur_resp_kind */
	u8 syndrome; /* of an ACK */
	u32 resource;
	u32 psn;  /* PSN of an ACK; first PSN of this (re)play of a READ */
	u32 next; /* PSN of the next packet of a READ */
	u32 end;  /* PSN behind the last packet of a READ */
	u32 msn;
};

enum ur_rx_msg { UR_RX_NONE, UR_RX_SEND, UR_RX_WRITE };

struct ur_cc; /* cc.c */

struct ur_requester {
	u8 *entries;
	u32 stride, mask;
	/* Free-running entry numbers: head <= tx <= tail. */
	u32 head;  /* oldest entry not completed */
	u32 tx;	   /* entry being sent */
	u32 tail;  /* behind the newest entry taken from the ring */
	bool dry;  /* the ring was empty; cleared by the next kick */
	bool dead; /* the ring is corrupt; never read it again */

	u32 una;     /* oldest unacknowledged PSN */
	u32 tx_psn;  /* next PSN to send */
	u32 max_psn; /* PSN behind the highest ever sent */
	u32 window;  /* packets that may be in flight */
	/* packets answered since the window changed, none lost */
	u32 lossless_pkts;
	u32 grow_at;	   /* lossless_pkts at which it grows */
	u8 growth_backoff; /* number of losses of a grown window */
	u32 recent_losses; /* losses since una was losses_psn */
	ur_time lost_at;   /* time of the last loss, or of the first packet */
	u32 losses_psn;
	struct ur_psn_mark cut; /* max_psn when the window was last cut */
	/* PSN behind the last packet that requested an answer */
	u32 asked_end;
	u32 since_ackreq;
	u32 rd_out;	/* READs and atomics sent and not answered */
	u32 ssn;	/* requests started; 24 bits */
	u32 credit_ssn; /* highest ssn that credits allow */
	bool credit_limited;

	/* A hole: hole_pkts missing packets from hole_psn on, hole_left of them
	 * still to be sent, to a peer that keeps later packets. */
	bool hole_due;	  /* to be sent again */
	bool hole_open;	  /* sent again, not yet acknowledged */
	bool hole_second; /* it follows directly on the hole before */
	u8 holdoff_left;  /* number of losses before holes are tried again */
	u32 hole_psn, hole_pkts, hole_left;
	u32 hole_end; /* max_psn when the hole was found */
	ur_time hole_at;
	u32 back_psn; /* PSN of the last go-back */
	ur_time back_at;
	/* Since the last progress: all was requested again for a lost answer;
	 * and answers show that this was in vain. */
	bool asked_again, asked_in_vain;
	u32 answer_psn; /* PSN of the last answer behind a gap */
	/* The peer refused a later request; and una at that time. */
	bool peer_failed;
	u32 failed_una;
	bool fresh; /* the last packet sent was not a repetition */
	u8 retries; /* retries used since the last progress */
	u8 late;    /* how often the timeout was put off since the last one */
	ur_time retry_at; /* time of the last retry */
	u8 rnr_retries;
	u8 probes;	    /* early retransmissions since the last progress */
	ur_time rnr_until;  /* end of the RNR wait; 0: not waiting */
	ur_time timeout_at; /* UR_NEVER: nothing outstanding */
	ur_time probe_at;
	/* shortest wait for a probe: UR_PROBE_MIN_NS, or by the path */
	u32 patience;
	/* Round trip, ns; 0 before the first sample. */
	u32 srtt, rttvar;
	/* round trip not yet reported to the path; 0: none */
	u32 rtt_last;
	u32 rtt_min;	   /* shortest round trip, slowly forgotten */
	ur_time sample_at; /* start of the running measurement; 0: none */
	ur_time begin_at;  /* time of the first packet, until srtt is known */
	u32 sample_psn;
	ur_time again_at; /* time of sending again_psn again; 0: not measured */
	u32 again_psn;
	/* round trip of a repeated packet; 0: of none, or a certain one was
	 * measured since */
	u32 again_ns;
	/* rtt_last may include a wait for a repeated packet. */
	bool again_with;
	struct ur_origin origin;   /* source of valid answers */
	struct ur_mr_range source; /* memory of the entry being sent */
	struct ur_mr_range place;  /* memory of a READ's data */
	/* For the report of a failure. */
	bool by_nak;	   /* the last retry was for a NAK */
	u8 stray_syndrome; /* of the last answer that matched no request */
	u32 stray_psn;
	ur_time stray_at;  /* time of that answer; 0: none */
	ur_time silent_at; /* time of the first retry since the last progress */
	/* time of the first RNR retry since the last progress */
	ur_time rnr_at;
};

struct ur_responder {
	u32 epsn;
	u32 msn;
	u8 msg;	       /* enum ur_rx_msg: the message under way */
	bool nak_sent; /* owes no answer until epsn arrives */
	bool rnr_sent; /* with nak_sent: the NAK was an RNR NAK */
	bool rq_dead;
	bool by_rule;	/* the host refuses this packet */
	bool rq_wanted; /* rq_want_kick(true) was called */
	u32 ooo_last;	/* newest PSN seen beyond the gap */
	ur_time nak_at;
	u32 since_nak;		 /* packets behind the gap since the last NAK */
	u8 renak_shift;		 /* repetitions of the NAK for this packet */
	struct ur_origin origin; /* source of requests accepted in sequence */
	struct ur_ooo *ooo;	 /* NULL: keeps no packets ahead of a gap */
	u32 offset;		 /* bytes of the message so far */
	u64 va;			 /* of a WRITE */
	u32 rkey, length;
	u32 inv_rkey;
	struct ur_rqe rqe;
	struct ur_sge *rqe_sge;
	u32 rqe_max_sge;

	struct ur_resource *res;
	u32 res_count, res_next;
	struct ur_resp_item *items; /* ring of answers to send */
	u32 item_mask, item_head, item_tail;

	bool ack_due;
	u8 ack_syndrome;
	u32 ack_psn;
	bool cnp_due;
	u32 cnp_dqpn; /* destination of the CNP of a UD queue pair */
	ur_time cnp_last;
	struct ur_mr_range place;  /* memory of the message under way */
	struct ur_mr_range source; /* memory of the answer to a READ */
};

struct ur_qp {
	struct ur_port *port;
	u32 qpn;
	u8 svc; /* UR_SVC_* of its packets */
	bool has_sq, has_rq;
	enum ur_qp_state state;
	bool receives; /* ur_qp_set_receives() */
	struct ur_qp_init init;
	struct ur_qp_attr attr; /* as modified; holds a reference of av */
	u32 mtu, mtu_shift;
	u64 ack_ns;		 /* ur_ack_timeout_ns() of attr.timeout */
	u32 burst;		 /* packets of a full burst; 0: no bursts */
	u32 read_pkts;		 /* of one READ request */
	u32 read_most;		 /* read_pkts without congestion */
	u32 read_long;		 /* read_pkts without a loss for UR_CALM_NS */
	struct ur_list active;	 /* in port->active, held or ur_tx.senders */
	struct ur_heap_node due; /* in port->deadlines */
	u32 attached;		 /* number of multicast groups */
	/* Number of the queue pair on this port whose loopback send found no
	 * receive here; 0: none. The next receive wakes it before its RNR
	 * timer. */
	u32 loop_waiter;
	bool comm_est;
	bool cut_off; /* its last turn ended for lack of room in the ur_tx */
	bool held;    /* if in a list: in port->held */
	bool last_wqe_said;
	bool fatal_said;
	bool placed; /* some of its packets used payload_place() */
	struct ur_unready unready;
	struct ur_requester req;
	struct ur_responder resp;
	struct ur_cc *cc; /* NULL: not limited */
	struct ur_share share;
	/* address vector of CNPs; NULL: the connection's */
	struct ur_av *cnp_av;
	u64 *shown; /* own_shown, or the host's */
	u64 own_shown[UR_QP_SHOWN];
};

/* Returns whether its peer is on this host: it has one of this port's own
 * addresses. */
static inline bool ur_qp_is_near(const struct ur_qp *qp)
{
	return qp->attr.av && qp->attr.av->loop;
}

/* Returns whether packets that came too early can be received now. */
static inline bool ur_unready_is_due(const struct ur_qp *qp)
{
	return qp->unready.count && qp->state != UR_QP_INIT;
}

/* Returns the queue pair of that number for incoming packets, or NULL: there is
 * none. */
static inline struct ur_qp *ur_port_qp(const struct ur_port *port, u32 qpn)
{
	return ur_table_lookup(&port->qps, qpn);
}

/* Adds n to counter c. Other threads, and processes, may read it meanwhile. */
static inline void ur_qp_count(struct ur_qp *qp, enum ur_qp_counter c, u64 n)
{
	u64 *at = &qp->shown[c];

	__atomic_store_n(at, *at + n, __ATOMIC_RELAXED);
}

/* Counts received packets of so many bytes together, BTH to pad. */
static inline void ur_qp_count_rx_many(struct ur_qp *qp, u32 packets, u64 bytes)
{
	ur_qp_count(qp, UR_QP_CNT_rcvd_pkts, packets);
	ur_qp_count(qp, UR_QP_CNT_rcvd_bytes, bytes);
}
static inline void ur_qp_count_rx(struct ur_qp *qp, u32 bytes)
{
	ur_qp_count_rx_many(qp, 1, bytes);
}

/* Counts a message of so many bytes to or from a peer on this port. */
static inline void ur_qp_count_loop(struct ur_qp *qp, u32 bytes)
{
	ur_qp_count(qp, UR_QP_CNT_loop_msgs, 1);
	ur_qp_count(qp, UR_QP_CNT_loop_bytes, bytes);
}

/* Returns the entry with that free-running number, as req.head, req.tx and
 * req.tail count them. */
static inline struct ur_swqe *ur_sq_entry(const struct ur_qp *qp, u32 index)
{
	return (struct ur_swqe *)(qp->req.entries +
				  (size_t)(index & qp->req.mask) *
					  qp->req.stride);
}

/* Returns the index of the packet behind the READ request that contains packet
 * i of entry e: a long READ is sent as several requests. */
static inline u32 ur_read_end(const struct ur_qp *qp, const struct ur_swqe *e,
			      u32 i)
{
	return ur_min_u32((i / qp->read_pkts + 1) * qp->read_pkts, e->npkts);
}

/* Returns whether the sender's realm may reach this queue pair. */
static inline bool ur_qp_realm_fits(const struct ur_qp *qp,
				    const struct ur_rx_meta *meta)
{
	return !meta->realm || !qp->init.realm || meta->realm == qp->init.realm;
}

/* Returns whether the packet's sender may reach this queue pair from its queue
 * pair peer. */
static inline bool ur_qp_sender_fits(const struct ur_qp *qp,
				     const struct ur_rx_meta *meta, u32 peer)
{
	/* Most senders are not restricted. */
	if (__builtin_expect(!(meta->realm | meta->slot_bits), 1))
		return true;
	return ur_qp_realm_fits(qp, meta) && ur_rx_slot_fits(meta, peer);
}

/* Returns whether the packet came from the address that the queue pair sends to, to the address
 * that it sends from, and whether its sender owns the peer's number, as when the queue pair was
 * connected. False while it is not connected. */
static inline bool ur_qp_addresses_fit(const struct ur_qp *qp,
				       const struct ur_rx_meta *meta)
{
	const struct ur_av *av = qp->attr.av;

	return av && av->v1 == meta->v1 && av->grant_id == meta->grant_id &&
	       ur_qp_sender_fits(qp, meta, qp->attr.dest_qpn) &&
	       memcmp(meta->saddr, av->dgid, 16) == 0 &&
	       memcmp(meta->daddr, av->sgid, 16) == 0;
}

/* Returns whether the window of its path holds the queue pair, which is
 * rare. */
static inline bool ur_path_holds(const struct ur_qp *qp)
{
	return __builtin_expect(qp->share.held, 0);
}

/* Returns whether the queue pair is of RC or XRC. */
static inline bool ur_qp_is_reliable(const struct ur_qp *qp)
{
	return qp->svc == UR_SVC_RC || qp->svc == UR_SVC_XRC;
}

/* Returns whether no request of the queue pair is answered, and each is one
 * packet. */
static inline bool ur_qp_is_datagram(const struct ur_qp *qp)
{
	return qp->svc == UR_SVC_UD || qp->svc == UR_SVC_RAW;
}

/* Puts the queue pair at the end of the port's active list, if it is in no
 * list. The next ur_port_tx() runs it. */
static inline void ur_port_activate(struct ur_port *port, struct ur_qp *qp)
{
	if (ur_list_empty(&qp->active))
		ur_list_add_tail(&port->active, &qp->active);
}

/* Activates the queue pair if the host held it. */
static inline void ur_qp_hold_no_more(struct ur_qp *qp)
{
	if (!qp->held)
		return;
	qp->held = false;
	ur_list_del(&qp->active);
	ur_port_activate(qp->port, qp);
}

/* qp.c */

/* Returns the first invariant of the structure that does not hold, in words, or
 * NULL. For tests and debug builds. */
const char *ur_qp_check(const struct ur_qp *qp);
/* Updates whether it receives: by its state (IBTA 9.6.1.1.2), and only after
 * the packets that came too early. */
void ur_qp_set_receives(struct ur_qp *qp);
/* Changes the state and what follows from it, with a trace point. */
void ur_qp_set_state(struct ur_qp *qp, enum ur_qp_state state);
/* Revokes the memory that its packets name by payload_place(): the program may change it from now
 * on. */
void ur_qp_take_back(struct ur_qp *qp);
/* Reports an asynchronous event to the host, with a trace point. */
void ur_qp_event(struct ur_qp *qp, enum ur_event ev);
/* Moves the queue pair to ERR: timers stop, and the next quanta flush what is
 * queued. Does nothing in ERR. Sends no event. */
void ur_qp_fail(struct ur_qp *qp);
/* Arms the port's deadline for the earliest timer of the queue pair. Called
 * after a timer was set. */
void ur_qp_rearm(struct ur_qp *qp);

/* wq.c */

/* Takes the next posted WQE into the window. Returns false where none is
 * posted, the window is full, or the ring is corrupt, which fails the queue
 * pair. */
bool ur_sq_pull(struct ur_qp *qp);
/* Pops entry e, which is the oldest one, gives its ring space back, and
 * completes it with status (enum ur_wc_status) if it is signalled or status is
 * an error. */
void ur_sq_complete(struct ur_qp *qp, struct ur_swqe *e, u8 status);
/* Flushes both queues of a queue pair in ERR, or the send queue in SQE, for one
 * quantum. Returns true when there is more to flush. */
bool ur_wq_flush(struct ur_qp *qp);
/* Takes a receive WQE into resp.rqe, unless one is held. srq: the shared
 * receive queue to take it from, or NULL for the queue pair's own. Returns
 * false where none is posted, or where the ring is corrupt, which fails its
 * owner. */
bool ur_rq_take(struct ur_qp *qp, struct ur_srq *srq);
/* Completes the held receive WQE. The caller has filled opcode, status, lengths
 * and flags of wc; the rest is filled here. */
void ur_rq_complete(struct ur_qp *qp, struct ur_wc *wc);

/* mem.c */

/* Copies len bytes of the entry's message, from byte off on, to dst. off + len
 * is at most the message's length. Returns 0, -EFAULT, or -ESRCH as of
 * ur_span_read(). */
int ur_swqe_gather(struct ur_qp *qp, struct ur_swqe *e, u32 off, u8 *dst,
		   u32 len);

/* srq.c */
struct ur_srq {
	struct ur_port *port;
	struct ur_srq_attr attr;
	u32 srqn;
	u32 users;
	bool dead;
	bool limit_armed;
};
/* Notes that a receive was taken: reports the limit event if it is due. */
void ur_srq_taken(struct ur_srq *srq);
/* Fails the SRQ, whose ring is corrupt: no more receives are taken. Reports
 * UR_EVENT_SRQ_ERR. */
void ur_srq_fail(struct ur_srq *srq);

#endif
