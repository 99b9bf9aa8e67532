// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Resolves names, addresses and GIDs of other hosts. */
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "cli/command.h"
#include "cli/peer.h"

/* Converts the GID of an IPv4 address: ::ffff:10.0.0.1 to 10.0.0.1. */
static void unmap(struct ur_peer *peer)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in = {.sin_family = AF_INET};

	memcpy(&in6, &peer->addr, sizeof(in6));
	if (in6.sin6_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return;
	memcpy(&in.sin_addr, in6.sin6_addr.s6_addr + 12, 4);
	memset(&peer->addr, 0, sizeof(peer->addr));
	memcpy(&peer->addr, &in, sizeof(in));
	peer->size = sizeof(in);
}

int ur_peer_find(struct ur_peer *peer, const char *name)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *list;
	/* getaddrinfo() takes an empty name for any address. */
	int err = *name ? getaddrinfo(name, NULL, &hints, &list) : EAI_NONAME;

	if (err) {
		ur_complain("%s: %s", name, gai_strerror(err));
		return -ENOENT;
	}
	memcpy(&peer->addr, list->ai_addr, list->ai_addrlen);
	peer->size = list->ai_addrlen;
	freeaddrinfo(list);
	unmap(peer);
	getnameinfo((struct sockaddr *)&peer->addr, peer->size, peer->text,
		    sizeof(peer->text), NULL, 0, NI_NUMERICHOST);
	return 0;
}

void ur_peer_gid(const struct ur_peer *peer, uint8_t gid[16])
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	if (peer->addr.ss_family == AF_INET6) {
		memcpy(&in6, &peer->addr, sizeof(in6));
		memcpy(gid, &in6.sin6_addr, 16);
		return;
	}
	memcpy(&in, &peer->addr, sizeof(in));
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, &in.sin_addr, 4);
}
