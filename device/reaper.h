/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Closes connections that no thread serves. In such a socket there may be
 * messages with descriptors, and those may be the last of files whose end takes
 * as long as their owner wants (SO_LINGER): each user has a thread for his own.
 */
#ifndef UR_DEVICE_REAPER_H
#define UR_DEVICE_REAPER_H

#include <sys/types.h>
#include "device/loop.h"

/*
 * Close sock, which that user connected, soon; until then it is one of his
 * descriptors (device/quota.h). Lock held. False: he has more than his part of
 * those already, and who accepts connections better takes his time.
 */
bool ur_reap(struct ur_loop *loop, uid_t uid, int sock);
/* Has any user sockets left to close? Lock held. */
bool ur_reaping(void);
/* Close the listener, and with it the connections that nobody has accepted. */
void ur_reap_listener(int sock);

#endif
