/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A sender of another kind, with endless data: how its window follows marks and losses
 * is all that it has of a transport. */
#ifndef UR_TESTS_SIM_NET_ALIEN_H
#define UR_TESTS_SIM_NET_ALIEN_H

#include "tests/sim/net/net.h"

enum net_alien_kind {
	ALIEN_DCTCP, /* RFC 8257 */
	/* RFC 9438, in its Reno-friendly region, where it is at such round trips; a
	 * mark cuts as a loss does (RFC 3168). */
	ALIEN_CUBIC,
};

struct net_alien {
	struct net *net;
	enum net_alien_kind kind;
	u32 from, to;
	double cwnd, alpha;
	bool slow_start;
	u64 next, una; /* packets: sent, answered */
	u64 cut_end;   /* answers before this tell of what was cut already */
	u64 round_end; /* of DCTCP's share */
	u64 heard, marked; /* in this round */
	u64 packets;	   /* answered */
	u64 looked;	   /* una, when it was last looked at */
};

/* Starts it, at once. Its frames are of full size. */
void net_alien_start(struct net_alien *a);
/* A frame of one, data or its answer, has come to a host. Frees it. */
void net_alien_rx(struct net_frame *f);

#endif
