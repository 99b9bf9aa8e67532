/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The descriptor store of systemd (FileDescriptorStoreMax=) in place of the keeper process,
 * where uroced is a service that has one. */
#ifndef UR_DEVICE_KEEPER_STORE_H
#define UR_DEVICE_KEEPER_STORE_H

#include <stdbool.h>

/* Returns whether there is a store. If so it is used from now on, and descriptors that an
 * earlier uroced left in it are available. Called before there are threads, and before
 * uroced is confined. Decides by the environment: $NOTIFY_SOCKET, $FDSTORE (systemd 254 on)
 * and $SYSTEMD_EXEC_PID. */
bool ur_keeper_store_begin(void);

#endif
