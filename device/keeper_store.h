/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* systemd keeps what programs go on with, where uroced is a service with a store of
 * descriptors (FileDescriptorStoreMax=): no process of ours is needed then. */
#ifndef UR_DEVICE_KEEPER_STORE_H
#define UR_DEVICE_KEEPER_STORE_H

#include <stdbool.h>

/* Returns whether there is such a store: it is used from now on, and what an earlier uroced has
 * left in it can be taken over. Before there are threads, and before uroced is confined. The
 * environment says it: $NOTIFY_SOCKET, $FDSTORE, which systemd sets from version 254 on, and
 * $SYSTEMD_EXEC_PID. */
bool ur_keeper_store_begin(void);

#endif
