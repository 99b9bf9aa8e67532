/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The RoCE transport, with no I/O inside.
 *
 * A port is one RoCE device's protocol engine: packets, time and posted work go
 * in; packets, a next deadline and completions come out. It never calls the
 * operating system: the host (device process, simulator, test) passes the time
 * with every call, and provides memory, queues and completions through the
 * callbacks of struct ur_host_ops. One port belongs to one thread; two ports
 * share nothing. Only the create functions allocate objects, never the data
 * path.
 *
 * A turn of the host's loop:
 *
 *   for each datagram: ur_port_rx(port, now, &meta, bth, len);
 *   for each doorbell: ur_qp_kick(qp);
 *   if (now >= ur_port_deadline(port)) ur_port_expire(port, now);
 *   while (ur_port_tx(port, now, &tx)) { put tx.desc[] on the wire }
 *
 * Other headers define the data: work.h (work requests, completions, address
 * vectors), attr.h (attributes of objects), host.h (services of the host),
 * counters.h.
 *
 * Functions return 0 or a negative errno, and change nothing where they fail.
 * Objects belong to the port from their create function to their destroy
 * function. Every function is called on the port's thread; only the counters
 * may be read on any thread. Pointers are not NULL unless the comment says so.
 */
#ifndef UR_TRANSPORT_TRANSPORT_H
#define UR_TRANSPORT_TRANSPORT_H

#include "transport/attr.h"
#include "transport/counters.h"
#include "transport/host.h"

typedef u64 ur_time; /* nanoseconds, never decreasing */
#define UR_NEVER UINT64_MAX

#define UR_TIMEOUT_UNIT_NS 4096u /* 4.096 us, IBTA 9.7.6.1.3 */

/*
 * A peer's engine is a thread or a program, which answers when it gets a
 * processor: on a busy machine a woken thread waits for some slices of the
 * scheduler, 3 ms each. Shorter timeouts could not tell silence from that wait.
 * So none is shorter than 16.8 ms.
 */
#define UR_TIMEOUT_LEAST 12

/* Returns the nanoseconds of a local ACK timeout code; UR_NEVER: no timeout. */
static inline u64 ur_ack_timeout_ns(u8 code)
{
	if (!code)
		return UR_NEVER;
	return (u64)UR_TIMEOUT_UNIT_NS
	       << (code < UR_TIMEOUT_LEAST ? UR_TIMEOUT_LEAST : code);
}

#define UR_MAX_MSG_BYTES (1u << 31) /* IBTA volume 1, C9-94 */

struct ur_port;
struct ur_qp;
struct ur_mr;
struct ur_mw;

/* ------------------------------------------------------------------ */
/* The port                                                            */

/* Returns the number of the port that assigned a queue pair's or SRQ's 24-bit
 * number: its upper bits. */
static inline u32 ur_shard_of(u32 number, u32 shard_bits)
{
	return number >> (24 - shard_bits);
}

struct ur_port_config {
	u64 seed; /* for all random choices but secret's */
	/* Key for the numbers of queue pairs, SRQs and memory keys, which
	 * nobody can guess without it. Zero: they count up from first_qpn, for
	 * tests. */
	u64 secret[2];
	u32 mtu_bytes; /* active MTU: 256, 512, 1024, 2048, 4096 */
	u32 max_qp;    /* table bounds */
	u32 max_mr;
	u32 first_qpn;
	/* In a device of several ports: the port's number among 2^shard_bits,
	 * at most 13 bits. The numbers that the port assigns
	 * begin with it (ur_shard_of()). All ports have the same secret. */
	u32 shard, shard_bits;
	u32 window_pkts; /* packets in flight per QP initially; 0: 128 */
	u64 node_guid;
	struct ur_cc_config cc;
	/* UR_CNT_COUNT zeroed words, the host's for the life of the port; or
	 * NULL, and the port has its own. */
	u64 *counters;
	bool aimd;	  /* windows shrink on a congested path */
	bool path;	  /* queue pairs share a window per address: path.h */
	bool short_reads; /* READ requests are as short as that window */
	bool ooo;	  /* receiver keeps out-of-order packets */
	bool loop;	  /* in-device fast path */
	bool credits;	  /* end-to-end credits in AETH */
	bool coalesce;	  /* acknowledge a batch once */
	bool fast;	  /* fast path for the middle of long messages */
	/* Largest burst: number of equal packets of one av, and total bytes,
	 * that the host sends at the price of one packet. 0: no bursts. */
	u32 burst_pkts, burst_bytes;
	const struct ur_host_ops *ops;
	void *ctx;
};

/* Returns a new port, or NULL where there is no memory. config is copied; its
 * ops and ctx stay the caller's and must outlive the port. */
struct ur_port *ur_port_create(const struct ur_port_config *config);
/* Frees the port. All its objects must have been destroyed. */
void ur_port_destroy(struct ur_port *port);
/* Changes the active MTU, in bytes as in the config. Datagrams use it at once,
 * connected queue pairs from their next connection. */
void ur_port_set_mtu(struct ur_port *port, u32 mtu_bytes);
/* Changes the callbacks; ctx stays. */
void ur_port_set_ops(struct ur_port *port, const struct ur_host_ops *ops);
/* Returns the address vector of a connected queue pair, or NULL. */
const struct ur_av *ur_port_qp_av(const struct ur_port *port, u32 qpn);
/* Returns the ctx that the queue pair was created with, or NULL for an unknown
 * number. Callbacks may call it. */
void *ur_port_qp_ctx(const struct ur_port *port, u32 qpn);
/* Changes loop and fast of the config. Messages that are already being copied
 * inside the device finish. */
void ur_port_set_shortcuts(struct ur_port *port, bool loop, bool fast);

/* Size of the buffer for copies from or to unmapped memory. */
#define UR_BOUNCE_BYTES 65536u

/* Makes the port use a buffer of UR_BOUNCE_BYTES of the host's, which the
 * functions of struct ur_mem_ops then get as argument. NULL: the port's own. */
void ur_port_set_bounce(struct ur_port *port, u8 *bounce);

/* Updates the ECN bits of the queue pair's address vector, after a change of its class or
 * ecn. They become ecn, or none for a peer that is known not to answer marks. A UC queue
 * pair without ECN bits gets ecn only for a peer that is known to answer. */
void ur_qp_set_ecn(struct ur_qp *qp);

/* Changes congestion control at once. Only queue pairs that are connected while
 * it is enabled can be limited. */
void ur_port_set_cc(struct ur_port *port, const struct ur_cc_config *cc);

/*
 * Receives a packet of len bytes from the BTH to the pad; the caller has
 * verified the ICRC behind them. The packet and meta stay the caller's, and are
 * not used after the return. Any bytes may come: bad packets are counted.
 */
void ur_port_rx(struct ur_port *port, ur_time now,
		const struct ur_rx_meta *meta, const u8 *bth, u32 len);
/*
 * Receives the first of n packets of len bytes each, stride bytes apart, with
 * the same meta and good ICRCs, as far as receiving them together is quicker.
 * Returns their number; the others are for ur_port_rx().
 */
u32 ur_port_rx_run(struct ur_port *port, ur_time now,
		   const struct ur_rx_meta *meta, const u8 *bth, u32 len,
		   u32 stride, u32 n);

/*
 * Does the same for packets whose UR_BTH_BYTES lie at bth, stride bytes apart, and whose payloads,
 * len - UR_BTH_BYTES each, lie contiguous at payload. payload may change meanwhile. frail: reading
 * it may fail, so only regions whose operations bear that (host.h) take it.
 */
u32 ur_port_rx_split(struct ur_port *port, ur_time now,
		     const struct ur_rx_meta *meta, const u8 *bth, u32 stride,
		     const u8 *payload, u32 len, u32 n, bool frail);

/*
 * Writes the payload of the last packet of an RC or XRC message to its place before
 * the message is received. first and last are its packets, as for ur_port_rx(),
 * and the caller has all between them. If both are one packet, its second half
 * is written. The caller then receives all of them. Returns whether the bytes
 * were written; false if the first packet is no acceptable packet of a SEND or
 * WRITE.
 */
bool ur_port_place_ahead(struct ur_port *port, ur_time now,
			 const struct ur_rx_meta *meta, const u8 *first,
			 u32 first_len, const u8 *last, u32 last_len);

struct ur_tx_desc {
	u32 off; /* offset of the BTH in buf */
	/* bytes from BTH to pad, without the 4 ICRC bytes behind them */
	u32 len;
	const struct ur_av *av;
	/* NULL; or the payload, in payload_room() or by payload_place(): then
	 * it is not in buf behind the BTH. */
	const u8 *split;
};

/* Space for packets: contiguous, each followed by 4 bytes for its ICRC, so that
 * neighbours of equal size and av can leave as one segmented datagram. */
struct ur_tx {
	u8 *buf;
	u32 cap, used;
	struct ur_tx_desc *desc;
	u32 max_desc, n_desc;
	/* For the transport: packets of the unfinished burst at the end. */
	u32 burst;
	/* NULL; or takes the queue pairs whose packets are in tx. They are not active until
	 * ur_port_go_on(), so the host may send tx while it fills another one. The packets of other
	 * queue pairs are then left to that one, if there is enough to send. */
	struct ur_list *senders;
};

/*
 * Runs the active queue pairs: takes posted work, executes what stays inside
 * the device, and fills tx with packets. The caller has set used and n_desc to
 * 0. The av pointers in tx are valid until the next call into the port. Returns
 * true while there is more to do at once.
 */
bool ur_port_tx(struct ur_port *port, ur_time now, struct ur_tx *tx);
/*
 * Does the same for one turn of one queue pair, active or not. Called before
 * the queue pair is changed or destroyed: an adapter would have fetched earlier
 * posts by then, and sent what needs no answer.
 */
bool ur_port_tx_qp(struct ur_qp *qp, ur_time now, struct ur_tx *tx);

/* Activates the queue pairs in a list of senders, since their packets have been sent. */
void ur_port_go_on(struct ur_port *port, struct ur_list *senders);

/*
 * Sets whether the host holds packets to some peers (ur_host_ops.holds): ur_port_tx()
 * then skips queue pairs whose next packets are held, and they are not active. Each call activates
 * all skipped queue pairs again.
 */
void ur_port_hold(struct ur_port *port, bool some);

/* Returns when ur_port_expire() wants to run: a time, perhaps past, or
 * UR_NEVER. */
ur_time ur_port_deadline(const struct ur_port *port);
/* Does what is due by now: repetitions, errors, rates. May be called early. */
void ur_port_expire(struct ur_port *port, ur_time now);

/* ------------------------------------------------------------------ */
/* Memory regions and windows                                          */

/* Creates a region in *mr. Returns 0, -EINVAL (remote stores without local
 * write, a range that wraps, no memory in attr), or -ENOMEM, also where there
 * are max_mr. attr is copied; what its direct, or ops and mem, name must last
 * until the region is destroyed or registered anew. */
int ur_mr_create(struct ur_port *port, const struct ur_mr_attr *attr,
		 struct ur_mr **mr);
/* Registers the region anew with attr: domain, rights and memory change, the
 * key stays. Returns 0, -EINVAL as above, or -EBUSY while windows are bound. */
int ur_mr_rereg(struct ur_mr *mr, const struct ur_mr_attr *attr);
/* Destroys the region. Returns 0, or -EBUSY while windows are bound. */
int ur_mr_destroy(struct ur_mr *mr);
/* Returns the key of the region, which is its L_Key and its R_Key. */
u32 ur_mr_key(const struct ur_mr *mr);

/* Creates a window of type 1 or 2 in *mw. Returns 0, -EINVAL for another type,
 * or -ENOMEM as for a region. */
int ur_mw_create(struct ur_port *port, u32 pd, int type, struct ur_mw **mw);
/* Does the same with a key that another port assigned; 0: a new one. owner: as in struct
 * ur_mr_attr. */
int ur_mw_create_as(struct ur_port *port, u32 pd, int type, u32 key,
		    const void *owner, struct ur_mw **mw);
/* Destroys the window, bound or not. */
void ur_mw_destroy(struct ur_mw *mw);
/* Returns the R_Key. A bound type 2 window has the low byte that its bind
 * set. */
u32 ur_mw_rkey(const struct ur_mw *mw);

/* ------------------------------------------------------------------ */
/* Shared receive queues                                               */

/* Creates a shared receive queue in *srq. attr is copied. Returns 0, -ENOMEM,
 * or -EEXIST where attr->srqn is in use or has no place (ur_table_put()). */
int ur_srq_create(struct ur_port *port, const struct ur_srq_attr *attr,
		  struct ur_srq **srq);
/* Destroys it. Returns 0, or -EBUSY while queue pairs use it. */
int ur_srq_destroy(struct ur_srq *srq);
/* Sets the limit: srq_event is called once when fewer receives are left. 0: no
 * limit. */
void ur_srq_set_limit(struct ur_srq *srq, u32 limit);
/* Returns the limit that was set, or 0 after its event. */
u32 ur_srq_limit(const struct ur_srq *srq);
/* Returns the number by which XRC packets name it. */
u32 ur_srq_number(const struct ur_srq *srq);
/* Notes that a receive was posted after rq_want_kick(true) for this rq_ctx. */
void ur_srq_kick(struct ur_srq *srq);

/* ------------------------------------------------------------------ */
/* Queue pairs                                                         */

/* Creates a queue pair in *qp, in RESET. init is copied. Returns 0, -EINVAL (no
 * such type, or a list too long), or -ENOMEM, also where there are max_qp. */
int ur_qp_create(struct ur_port *port, const struct ur_qp_init *init,
		 struct ur_qp **qp);
/* Destroys the queue pair. Drops its outstanding work without completions; an
 * acknowledgement that it owes is still sent, if there is room. The queue pair
 * must not be attached to a multicast group. */
void ur_qp_destroy(struct ur_qp *qp);
/* Checks a transition from the present state by the modify table; attr->cur_state must be that
 * state if mask has it. Returns 0 or -EINVAL. */
int ur_qp_may_modify(const struct ur_qp *qp, const struct ur_qp_attr *attr,
		     u32 mask);
/*
 * Modifies the queue pair by the attributes that mask (UR_QP_ATTR_*) names. Takes a reference of
 * attr->av. Returns 0; -EINVAL as ur_qp_may_modify(), or for a value out of range; -ENOMEM for
 * max_dest_rd_atomic or a rate.
 */
int ur_qp_modify(struct ur_qp *qp, ur_time now, const struct ur_qp_attr *attr,
		 u32 mask);
/* Fills *attr. attr->av is borrowed: no reference is taken. */
void ur_qp_query(const struct ur_qp *qp, struct ur_qp_attr *attr);
/* Returns the QPN that packets carry. */
u32 ur_qp_number(const struct ur_qp *qp);
/* Returns whether all work requests taken so far were sent. *psn: the first PSN
 * of the next one. */
bool ur_qp_next_psn(const struct ur_qp *qp, u32 *psn);
/* Returns the number of PSNs of a request of length bytes; 0: it has no
 * packets. opcode: enum ur_wr_opcode. */
u32 ur_qp_psns(const struct ur_qp *qp, u8 opcode, u64 length);
/* Returns the number of the peer's queue pair, or 0 while not connected. */
u32 ur_qp_dest(const struct ur_qp *qp);
/* Notes that work was posted to the send queue: the next ur_port_tx() takes
 * it. */
void ur_qp_kick(struct ur_qp *qp);
/* Notes that a receive was posted after rq_want_kick(true) for this rq_ctx. */
void ur_qp_rq_kick(struct ur_qp *qp);
/* Returns the queue pair with that number, or NULL. */
struct ur_qp *ur_qp_lookup(struct ur_port *port, u32 qpn);

/* Bytes of an Ethernet header, and of the longest frame that a raw packet queue
 * pair sends, a little more than a jumbo frame. */
#define UR_RAW_MIN_BYTES 14u
#define UR_RAW_MAX_BYTES 16384u

/* Delivers an Ethernet frame, from its header on and without check sequence, to
 * the next receive of a raw packet queue pair. Without a receive, or with one
 * too short, the frame is dropped and counted. The frame stays the caller's.
 * May be called while the host sends what is in its ur_tx. */
void ur_raw_rx(struct ur_qp *qp, ur_time now, const u8 *frame, u32 len);

/* The most groups of a port, and members of a group. */
#define UR_MCAST_GROUPS_MAX  8192
#define UR_MCAST_MEMBERS_MAX 56

/* Attaches a UD queue pair to a group; attaching twice is attaching once.
 * Returns 0, -EINVAL (not UD, or not a multicast GID), or -ENOMEM, also at the
 * limits above. */
int ur_mcast_attach(struct ur_qp *qp, const u8 gid[16]);
/* Detaches the queue pair. Returns 0, or -EINVAL where it was not attached. */
int ur_mcast_detach(struct ur_qp *qp, const u8 gid[16]);
/* Returns how many groups the queue pair is attached to. */
u32 ur_qp_attached(const struct ur_qp *qp);

/* ------------------------------------------------------------------ */
/* Counters                                                            */

/* Returns UR_CNT_COUNT live values, until the port is destroyed. Any thread may
 * read them; each is a u64 that is never seen half written. */
const u64 *ur_port_counters(const struct ur_port *port);
/* Returns the UR_QP_SHOWN counters and states of a queue pair (counters.h), which
 * change as it works. Valid until it is destroyed. Any thread may read them. */
const u64 *ur_qp_counters(const struct ur_qp *qp);
/* Returns whether these words are in the host's memory (ur_qp_init.shown). */
bool ur_qp_is_shown(const struct ur_qp *qp);
/* Adds n to a counter: for the verdicts of the host's own backend, such as
 * rx_icrc_encapsulated for a wrong ICRC. */
void ur_port_count(struct ur_port *port, enum ur_counter c, u64 n);

#endif
