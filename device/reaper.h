/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Closes connections that no thread serves. Such a socket may hold messages
 * with descriptors, which may be the last ones of files whose end takes as long
 * as their owner wants (SO_LINGER). So each user has a thread that closes his
 * own.
 */
#ifndef UR_DEVICE_REAPER_H
#define UR_DEVICE_REAPER_H

#include <sys/types.h>
#include "engine/ground/loop.h"

/*
 * Closes sock, which that user connected, soon; until then it is one of his
 * descriptors (device/quota.h). Returns false where he already has more than
 * his part of those: the caller should then accept his connections more slowly.
 * Lock held.
 */
bool ur_reap(struct ur_loop *loop, uid_t uid, int sock);
/* Returns whether any user has sockets left to close. Lock held. */
bool ur_reaping(void);
/* Closes the listener, and with it the connections that nobody has accepted. */
void ur_reap_listener(int sock);

#endif
