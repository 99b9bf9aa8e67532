/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Descriptors that the device holds because a client has asked for something:
 * event files, memberships of groups, files of XRC domains. The client can
 * close its own copy, so its limits do not bound them. One user has at most
 * half of all that the process may have open.
 */
#ifndef UR_DEVICE_QUOTA_H
#define UR_DEVICE_QUOTA_H

#include <sys/types.h>
#include "util/bytes.h"

/* n more for that user: 0, -EMFILE or -ENOMEM. Control lock held, as for the
 * other one. */
int ur_quota_take(uid_t uid, u32 n);
void ur_quota_give(uid_t uid, u32 n);

#endif
