/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who is to this device what root is to a kernel's. */
#ifndef UR_DEVICE_ADMINISTRATOR_H
#define UR_DEVICE_ADMINISTRATOR_H

#include <stdbool.h>
#include <unistd.h>

/* Returns whether that user is root or runs the daemon. Any thread. */
static inline bool ur_is_administrator(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

#endif
