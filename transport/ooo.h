/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests that came too early: a responder that keeps them needs only the
 * missing packet again, where the standard lets it drop all that follows.
 * Nothing of it shows on the wire but an acknowledgement that jumps.
 */
#ifndef UR_TRANSPORT_OOO_H
#define UR_TRANSPORT_OOO_H

#include "transport/packet.h"
#include "transport/transport.h"

#define UR_OOO_SPAN  512  /* PSNs beyond the expected one, power of two */
#define UR_OOO_SLOTS 1024 /* packets kept by all queue pairs of a port */
#define UR_OOO_NONE  0xffffu

_Static_assert((UR_OOO_SPAN & (UR_OOO_SPAN - 1)) == 0, "low bits of a PSN");
_Static_assert(UR_OOO_SLOTS < UR_OOO_NONE, "a slot's number is not none");

struct ur_ooo_slot {
	u32 psn;
	u16 bytes; /* BTH to pad */
	u16 next;  /* free list */
	u8 packet[UR_HEADERS_MAX_BYTES + UR_MTU_MAX_BYTES];
};

struct ur_ooo_pool {
	struct ur_ooo_slot *slot;
	u16 free;
};

/* The part of a queue pair: which slot holds the PSN with these low bits. */
struct ur_ooo {
	u32 count;
	u16 slot[UR_OOO_SPAN];
};

/* Both return 0 or -ENOMEM. */
int ur_ooo_pool_create(struct ur_ooo_pool *pool);
void ur_ooo_pool_destroy(struct ur_ooo_pool *pool);
int ur_ooo_create(struct ur_qp *qp);
void ur_ooo_destroy(struct ur_qp *qp); /* also gives its slots back */

/*
 * Keep a packet whose PSN is beyond the expected one, if there is room and it
 * comes from where the accepted ones did. Of two that claim one PSN and differ
 * neither is kept: who does not see the peer's packets must not get one in by
 * being first, and the peer sends its own again.
 */
void ur_ooo_keep(struct ur_qp *qp, const struct ur_pkt *pkt);
/* The packet with that PSN, parsed; false: it is not here. It stays until
 * dropped. */
bool ur_ooo_find(struct ur_qp *qp, u32 psn, struct ur_pkt *pkt);
/* One, or all: their slots are free again. */
void ur_ooo_drop(struct ur_qp *qp, u32 psn);
void ur_ooo_drop_all(struct ur_qp *qp);
/* Packets kept and still ahead of the expected PSN. */
bool ur_ooo_waiting(struct ur_qp *qp);

#endif
