/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to a queue pair that can receive in a moment: state INIT. Programs that connect without
 * a CM tell each other their numbers, and whoever is ready first sends. The standard drops such packets
 * (IBTA 9.6.1.1.2), and the sender repeats them after its timeout, 67 ms as most have it. Here they
 * count as on their way for so long: they are kept, a few and for a short time, and come
 * in when the queue pair is in RTR, through all checks.
 *
 * All functions run on the port's thread. Ports without cfg.ooo keep nothing.
 */
#ifndef UR_TRANSPORT_UNREADY_H
#define UR_TRANSPORT_UNREADY_H

#include "transport/host.h"
#include "transport/packet.h"
#include "transport/transport.h"

/* Packets; a peer sends as many before it knows anything of the path (path_window.c). */
#define UR_UNREADY_QP	16
#define UR_UNREADY_PORT 64
#define UR_UNREADY_NS	250000000u

/* The part of a queue pair: slots of the port's pool (ooo.h), in the order in which
 * they came. */
struct ur_unready {
	u16 first, last;
	u16 count;
};

/*
 * Keeps a copy of a packet that came for a connected queue pair. pkt was parsed from a
 * buffer that still holds its headers and payload. Returns false where it is not kept: state,
 * service, opcode, or no room.
 */
bool ur_unready_keep(struct ur_qp *qp, const struct ur_rx_meta *meta,
		     const struct ur_pkt *pkt);
/* Takes the first one that is not too old into *meta and *pkt; those that are count as bad_state.
 * Returns its slot, which the caller gives to ur_ooo_give() when done with pkt->payload, or
 * UR_OOO_NONE: there is none. */
u16 ur_unready_take(struct ur_qp *qp, struct ur_rx_meta *meta,
		    struct ur_pkt *pkt);
/* Drops all, which count as bad_state. */
void ur_unready_drop(struct ur_qp *qp);

#endif
