/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A port inside the transport: the tables, the list of queue pairs that have
 * something to do, and the heap of deadlines. All functions run on the port's
 * thread.
 */
#ifndef UR_TRANSPORT_PORT_H
#define UR_TRANSPORT_PORT_H

#include "transport/transport.h"
#include "transport/ooo.h"
#include "transport/table.h"
#include "transport/trace.h"
#include "transport/wire_format.h"
#include "util/assert.h"
#include "util/heap.h"
#include "util/list.h"
#include "util/rng.h"

#define UR_ORPHAN_ACKS	256 /* acknowledgements of destroyed queue pairs */
#define UR_AV_PUT_SLOTS 1024
/* Bytes copied at a time from unmapped memory. A call costs as much as copying
 * some KiB; more would fall out of the processor's L2 cache. A burst fits. */
/* Window at first and after a loss, as deployed peers have it. */
#define UR_WINDOW_PKTS	   128
#define UR_QUANTUM_PKTS	   64 /* packets of one queue pair's quantum */
#define UR_QUANTUM_ENTRIES (2 * UR_QUANTUM_PKTS) /* its work requests */
#define UR_QUANTUM_BYTES   (256u << 10)		 /* its in-device bytes */
#define UR_CALL_QUANTA	   256 /* quanta in one ur_port_tx() call */
#define UR_PATHS_BITS	   12
#define UR_MARK_BITS	   8

/* An acknowledgement or NAK that a destroyed queue pair owed. */
struct ur_orphan_ack {
	struct ur_av *av; /* a reference */
	u8 syndrome;
	u8 bth[UR_BTH_BYTES + UR_AETH_BYTES]; /* the whole packet */
};

struct ur_path;

/* Remembers for an hour whether a peer answers marks (path_marks.c). */
struct ur_mark_memory {
	u8 dgid[16];
	u32 owner;
	bool answers;
	u64 until; /* end of validity; 0: nothing is known */
};

struct ur_port {
	struct ur_port_config cfg;
	struct ur_cc_config cc; /* defaults filled in */
	const struct ur_host_ops *ops;
	void *ctx;
	struct ur_rng rng;
	struct ur_secret secret;
	ur_time now; /* of the running call */

	struct ur_table qps, keys, srqs;
	struct ur_list mcast; /* struct ur_mcast_group */

	struct ur_ooo_pool ooo; /* when cfg.ooo */
	u32 unready;		/* slots of ooo used by queue pairs in INIT */

	struct ur_qp *rx_qp; /* queue pair of the last packet, or NULL */
	u32 mem_gen;	     /* changes with every key or region; not 0 */
	bool placed;	     /* payload_place() has returned a handle */

	struct ur_list active; /* queue pairs with something to do */
	struct ur_list held;   /* active queue pairs that the host holds back */
	bool holds;	       /* ur_port_hold() */
	/* Paths by address and owner: lists by a keyed hash. */
	struct ur_path *paths[1u << UR_PATHS_BITS];
	u64 path_key[10];
	struct ur_mark_memory marks[1u << UR_MARK_BITS];

	/* Deadlines of queue pairs. A deadline that moves later stays here at
	 * its old time, which then finds the new one. */
	struct ur_heap deadlines;
	u32 deadlines_cap;

	/* Address vectors whose last packet may still be in a ur_tx. */
	struct ur_av *av_put[UR_AV_PUT_SLOTS];
	u32 av_put_count;

	struct ur_orphan_ack orphan_ack[UR_ORPHAN_ACKS];
	u32 orphan_ack_head, orphan_ack_tail;

	struct ur_send_wr wr; /* scratch for sq_next() */
	struct ur_recv_wr rwr;
	u8 *bounce; /* UR_BOUNCE_BYTES: own_bounce, or the host's */
	u8 own_bounce[UR_BOUNCE_BYTES];

	u64 *counters; /* own_counters, or the host's */
	u64 own_counters[UR_CNT_COUNT];
};

/* Voids every ur_mr_range of the port: a key, region or window has changed. */
static inline void ur_mem_changed(struct ur_port *port)
{
	if (!++port->mem_gen)
		port->mem_gen = 1;
}

/* Does the same, and revokes payload places: memory must not be reached by an
 * old key. */
static inline void ur_mem_ended(struct ur_port *port)
{
	ur_mem_changed(port);
	if (port->placed)
		port->cfg.ops->payload_taken_back(port->cfg.ctx);
}

/* Returns a random low byte for a new key; the program may change that byte. */
static inline u8 ur_port_key_byte(struct ur_port *port)
{
	return (u8)ur_secret_u64(&port->secret);
}

static inline void ur_count_many(struct ur_port *port, enum ur_counter c, u64 n)
{
	ur_counter_add(port->counters, c, n);
}

static inline void ur_count(struct ur_port *port, enum ur_counter c)
{
	ur_count_many(port, c, 1);
}

/* Reports a trace point; trace.h defines a and b. Costs one branch without a
 * tracer. */
static inline void ur_trace(struct ur_port *port, enum ur_trace_id id, u32 qpn,
			    u64 a, u64 b)
{
	if (__builtin_expect(port->ops->trace != NULL, 0))
		port->ops->trace(port->ctx, id, qpn, a, b);
}

/* Returns the place for a packet of so many bytes, BTH to pad, or NULL where tx
 * has no room for it and its ICRC. */
static inline u8 *ur_tx_room(const struct ur_tx *tx, u32 bytes)
{
	if (tx->n_desc == tx->max_desc ||
	    tx->cap - tx->used < bytes + UR_ICRC_BYTES)
		return NULL;
	return tx->buf + tx->used;
}

/* Adds the packet of so many bytes at ur_tx_room()'s place to tx, and counts
 * it. av must stay until the host has sent tx: see ur_port_av_put(). */
void ur_tx_commit(struct ur_port *port, struct ur_tx *tx,
		  const struct ur_av *av, u32 bytes);

/* Parks the queue pair, which is in no list, until the next ur_port_hold(). */
void ur_port_held(struct ur_port *port, struct ur_qp *qp);

/* Drops a reference of av (or NULL) at the host's next call, when no ur_tx
 * names it any more. At most UR_AV_PUT_SLOTS in one call. */
void ur_port_av_put(struct ur_port *port, struct ur_av *av);
/* Drops the references given to ur_port_av_put(). Called when a call of the
 * host begins, since no ur_tx names them then. */
static inline void ur_port_put_avs(struct ur_port *port)
{
	while (port->av_put_count)
		ur_av_put(port->av_put[--port->av_put_count]);
}

/* Returns the first invariant of the port's structures that does not hold, in
 * words, or NULL. */
const char *ur_port_check(const struct ur_port *port);

/* Makes the port call ur_qp_expire() for the queue pair at that time at the
 * latest. UR_NEVER, or a time later than the armed one, changes nothing. */
void ur_port_arm(struct ur_port *port, struct ur_qp *qp, ur_time at);
/* Disarms the queue pair's deadline, if it has one. */
void ur_port_disarm(struct ur_port *port, struct ur_qp *qp);

struct ur_pkt;

/* answer.c: adds the orphan ACKs to tx. Returns true where tx has no room for
 * all of them. */
bool ur_answer_last(struct ur_port *port, struct ur_tx *tx);
/* Drops the orphan ACKs when the port is destroyed. */
void ur_answer_last_drop(struct ur_port *port);

/* ud.c: delivers the packet to every queue pair attached to its group. */
void ur_mcast_rx(struct ur_port *port, const struct ur_qp *sender,
		 const struct ur_rx_meta *meta, const struct ur_pkt *pkt);

/* mcast.c: frees all groups when the port is destroyed. */
void ur_mcast_fini(struct ur_port *port);

#endif
