/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A port inside the transport: the tables, the list of queue pairs that have
 * something to do, and the heap of deadlines.
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

#define UR_GSI_SLOTS	64  /* MADs waiting to be sent */
#define UR_ORPHAN_ACKS	256 /* of queue pairs that are no more */
#define UR_MAD_BYTES	256
#define UR_AV_PUT_SLOTS 1024
#define UR_BOUNCE_BYTES 16384
/* At first and after a loss, as deployed peers use. */
#define UR_WINDOW_PKTS	   128
#define UR_QUANTUM_PKTS	   64 /* packets of one queue pair's quantum */
#define UR_QUANTUM_ENTRIES (2 * UR_QUANTUM_PKTS) /* its work requests */
#define UR_QUANTUM_BYTES   (256u << 10)		 /* its in-device bytes */
#define UR_CALL_QUANTA	   256 /* quanta of one ur_port_tx call */
#define UR_ONE_QP_QUANTA   4   /* of one ur_port_tx_qp call */

struct ur_gsi_send {
	struct ur_av *av;
	u8 mad[UR_MAD_BYTES];
};

/* An acknowledgement or NAK that a queue pair owed when it was taken away. */
struct ur_orphan_ack {
	struct ur_av *av; /* a reference */
	u8 syndrome;
	u8 bth[UR_BTH_BYTES + UR_AETH_BYTES]; /* the whole packet */
};

struct ur_port {
	struct ur_port_config cfg;
	const struct ur_host_ops *ops;
	void *ctx;
	struct ur_rng rng;
	struct ur_secret secret;
	ur_time now; /* of the running call */

	struct ur_table qps, keys, srqs;
	struct ur_list mcast; /* struct ur_mcast_group */

	struct ur_ooo_pool ooo; /* when cfg.ooo */

	struct ur_qp *rx_qp; /* the last packet's, or NULL */
	u32 mem_gen;	     /* new whenever a key or region changes; not 0 */

	struct ur_list active; /* queue pairs with something to do */

	/* Of queue pairs. One whose deadline moved later is found out when its
	 * old one comes. */
	struct ur_heap deadlines;
	u32 deadlines_cap;

	/* Address vectors whose last packet may still be in a ur_tx. */
	struct ur_av *av_put[UR_AV_PUT_SLOTS];
	u32 av_put_count;

	struct ur_gsi_send gsi[UR_GSI_SLOTS];
	u32 gsi_head, gsi_tail;
	u32 gsi_psn;

	struct ur_orphan_ack orphan_ack[UR_ORPHAN_ACKS];
	u32 orphan_ack_head, orphan_ack_tail;

	struct ur_send_wr wr; /* scratch: what sq_next fills */
	struct ur_recv_wr rwr;
	u8 bounce[UR_BOUNCE_BYTES];

	u64 counters[UR_CNT_COUNT];
};

/* Keys, regions or windows are not what they were. */
static inline void ur_mem_changed(struct ur_port *port)
{
	if (!++port->mem_gen)
		port->mem_gen = 1;
}

/* The part of a new key that is no number: its consumer may change it. */
static inline u8 ur_port_key_byte(struct ur_port *port)
{
	return (u8)ur_secret_u64(&port->secret);
}

/* One more; the port's thread. */
static inline void ur_count(struct ur_port *port, enum ur_counter c)
{
	/* One writer; readers in other threads must not see half a value. */
	__atomic_store_n(&port->counters[c], port->counters[c] + 1,
			 __ATOMIC_RELAXED);
}

/* Free where nobody traces. trace.h says what a and b are. */
static inline void ur_trace(struct ur_port *port, enum ur_trace_id id, u32 qpn,
			    u64 a, u64 b)
{
	if (__builtin_expect(port->ops->trace != NULL, 0))
		port->ops->trace(port->ctx, id, qpn, a, b);
}

/* Room for a packet of that many bytes, BTH to pad? The place or NULL. */
static inline u8 *ur_tx_room(const struct ur_tx *tx, u32 bytes)
{
	if (tx->n_desc == tx->max_desc ||
	    tx->cap - tx->used < bytes + UR_ICRC_BYTES)
		return NULL;
	return tx->buf + tx->used;
}

/* The packet of that many bytes at ur_tx_room's place is complete. */
void ur_tx_commit(struct ur_port *port, struct ur_tx *tx,
		  const struct ur_av *av, u32 bytes);

/* Drop a reference when no ur_tx can name it any more. */
void ur_port_av_put(struct ur_port *port, struct ur_av *av);
/* A call of the host has begun, so that no ur_tx names them: they go. */
static inline void ur_port_put_avs(struct ur_port *port)
{
	while (port->av_put_count)
		ur_av_put(port->av_put[--port->av_put_count]);
}

/* The first broken rule of the port's own structures in words, or NULL. */
const char *ur_port_check(const struct ur_port *port);

/* The queue pair wants ur_qp_expire() not later than at. */
void ur_port_arm(struct ur_port *port, struct ur_qp *qp, ur_time at);
void ur_port_disarm(struct ur_port *port, struct ur_qp *qp);

/* gsi.c: QP1. */
bool ur_gsi_tx(struct ur_port *port, struct ur_tx *tx); /* true: no room */
struct ur_pkt;
void ur_gsi_rx(struct ur_port *port, const struct ur_rx_meta *meta,
	       const struct ur_pkt *pkt);

/* answer.c: what queue pairs owed that are no more. true: no room */
bool ur_answer_last(struct ur_port *port, struct ur_tx *tx);
void ur_answer_last_drop(struct ur_port *port);

/* ud.c: every queue pair attached to the group of meta's destination. */
void ur_mcast_rx(struct ur_port *port, const struct ur_rx_meta *meta,
		 const struct ur_pkt *pkt);

/* mcast.c */
void ur_mcast_fini(struct ur_port *port);

#endif
