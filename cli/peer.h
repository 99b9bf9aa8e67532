/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Another host, given by name or address. */
#ifndef UR_CLI_PEER_H
#define UR_CLI_PEER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

/* A GID of an IPv4 address is stored as IPv4. */
struct ur_peer {
	struct sockaddr_storage addr;
	socklen_t size;
	char text[INET6_ADDRSTRLEN + 16];
};

/* Resolves a name, an address or a GID. Returns 0, or -ENOENT after a message on stderr. */
int ur_peer_find(struct ur_peer *peer, const char *name);

/* Makes the GID of the peer's address. */
void ur_peer_gid(const struct ur_peer *peer, uint8_t gid[16]);

#endif
