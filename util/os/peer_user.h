/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The user at the other end of a Unix socket. */
#ifndef UR_UTIL_OS_PEER_USER_H
#define UR_UTIL_OS_PEER_USER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns whether the process that connected, or listened on, the other end of
 * the socket has this process's effective user. Any thread. */
static inline bool ur_peer_is_own_user(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       peer.uid == geteuid();
}

#endif
