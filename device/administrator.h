/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who is to this device what root is to a kernel's, and who may see what. */
#ifndef UR_DEVICE_ADMINISTRATOR_H
#define UR_DEVICE_ADMINISTRATOR_H

#include <stdbool.h>
#include <unistd.h>

/* Returns whether that user is root or runs the daemon. Any thread. */
static inline bool ur_is_administrator(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/*
 * Returns whether asker may know more about the owner's objects than that they
 * exist, and whose they are. Keys, addresses and numbers of queue pairs are
 * what somebody needs to write into another's memory, so only the owner and an
 * administrator see them: in status, netlink, failures and recordings alike.
 * Any thread.
 */
static inline bool ur_may_see(uid_t asker, uid_t owner)
{
	return asker == owner || ur_is_administrator(asker);
}

#endif
