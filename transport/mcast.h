/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups of a port: each with the UD queue pairs that get a copy.
 */
#ifndef UR_TRANSPORT_MCAST_H
#define UR_TRANSPORT_MCAST_H

#include "transport/transport.h"
#include "util/list.h"

struct ur_mcast_member {
	struct ur_list list;
	struct ur_qp *qp;
};

struct ur_mcast_group {
	struct ur_list list;
	struct ur_list members;
	u8 gid[16];
};

/* Returns the group with that GID, or NULL where no queue pair is attached to
 * it. It stays until its last member is detached. */
struct ur_mcast_group *ur_mcast_find(struct ur_port *port, const u8 gid[16]);

#endif
