/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The threads of connections: each receives its client's messages and replies. */
#ifndef UR_DEVICE_SERVE_H
#define UR_DEVICE_SERVE_H

#include "device/session.h"

#define UR_STOP_NS 500000000ull

/* Serves a new connection. Takes sock over if it returns 0. Returns 0, -EMFILE (the user
 * has too many connections) or another -errno. Lock held. */
int ur_session_start(struct ur_daemon *daemon, int sock);
/* Replies err, an errno, to a new connection that is not served. sock stays the caller's. */
void ur_session_refuse(int sock, int err);
/*
 * Hangs up all connections and waits for their threads, at most UR_STOP_NS. A thread that
 * is blocked by its client is left; its file is closed here, unless a command is using it.
 * Connections that the next uroced continues (engine/ground/keep.h) stay as they are.
 * Returns false if threads are left: the lock must not be released from then on. Lock held.
 */
bool ur_session_stop_all(struct ur_daemon *daemon);

#endif
