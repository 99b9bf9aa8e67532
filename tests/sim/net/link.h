/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two hosts and the link between them, of which one end has a queue. */
#ifndef UR_TESTS_SIM_NET_LINK_H
#define UR_TESTS_SIM_NET_LINK_H

#include "tests/sim/net/net.h"

struct link {
	enum net_control control;
	u64 bps;   /* of what carries the data; 0: the hosts are the bound */
	u64 queue; /* bytes in front of that; 0: without an end */
	ur_time delay; /* of each of the two lines */
	u32 lose;      /* of 65536 frames, both ways */
	u32 flows;
	u8 opcode; /* UR_WR_WRITE or UR_WR_READ */
	u32 bytes, depth;
	ur_time length; /* of the run; 0: a second */
};

struct link_row {
	double goodput; /* part of the link; of Gbit/s where it has no rate */
	double loss; /* part of the frames with data that the queue dropped */
	double jain;
	u32 broken;
};

/* Runs it in virtual time, from the first packet on. */
struct link_row link_run(const struct link *l);

#endif
