/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The host of a port (device process, simulator, test): what the transport asks
 * of it, and what the host says about a packet that it received.
 *
 * The transport calls these functions on the port's thread, inside the host's
 * calls into the port. None of them may call the port back.
 */
#ifndef UR_TRANSPORT_HOST_H
#define UR_TRANSPORT_HOST_H

#include <string.h>
#include "transport/failure.h"
#include "transport/work.h"
#include "util/verbs_event.h"

/* Payloads of packets of one length, n of them, that lie stride bytes apart. */
struct ur_pieces {
	u8 *first;
	u32 stride, len, n;
	bool more;	    /* to be written: as write_more */
	const void *reader; /* to be read: of ahead, or NULL */
};

/* Memory of one region behind an MR. Offsets count from the region's start and
 * are already bounds-checked by the transport. */
struct ur_mem_ops {
	/* Copy len bytes from or to the application. Return 0, -EFAULT, or
	 * -ESRCH where its process has ended: the queue pair then falls
	 * silent. */
	int (*read)(void *mem, u64 off, void *dst, u32 len);
	int (*write)(void *mem, u64 off, const void *src, u32 len);
	/* Copy the bytes of pieces, which lie one after the other in the application's
	 * memory. Return as above, or -EOPNOTSUPP where one copy of all is better. May be
	 * NULL. */
	int (*read_pieces)(void *mem, u64 off, const struct ur_pieces *to);
	int (*write_pieces)(void *mem, u64 off, const struct ur_pieces *from);
	/* As write, where the message ends with a write to the same region: these bytes may be
	 * there as late as those. May be NULL: write is as good. */
	int (*write_more)(void *mem, u64 off, const void *src, u32 len);
	/* Reads of len bytes from there on are about to follow, in order, by read_pieces with
	 * that reader; an earlier one of it has ended. May be NULL: none says whose it is. */
	void (*ahead)(void *mem, u64 off, u64 len, const void *reader);
	/* Masked compare and swap, and masked fetch and add, of the 8 aligned
	 * bytes at off. They are atomic towards every access through this
	 * device. The value from before is in *old, in host order. Return as
	 * above. */
	int (*cas)(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
		   u64 swap_mask, u64 *old);
	int (*faa)(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old);
	/* Makes the range visible or persistent: type is UR_FETH_* placement.
	 * Returns 0 or a negative errno. */
	int (*flush)(void *mem, u64 off, u64 len, u32 type);
};

struct ur_rx_meta {
	u8 saddr[16], daddr[16]; /* as GIDs */
	bool v4;
	bool v1; /* came as RoCEv1 */
	u8 tos;	 /* ToS / traffic class byte; ECN in the low two bits */
	u8 ttl;
	u8 sl;
	u16 udp_sport;
	u32 flow_label;
	u32 realm; /* of a sender on this port; 0: none that is kept apart */
	/* All queue pairs of the sender have numbers that begin with these bits; no
	 * bits: the host does not say so. */
	u16 slot;
	u8 slot_bits;
	/* Other senders have had those numbers before: which one this is; 0: no bits. */
	u32 loan;
};

/* Fills *meta for a packet that was sent to av and comes in on the port it
 * left. */
static inline void ur_av_meta(const struct ur_av *av, struct ur_rx_meta *meta)
{
	memcpy(meta->saddr, av->sgid, 16);
	memcpy(meta->daddr, av->dgid, 16);
	meta->v4 = av->v4;
	meta->v1 = av->v1;
	meta->tos = av->traffic_class;
	meta->ttl = av->hop_limit;
	meta->sl = av->sl;
	meta->udp_sport = av->udp_sport;
	meta->flow_label = av->flow_label;
	meta->realm = av->realm;
	meta->slot = 0;
	meta->slot_bits = 0;
	meta->loan = av->loan;
}

/* Returns whether a queue pair with that number may be the sender's. */
static inline bool ur_rx_slot_fits(const struct ur_rx_meta *meta, u32 qpn)
{
	return qpn >> (24 - meta->slot_bits) == meta->slot;
}

/* How a host refuses a request that nothing is wrong with. The NAK codes are
 * those of IBTA 9.7.5.2.8. */
enum ur_refusal {
	UR_REFUSE_NOT,
	UR_REFUSE_INV_REQ,
	UR_REFUSE_ACCESS,
	UR_REFUSE_OP,
	UR_REFUSE_RNR, /* of the first packet of a SEND */
};

struct ur_host_ops {
	/* Takes the next send WQE of a queue pair. Returns 1 with *wr filled, 0
	 * where none is posted, -EINVAL where the ring is corrupt (the queue
	 * pair then goes to ERR). */
	int (*sq_next)(void *qp_ctx, struct ur_send_wr *wr);
	/* The WQEs up to ring index ring_end are done: the client may reuse
	 * their space. */
	void (*sq_retire)(void *qp_ctx, u32 ring_end);
	/* Takes the next receive WQE of an RQ or SRQ. Returns as sq_next(). */
	int (*rq_next)(void *rq_ctx, struct ur_recv_wr *wr);
	/* Returns the number of receives that are posted and not yet taken. */
	u32 (*rq_count)(void *rq_ctx);
	/* on: the queue pair wants ur_qp_rq_kick(), or the SRQ ur_srq_kick(),
	 * after the next post of a receive. Else it does not any more. */
	void (*rq_want_kick)(void *rq_ctx, bool on);
	/* Delivers a completion; wc is the caller's. Returns 0, or -ENOSPC
	 * where the queue is full: the host has reported UR_EVENT_CQ_ERR, and
	 * the queue pair goes to ERR. */
	int (*cq_push)(void *cq_ctx, const struct ur_wc *wc);
	/* Reports an asynchronous event of a queue pair or SRQ. The first
	 * argument is the ctx that it was created with. */
	void (*qp_event)(void *qp_ctx, enum ur_event ev);
	void (*srq_event)(void *srq_ctx, enum ur_event ev);
	/* Receives a MAD of len bytes, which are 256, for QP1. May be NULL. */
	void (*gsi_rx)(void *port_ctx, const struct ur_rx_meta *meta,
		       u32 src_qpn, const u8 *mad, u32 len);
	/* Returns room for so many bytes of payload of packets to that queue pair, apart from
	 * their heads: the next packets that go there by av name it (struct ur_tx_desc).
	 * NULL: there is none; with len 0, whether there may be, and nothing is taken.
	 * May be NULL. */
	u8 *(*payload_room)(void *port_ctx, const struct ur_av *av, u32 dqpn,
			    u32 len);
	/* Returns a name of the len bytes from off of a region, mem of its struct ur_mr_attr, if that queue pair's host reads
	 * them there itself: packets name them as they do such room, but at that address there is nothing. NULL: it does
	 * not; with len 0, whether it may. May be NULL. */
	const u8 *(*payload_place)(void *port_ctx, const struct ur_av *av,
				   u32 dqpn, void *mem, u64 off, u32 len);
	/* Whatever was named so and is not read by now must not be taken any more: the
	 * memory may be another's, or have other bytes. With payload_place. */
	void (*payload_taken_back)(void *port_ctx);
	/* Asked while ur_port_hold() says so: do packets to that queue pair by av have to wait, for the sake of
	 * others, which they would hold up? May be NULL. */
	bool (*holds)(void *port_ctx, const struct ur_av *av, u32 dqpn,
		      bool datagram);
	/* Asked between the turns of two queue pairs: does the host want to do
	 * something else? Then ur_port_tx() ends, with what it has. May be
	 * NULL. */
	bool (*wanted)(void *port_ctx);
	/* Asked of each request packet that is about to be carried out, and in
	 * order: is it refused all the same? opcode: of its BTH. May be NULL,
	 * and is then never asked of what ur_port_set_shortcuts() allows. */
	enum ur_refusal (*refuse)(void *qp_ctx, u8 opcode);
	/* Says why a queue pair fails, before its completion and its events.
	 * failure is the caller's. May be NULL. */
	void (*qp_failed)(void *qp_ctx, const struct ur_failure *failure);
	/* A trace point (trace.h). May be NULL. */
	void (*trace)(void *port_ctx, u32 id, u32 qpn, u64 a, u64 b);
};

#endif
