/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to a queue pair in state INIT, which will be able to receive in a moment. Programs that
 * connect without a CM exchange their numbers, and the one that is ready first sends. The standard
 * drops such packets (IBTA 9.6.1.1.2), and the sender repeats them after its timeout, mostly 67 ms.
 * Here they count as still under way: a few are kept for a short time, and received in state RTR
 * with all checks.
 *
 * All functions run on the port's thread. Ports without cfg.ooo keep nothing.
 */
#ifndef UR_TRANSPORT_UNREADY_H
#define UR_TRANSPORT_UNREADY_H

#include "transport/host.h"
#include "transport/packet.h"
#include "transport/transport.h"

/* Packets of a queue pair, of the port. A peer sends as many before it knows the path
 * (path_window.c). */
#define UR_UNREADY_QP	16
#define UR_UNREADY_PORT 64
#define UR_UNREADY_NS	250000000u

/* A queue pair's kept packets: slots of the port's pool (ooo.h), in order of
 * arrival. */
struct ur_unready {
	u16 first, last;
	u16 count;
};

/*
 * Keeps a copy of a packet for a connected queue pair. pkt was parsed from a buffer that still
 * holds its headers and payload. Returns false where state, service or opcode do not fit, or there
 * is no room.
 */
bool ur_unready_keep(struct ur_qp *qp, const struct ur_rx_meta *meta,
		     const struct ur_pkt *pkt);
/* Takes the first packet that is not too old into *meta and *pkt, and counts older ones as
 * bad_state. Returns its slot, for ur_ooo_give() after the last use of pkt->payload; or
 * UR_OOO_NONE. */
u16 ur_unready_take(struct ur_qp *qp, struct ur_rx_meta *meta,
		    struct ur_pkt *pkt);
/* Drops all kept packets, which count as bad_state. */
void ur_unready_drop(struct ur_qp *qp);

#endif
