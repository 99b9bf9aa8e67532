/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The threads of connections: each takes its client's messages and answers. */
#ifndef UR_DEVICE_SERVE_H
#define UR_DEVICE_SERVE_H

#include "device/session.h"

#define UR_STOP_NS 500000000ull

/* Serves a new connection. Takes sock over if it returns 0. Returns 0, -EMFILE
 * (the user has his part of connections) or another -errno. Lock held. */
int ur_session_start(struct ur_daemon *daemon, int sock);
/* Tells a new connection that it is not served, with that errno. sock stays the
 * caller's. */
void ur_session_refuse(int sock, int err);
/*
 * Hangs up all connections and waits until their threads are gone, UR_STOP_NS
 * at most. A thread that waits for something of its client's stays; its file is
 * closed here, unless a command is working with it. Connections of processes that stay for the next
 * uroced (engine/ground/keep.h) are left as they are. Returns false where threads
 * are left: the lock must not be released from then on. Lock held.
 */
bool ur_session_stop_all(struct ur_daemon *daemon);

#endif
