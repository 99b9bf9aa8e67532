/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The origin of a connection's packets: the UDP source port that its peer uses.
 * A peer keeps to one for a queue pair, as Linux and adapters do, so a packet
 * from another one is likely not the peer's, or its path has changed. It is no
 * proof: somebody who sends under the peer's address without seeing its packets
 * has to guess the port, beside a sequence number. RoCEv1 has no ports; there
 * all packets come from 0.
 */
#ifndef UR_TRANSPORT_ORIGIN_H
#define UR_TRANSPORT_ORIGIN_H

#include "util/bytes.h"

struct ur_origin {
	bool known;
	u16 sport;
};

/* Remembers sport: a packet from it was accepted. */
static inline void ur_origin_learn(struct ur_origin *o, u16 sport)
{
	o->known = true;
	o->sport = sport;
}

/* Returns whether sport is the port that the accepted packets came from. */
static inline bool ur_origin_familiar(const struct ur_origin *o, u16 sport)
{
	return o->known && o->sport == sport;
}

#endif
