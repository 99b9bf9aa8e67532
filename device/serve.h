/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The threads of connections: each takes its client's messages and answers. */
#ifndef UR_DEVICE_SERVE_H
#define UR_DEVICE_SERVE_H

#include "device/session.h"

#define UR_STOP_NS 500000000ull

/* Serve a new connection; takes sock over if it returns 0. -EMFILE: the user has
 * his part of them. Lock held. */
int ur_session_start(struct ur_daemon *daemon, int sock);
/* Tell a new connection that it is not served, with that errno. */
void ur_session_refuse(int sock, int err);
/*
 * Hang up all and wait until their threads are gone, UR_STOP_NS at most: one that
 * waits for something of its client's stays. Its file is closed here, unless a
 * command is in the middle of working with it. Lock held. False: threads are
 * left, and from now on the lock must not be let go of.
 */
bool ur_session_stop_all(struct ur_daemon *daemon);

#endif
