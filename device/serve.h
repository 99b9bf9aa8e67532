/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The threads of connections: each takes its client's messages and answers. */
#ifndef UR_DEVICE_SERVE_H
#define UR_DEVICE_SERVE_H

#include "device/session.h"

/* Serve a new connection; takes sock over; where that
 * fails, it has been refused. Lock held. 0 or -errno. */
int ur_session_start(struct ur_daemon *daemon, int sock);
/* Tell a new connection that it is not served, with that errno, and close it. */
void ur_session_refuse(int sock, int err);
/* Hang up all and wait until they are gone. Lock held. */
void ur_session_stop_all(struct ur_daemon *daemon);

#endif
