/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The host of a port (device process, simulator, test): the services that the
 * transport calls, and what the host knows of a received packet.
 *
 * The transport calls these functions on the port's thread, inside the host's
 * calls into the port. None of them may call the port back.
 */
#ifndef UR_TRANSPORT_HOST_H
#define UR_TRANSPORT_HOST_H

#include <string.h>
#include "transport/counters.h"
#include "transport/failure.h"
#include "transport/wire_format.h"
#include "transport/work.h"
#include "util/verbs_event.h"

/* n payloads of len bytes each, stride bytes apart. */
struct ur_pieces {
	u8 *first;
	u32 stride, len, n;
	bool more;	    /* for writing: may be late, as with write_more */
	const void *reader; /* for reading: the reader of ahead(), or NULL */
};

/* Memory of one region behind an MR. Offsets count from the region's start and
 * are already bounds-checked by the transport. */
struct ur_mem_ops {
	/* Copy len bytes from or to the application. Return 0, -EFAULT, or
	 * -ESRCH where its process has ended: the queue pair then sends nothing
	 * more. */
	int (*read)(void *mem, u64 off, void *dst, u32 len);
	int (*write)(void *mem, u64 off, const void *src, u32 len);
	/* write and write_pieces return -EFAULT where src cannot be read, or is
	 * found to have been invalid. */
	bool bears_frail;
	/* Copy the pieces from or to contiguous application memory. Return as
	 * above, or -EOPNOTSUPP where a single copy is better. May be NULL. */
	int (*read_pieces)(void *mem, u64 off, const struct ur_pieces *to);
	int (*write_pieces)(void *mem, u64 off, const struct ur_pieces *from);
	/* Does the same as write, but may delay the bytes until the write
	 * that ends the message, which goes to the same region. NULL: write
	 * serves. */
	int (*write_more)(void *mem, u64 off, const void *src, u32 len);
	/* Announces that read_pieces, with this reader, will read len bytes
	 * from off on in order. Ends the reader's earlier announcement. May be
	 * NULL. */
	void (*ahead)(void *mem, u64 off, u64 len, const void *reader);
	/* Masked compare and swap, and masked fetch and add, of the 8 aligned
	 * bytes at off, atomic towards every access through this device. *old
	 * gets the former value, in host order. Return as above. */
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
	u32 realm; /* realm of a sender on this port; 0: unrestricted */
	/* Prefix of the sender's queue pair numbers: the upper slot_bits bits
	 * of each are slot. 0 bits: not known. */
	u16 slot;
	u8 slot_bits;
	/* Distinguishes successive owners of that prefix; 0 without one. */
	u32 grant_id;
};

/* Fills *meta as for a packet to av that arrives on the port it left. */
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
	meta->grant_id = av->grant_id;
}

/* Returns whether a switch has marked the packet. Congestion is marked in IP headers; a GRH has
 * none. */
static inline bool ur_rx_is_marked(const struct ur_rx_meta *meta)
{
	return !meta->v1 && (meta->tos & UR_ECN_MASK) == UR_ECN_CE;
}

/* Count packets that were sent to av's destination, or received, as ur_counters_prio(). */
static inline void ur_count_tx_prio(u64 *counters, const struct ur_av *av,
				    u32 packets, u64 bytes)
{
	u32 prio = av->sl ? av->sl & 7u : av->traffic_class >> 5;

	if (prio)
		ur_counters_prio(counters, UR_CNT_TX_PRIO(prio), packets,
				 bytes);
}
static inline void ur_count_rx_prio(u64 *counters, u8 tos, u32 packets,
				    u64 bytes)
{
	if (tos >> 5)
		ur_counters_prio(counters, UR_CNT_RX_PRIO(tos >> 5), packets,
				 bytes);
}

/* Returns whether a queue pair with that number may be the sender's. */
static inline bool ur_rx_slot_fits(const struct ur_rx_meta *meta, u32 qpn)
{
	return qpn >> (24 - meta->slot_bits) == meta->slot;
}

/* How a host refuses a valid request. The NAK codes are those of IBTA
 * 9.7.5.2.8. */
enum ur_refusal {
	UR_REFUSE_NOT,
	UR_REFUSE_INV_REQ,
	UR_REFUSE_ACCESS,
	UR_REFUSE_OP,
	UR_REFUSE_RNR, /* only for the first packet of a SEND */
};

struct ur_host_ops {
	/* Takes the next send WQE of a queue pair. Returns 1 with *wr filled, 0
	 * where none is posted, -EINVAL where the ring is corrupt (the queue
	 * pair then goes to ERR). */
	int (*sq_next)(void *qp_ctx, struct ur_send_wr *wr);
	/* Retires the WQEs up to ring index ring_end: the client may reuse
	 * their space. */
	void (*sq_retire)(void *qp_ctx, u32 ring_end);
	/* Takes the next receive WQE of an RQ or SRQ. Returns as sq_next(). */
	int (*rq_next)(void *rq_ctx, struct ur_recv_wr *wr);
	/* Returns the number of receives that are posted and not yet taken. */
	u32 (*rq_count)(void *rq_ctx);
	/* Turns on or off that the host calls ur_qp_rq_kick(), or
	 * ur_srq_kick(), after the next receive is posted. */
	void (*rq_want_kick)(void *rq_ctx, bool on);
	/* Delivers a completion; wc is the caller's. Returns 0; or -ENOSPC
	 * where the queue is full, after reporting UR_EVENT_CQ_ERR: the queue
	 * pair then goes to ERR. */
	int (*cq_push)(void *cq_ctx, const struct ur_wc *wc);
	/* Reports an asynchronous event of a queue pair or SRQ. The first
	 * argument is the ctx that it was created with. */
	void (*qp_event)(void *qp_ctx, enum ur_event ev);
	void (*srq_event)(void *srq_ctx, enum ur_event ev);
	/* Returns room for len payload bytes, separate from the headers, for
	 * the next packets by av to that queue pair (struct ur_tx_desc, split).
	 * NULL: none. len 0 only asks whether there may be room, and reserves
	 * none. May be NULL. */
	u8 *(*payload_room)(void *port_ctx, const struct ur_av *av, u32 dqpn,
			    u32 len);
	/* Returns a handle for len bytes at off of a region (mem of ur_mr_attr), if the host of
	 * that queue pair reads them in place. Packets name it like payload_room()'s, but it is no
	 * address to access. NULL: not possible. len 0 only asks whether it may be. May be NULL. */
	const u8 *(*payload_place)(void *port_ctx, const struct ur_av *av,
				   u32 dqpn, void *mem, u64 off, u32 len);
	/* Revokes all handles of payload_place() that were not read yet: their
	 * memory may be reused. Required with payload_place. */
	void (*payload_taken_back)(void *port_ctx);
	/* Returns whether packets by av to that queue pair must wait, since they would hold up
	 * others. Called only after ur_port_hold(port, true). May be NULL. */
	bool (*holds)(void *port_ctx, const struct ur_av *av, u32 dqpn,
		      bool datagram);
	/* Returns whether the host of that queue pair has not read all that was sent to it by av, in
	 * memory that both have, so that packets may wait there. Reminds it. May be NULL. */
	bool (*unread)(void *port_ctx, const struct ur_av *av, u32 dqpn);
	/* Returns whether the host needs the thread: ur_port_tx() then returns.
	 * Called between the turns of queue pairs. May be NULL. */
	bool (*wanted)(void *port_ctx);
	/* Decides whether to refuse a valid request packet. Called for each, in
	 * order, before its execution. opcode: of its BTH. May be NULL.
	 * ur_port_set_shortcuts() allows ways that do not call it. */
	enum ur_refusal (*refuse)(void *qp_ctx, u8 opcode);
	/* Reports why a queue pair fails, before its completion and its events.
	 * failure is the caller's. May be NULL. */
	void (*qp_failed)(void *qp_ctx, const struct ur_failure *failure);
	/* A trace point (trace.h). May be NULL. */
	void (*trace)(void *port_ctx, u32 id, u32 qpn, u64 a, u64 b);
};

#endif
