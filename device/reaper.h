/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Closes connections that no thread serves. Messages in such a socket may hold the last
 * descriptors of files whose close blocks as long as their owner wants (SO_LINGER). So each
 * user has a thread that closes the user's connections.
 */
#ifndef UR_DEVICE_REAPER_H
#define UR_DEVICE_REAPER_H

#include <sys/types.h>
#include "engine/ground/loop.h"

/*
 * Closes sock, a connection of that user, on the user's thread; until then it is charged to
 * the user (device/quota.h). Returns false if the user exceeds the quota of descriptors:
 * the caller should accept the user's connections more slowly. Lock held.
 */
bool ur_reap(struct ur_loop *loop, uid_t uid, int sock);
/* Returns whether any user has sockets left to close. Lock held. */
bool ur_reaping(void);
/* Closes the listener with its connections that are not accepted yet. */
void ur_reap_listener(int sock);

#endif
