/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Quotas for the multicast groups of a device: groups per user, and queue pairs per group.
 * A group holds a socket, so it counts among the user's descriptors too. Control lock held.
 */
#ifndef UR_DEVICE_GROUPS_H
#define UR_DEVICE_GROUPS_H

#include "device/quota.h"
#include "util/list.h"

struct ur_groups {
	struct ur_list list;
	struct ur_quota quota; /* of groups with members */
	const char *where;
};

/* Makes an empty table. where: the device's name for the log; stays the
 * caller's. */
void ur_groups_init(struct ur_groups *g, const char *where);
/* Counts one more queue pair of that user in the group. Returns 0, or -ENOMEM if the user's
 * quota is used up. */
int ur_groups_enter(struct ur_groups *g, uid_t uid, const u8 gid[16]);
/* Undoes one ur_groups_enter(). */
void ur_groups_leave(struct ur_groups *g, uid_t uid, const u8 gid[16]);

#endif
