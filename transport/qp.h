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

#define UR_SQ_WINDOW	128 /* WQEs taken from the ring and not retired */
#define UR_ACK_PKTS	64  /* acknowledge request at least this often */
#define UR_PROBE_MIN_NS 400000u
#define UR_READ_PKTS	128 /* packets of one READ request, or about so many */
#define UR_CALM_NS	20000000u /* without a loss: READ requests may be longer */

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
	UR_VERDICT_GONE, /* our process ended: its memory is no more */
	/* Class J of IBTA 9.9.3: the key to invalidate is not good. No NAK. */
	UR_VERDICT_CLASS_J,
};

/* A READ, atomic, ATOMIC WRITE or FLUSH that may have to be answered again. */
struct ur_resource {
	u8 opc;	       /* UR_OPC_* of the request */
	bool queued;   /* an item of the response queue points here */
	bool answered; /* completely, at least once */
	u32 psn, npkts;
	u32 msn;
	u32 rkey;
	u32 pd; /* XRC: of the SRQ that the request named */
	u64 va;
	u32 length;
	u64 orig; /* result of an atomic */
};

enum ur_resp_kind {
	UR_RESP_NONE, /* withdrawn */
	UR_RESP_ACK,
	UR_RESP_READ, /* also ATOMIC WRITE and FLUSH: no data */
	UR_RESP_ATOMIC,
};

/* One answer to send, in order. */
struct ur_resp_item {
	u8 kind;     /* enum ur_resp_kind */
	u8 syndrome; /* ACK */
	u32 resource;
	u32 psn;  /* ACK: its PSN; READ: first PSN of this (re)play */
	u32 next; /* READ: PSN of the next packet */
	u32 end;  /* READ: PSN behind the last one */
	u32 msn;
};

enum ur_rx_msg { UR_RX_NONE, UR_RX_SEND, UR_RX_WRITE, UR_RX_SKIP };

struct ur_cc; /* cc.c */

struct ur_requester {
	u8 *entries;
	u32 stride, mask;
	/* Free-running entry numbers: head <= tx <= tail. */
	u32 head;  /* oldest not completed */
	u32 tx;	   /* being sent */
	u32 tail;  /* taken from the ring so far */
	bool dry;  /* the ring was empty; until the next kick */
	bool dead; /* the ring is corrupt; never read it again */

	u32 una;	   /* oldest PSN not acknowledged */
	u32 tx_psn;	   /* next PSN to send */
	u32 max_psn;	   /* PSN behind the newest ever sent */
	u32 window;	   /* packets that may be in flight */
	u32 lossless_pkts; /* answered since it last changed, with none lost */
	u32 grow_at;	   /* so many of them */
	u8 growth_backoff; /* losses of a grown window */
	u32 recent_losses; /* since una was losses_psn */
	ur_time lost_at;   /* the last one, or when it began */
	u32 losses_psn;
	struct ur_psn_mark cut; /* max_psn when the window was cut */
	u32 asked_end;		/* behind the last packet that asked for one */
	u32 since_ackreq;
	u32 rd_out;	/* READ/atomic requests sent and not answered */
	u32 ssn;	/* requests started, 24 bits */
	u32 credit_ssn; /* last ssn that may be sent */
	bool credit_limited;

	/* Sending missing packets alone: hole_pkts from hole_psn on, of which
	 * hole_left are to be sent, for a peer that keeps what came after them. */
	bool hole_due;	  /* to be sent */
	bool hole_open;	  /* sent, not acknowledged yet */
	bool hole_second; /* the one before was missing, too */
	u8 holdoff_left;  /* so many losses go without trying it */
	u32 hole_psn, hole_pkts, hole_left;
	u32 hole_end; /* max_psn at that time */
	ur_time hole_at;
	u32 back_psn; /* last gone back to */
	ur_time back_at;
	/* For a lost answer, since the last progress: asked for all again;
	 * and answers say that it was in vain. */
	bool asked_again, asked_in_vain;
	u32 answer_psn; /* of the last answer behind a gap */
	/* When una was this, the peer had refused a later request. */
	bool peer_failed;
	u32 failed_una;
	bool fresh;	  /* the packet sent last was never sent before */
	u8 retries;	  /* used since the last progress */
	ur_time retry_at; /* when the last of them was */
	u8 rnr_retries;
	u8 probes;	    /* early retransmissions since the last progress */
	ur_time rnr_until;  /* 0: not waiting */
	ur_time timeout_at; /* UR_NEVER: nothing outstanding */
	ur_time probe_at;
	u32 patience; /* no probe is earlier: UR_PROBE_MIN_NS, or for the path */
	/* Round trip, ns; 0 before the first sample. */
	u32 srtt, rttvar;
	u32 rtt_last;	   /* not yet passed on to the path; 0: none */
	u32 rtt_min;	   /* of the measured ones, slowly forgotten */
	ur_time sample_at; /* 0: none running */
	ur_time begin_at;  /* first packet of all, until srtt is known */
	u32 sample_psn;
	ur_time again_at; /* 0: none; the same of a packet sent again */
	u32 again_psn;
	u32 again_ns; /* the last such trip; 0: one was measured since */
	/* rtt_last may be that of a packet that waited for one sent again. */
	bool again_with;
	struct ur_origin origin;   /* of answers that counted */
	struct ur_mr_range source; /* of the entry being sent */
	struct ur_mr_range place;  /* of a READ's data */
	/* for reports of why it failed */
	bool told;	   /* the last retry was for a NAK */
	u8 stray_syndrome; /* of the last answer to nothing that was sent */
	u32 stray_psn;
	ur_time stray_at;  /* 0: none */
	ur_time silent_at; /* the first retry since the last progress */
	ur_time rnr_at;	   /* the same of RNR retries */
};

struct ur_responder {
	u32 epsn;
	u32 msn;
	u8 msg;	       /* enum ur_rx_msg: in the middle of what */
	bool nak_sent; /* nothing more until epsn comes */
	bool rnr_sent; /* and that was an RNR NAK */
	bool rq_dead;
	bool by_rule;	/* the host refuses this packet */
	bool rq_wanted; /* rq_want_kick(true) was called */
	u32 ooo_last;	/* newest PSN seen beyond the gap */
	ur_time nak_at;
	u32 since_nak;	/* packets beyond the gap since the last NAK */
	u8 renak_shift; /* how often the same packet was asked for again */
	struct ur_origin origin; /* of requests accepted in their turn */
	struct ur_ooo *ooo;	 /* NULL: nothing is kept */
	u32 offset;		 /* bytes of the message so far */
	u64 va;			 /* WRITE */
	u32 rkey, length;
	u32 inv_rkey;
	struct ur_rqe rqe;
	struct ur_sge *rqe_sge;
	u32 rqe_max_sge;

	struct ur_resource *res;
	u32 res_count, res_next;
	struct ur_resp_item *items; /* ring */
	u32 item_mask, item_head, item_tail;

	bool ack_due;
	u8 ack_syndrome;
	u32 ack_psn;
	bool cnp_due;
	u32 cnp_dqpn; /* UD: whose it is */
	ur_time cnp_last;
	struct ur_mr_range place;  /* of the message that comes */
	struct ur_mr_range source; /* of the answer to a READ */
};

struct ur_qp {
	struct ur_port *port;
	u32 qpn;
	u8 svc; /* UR_SVC_* of its packets */
	bool has_sq, has_rq;
	enum ur_qp_state state;
	bool receives; /* ur_qp_set_receives() */
	struct ur_qp_init init;
	struct ur_qp_attr attr; /* as modified; av holds a reference */
	u32 mtu, mtu_shift;
	u64 ack_ns;		 /* ur_ack_timeout_ns() of attr.timeout */
	u32 burst;		 /* packets of a burst; 0: none */
	u32 read_pkts;		 /* of one READ request */
	u32 read_most;		 /* the same where nothing is congested */
	u32 read_long;		 /* and where nothing has been lost for long */
	struct ur_list active;	 /* in port->active, or held */
	struct ur_heap_node due; /* in port->deadlines */
	u32 attached;		 /* multicast groups */
	/* Number of the neighbour whose loopback send found no receive here;
	 * 0: none. It goes on with the next receive, before its RNR timer. */
	u32 loop_waiter;
	bool comm_est;
	bool cut_off; /* by the buffer, in the turn before */
	bool held;    /* in port->held, if in any list */
	bool last_wqe_said;
	bool fatal_said;
	bool placed; /* packets of it had payload_place() */
	struct ur_unready unready;
	struct ur_requester req;
	struct ur_responder resp;
	struct ur_cc *cc; /* NULL: not limited */
	struct ur_share share;
	struct ur_av *cnp_av; /* of CNPs; NULL: the connection's, if any */
	u64 *shown;	      /* own_shown, or the host's */
	u64 own_shown[UR_QP_SHOWN];
};

/* Returns whether its peer has one of this port's own addresses. */
static inline bool ur_qp_is_near(const struct ur_qp *qp)
{
	return qp->attr.av && qp->attr.av->loop;
}

/* Returns whether it has packets that came before it could receive, and can now. */
static inline bool ur_unready_is_due(const struct ur_qp *qp)
{
	return qp->unready.count && qp->state != UR_QP_INIT;
}

/* Returns the queue pair of that number that packets find here, or NULL: none, or
 * one that another port has (struct ur_qp_init, away). */
static inline struct ur_qp *ur_port_qp(const struct ur_port *port, u32 qpn)
{
	struct ur_qp *qp = ur_table_lookup(&port->qps, qpn);

	return qp && !qp->init.away ? qp : NULL;
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

/* Returns, of READ entry e, the index of the packet behind the READ request
 * that packet i belongs to: a long READ is sent as several requests. */
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

/* Returns whether queue pair peer, of the packet's sender, may reach this one. */
static inline bool ur_qp_sender_fits(const struct ur_qp *qp,
				     const struct ur_rx_meta *meta, u32 peer)
{
	/* Most senders are kept from nothing. */
	if (__builtin_expect(!(meta->realm | meta->slot_bits), 1))
		return true;
	return ur_qp_realm_fits(qp, meta) && ur_rx_slot_fits(meta, peer);
}

/* Returns whether the packet came from the address that the queue pair sends
 * to, to the address that it sends from, and from somebody who may have its peer, and had it
 * when it was connected. False while it is not connected. */
static inline bool ur_qp_addresses_fit(const struct ur_qp *qp,
				       const struct ur_rx_meta *meta)
{
	const struct ur_av *av = qp->attr.av;

	return av && av->v1 == meta->v1 && av->loan == meta->loan &&
	       ur_qp_sender_fits(qp, meta, qp->attr.dest_qpn) &&
	       memcmp(meta->saddr, av->dgid, 16) == 0 &&
	       memcmp(meta->daddr, av->sgid, 16) == 0;
}

/* Returns whether the window of its path holds the queue pair: seldom. */
static inline bool ur_path_holds(const struct ur_qp *qp)
{
	return __builtin_expect(qp->share.held, 0);
}

/* Returns whether the queue pair is of RC or XRC. */
static inline bool ur_qp_is_reliable(const struct ur_qp *qp)
{
	return qp->svc == UR_SVC_RC || qp->svc == UR_SVC_XRC;
}

/* Returns whether each of its requests is a packet that nobody answers. */
static inline bool ur_qp_is_datagram(const struct ur_qp *qp)
{
	return qp->svc == UR_SVC_UD || qp->svc == UR_SVC_RAW;
}

/* Puts the queue pair at the end of the port's list of those that have
 * something to do, if it is not on the list. The next ur_port_tx() runs it. */
static inline void ur_port_activate(struct ur_port *port, struct ur_qp *qp)
{
	if (ur_list_empty(&qp->active))
		ur_list_add_tail(&port->active, &qp->active);
}

/* It is active, if the host held it. */
static inline void ur_qp_hold_no_more(struct ur_qp *qp)
{
	if (!qp->held)
		return;
	qp->held = false;
	ur_list_del(&qp->active);
	ur_port_activate(qp->port, qp);
}

/* qp.c */

/* Returns the first rule of the structure that does not hold, in words, or
 * NULL. For tests and debug builds. */
const char *ur_qp_check(const struct ur_qp *qp);
/* Sets whether it receives: by its state (IBTA 9.6.1.1.2), and not before what came too
 * early. */
void ur_qp_set_receives(struct ur_qp *qp);
/* Changes the state and what follows from it, with a trace point. */
void ur_qp_set_state(struct ur_qp *qp, enum ur_qp_state state);
/* The memory that its packets name, as payload_place() has it, is the program's again, and may have other
 * bytes. */
void ur_qp_take_back(struct ur_qp *qp);
/* Reports an asynchronous event to the host, with a trace point. */
void ur_qp_event(struct ur_qp *qp, enum ur_event ev);
/* Moves the queue pair to ERR: timers stop, and the next quanta flush what is
 * queued. Does nothing in ERR. Sends no event. */
void ur_qp_fail(struct ur_qp *qp);
/* Arms the port's deadline for the earliest time of this queue pair. To be
 * called when one of these times was set. */
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
/* A receive was taken: reports the limit event if it is due. */
void ur_srq_taken(struct ur_srq *srq);
/* The ring is corrupt: no receive is taken any more. Reports
 * UR_EVENT_SRQ_ERR. */
void ur_srq_fail(struct ur_srq *srq);

#endif
