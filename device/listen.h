/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The socket in the run directory. */
#ifndef UR_DEVICE_LISTEN_H
#define UR_DEVICE_LISTEN_H

#include "device/device.h"

/* Make the run directory ours. -EBUSY: another uroced serves it. */
int ur_listen_lock(struct ur_daemon *daemon);
/* The socket, with its group; nobody is accepted yet. */
int ur_listen_bind(struct ur_daemon *daemon);
/* Accept clients from now on. */
int ur_listen_start(struct ur_daemon *daemon);
/* Remove the socket; no new clients. */
void ur_listen_stop(struct ur_daemon *daemon);

#endif
