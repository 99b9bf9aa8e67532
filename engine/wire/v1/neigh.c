// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ethernet addresses of neighbours: a small cache of the kernel's neighbour table, read by
 * rtnetlink. Never waits for a reply: mostly it is there as soon as the request was sent. A
 * late one is matched by its sequence number.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/wire/v1/neigh.h"
#include "engine/wire/wire.h"
#include "transport/frame.h"
#include "util/os/high_fd.h"

#define PLACES 1024u
_Static_assert(UR_IS_POW2(PLACES), "a place is bits of a hash");
/* Interval of requests for a known address; for an unknown one. */
#define KNOWN_NS   100000000ull
#define UNKNOWN_NS 1000000ull
/* Least time between two starts of resolving: of one address; of any two, since a
 * client may name any number of addresses. */
#define NUDGE_NS     1000000000ull
#define NUDGE_GAP_NS 200000ull
/* The discard port of RFC 863. */
#define DISCARD_PORT 9
/* States in which the kernel trusts its entry, or is resolving already. */
#define SETTLED                                                              \
	(NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE | \
	 NUD_INCOMPLETE)
/* States in which the entry has an address. */
#define VALID                                                                \
	(NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE | \
	 NUD_STALE)

/* Most replies read at once; there are no more than requests. */
#define ANSWERS 64

struct place {
	u8 gid[16], sgid[16];
	u8 mac[6];
	bool known;
	u32 seq;	       /* of the request without a reply; 0: none */
	ur_time asked, nudged; /* 0: never */
};

/* RTM_GETNEIGH, for one entry. */
struct question {
	struct nlmsghdr head;
	struct ndmsg of;
	struct rtattr attr;
	u8 address[16];
};

struct ur_neigh {
	int fd;
	u32 port; /* our netlink port id */
	u32 asked;
	u32 ifindex;
	ur_time nudged;
	u8 mcast[6];
	struct place places[PLACES];
};

static int open_socket(struct ur_neigh *n)
{
	struct sockaddr_nl at = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(at);

	n->fd = ur_high_fd(socket(AF_NETLINK,
				  SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
				  NETLINK_ROUTE));
	if (n->fd < 0 || bind(n->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    getsockname(n->fd, (struct sockaddr *)&at, &len) < 0)
		return -errno;
	n->port = at.nl_pid;
	return 0;
}

int ur_neigh_create(struct ur_neigh **neigh)
{
	struct ur_neigh *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	err = open_socket(n);
	if (err)
		ur_neigh_destroy(n);
	else
		*neigh = n;
	return err;
}

void ur_neigh_destroy(struct ur_neigh *neigh)
{
	if (neigh->fd >= 0)
		close(neigh->fd);
	free(neigh);
}

int ur_neigh_fd(const struct ur_neigh *neigh)
{
	return neigh->fd;
}

void ur_neigh_mcast_mac(u8 mac[6], const u8 gid[16])
{
	if (ur_gid_is_v4(gid)) {
		mac[0] = 0x01;
		mac[1] = 0x00;
		mac[2] = 0x5e;
		mac[3] = gid[13] & 0x7f;
	} else {
		mac[0] = mac[1] = 0x33;
		mac[2] = gid[12];
		mac[3] = gid[13];
	}
	mac[4] = gid[14];
	mac[5] = gid[15];
}

/* Makes the kernel resolve dgid, by sending a datagram to its discard port that goes no
 * further than the neighbour. */
static void nudge(u32 ifindex, const u8 *sgid, const u8 *dgid)
{
	bool v4 = ur_gid_is_v4(dgid);
	union ur_sockaddr from, to;
	socklen_t len = ur_sockaddr_of(&to, dgid, DISCARD_PORT, ifindex);
	int fd = socket(to.sa.sa_family,
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (fd < 0)
		return;
	ur_sockaddr_of(&from, sgid, 0, ifindex);
	setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		   v4 ? IP_TTL : IPV6_UNICAST_HOPS, &one, sizeof(one));
	if (!v4 || !bind(fd, &from.sa, len))
		sendto(fd, NULL, 0, 0, &to.sa, len);
	close(fd);
}

/* Sends a request. The lower bits of its sequence number are the index of the place. */
static void ask_kernel(struct ur_neigh *n, struct place *p)
{
	bool v4 = ur_gid_is_v4(p->gid);
	u32 len = v4 ? 4 : 16;
	struct question q = {
		.head = {.nlmsg_len = (u32)(offsetof(struct question, address) +
					    len),
			 .nlmsg_type = RTM_GETNEIGH,
			 .nlmsg_flags = NLM_F_REQUEST},
		.of = {.ndm_family = v4 ? AF_INET : AF_INET6,
		       .ndm_ifindex = (int)n->ifindex},
		.attr = {.rta_len = (u16)RTA_LENGTH(len), .rta_type = NDA_DST},
	};

	do
		p->seq = ++n->asked * PLACES + (u32)(p - n->places);
	while (!p->seq);
	q.head.nlmsg_seq = p->seq;
	memcpy(q.address, v4 ? p->gid + 12 : p->gid, len);
	if (send(n->fd, &q, q.head.nlmsg_len, 0) < 0)
		p->seq = 0; /* the request is repeated after a while */
}

/* Returns the state of the entry, NUD_*, or 0 if the kernel has none. */
static u32 take_entry(struct place *p, const struct nlmsghdr *h)
{
	const struct ndmsg *entry = NLMSG_DATA(h);
	int left = (int)NLMSG_PAYLOAD(h, sizeof(*entry));
	const struct rtattr *a = (const void *)(entry + 1);

	p->known = false;
	if (h->nlmsg_type != RTM_NEWNEIGH || left < 0)
		return 0;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == NDA_LLADDR && entry->ndm_state & VALID &&
		    RTA_PAYLOAD(a) == sizeof(p->mac)) {
			memcpy(p->mac, RTA_DATA(a), sizeof(p->mac));
			p->known = true;
		}
	return entry->ndm_state;
}

static void take_answer(struct ur_neigh *n, const struct nlmsghdr *h,
			ur_time now)
{
	struct place *p = &n->places[h->nlmsg_seq & (PLACES - 1)];

	if (h->nlmsg_pid != n->port || !p->seq || h->nlmsg_seq != p->seq)
		return;
	p->seq = 0;
	if (!(take_entry(p, h) & SETTLED) &&
	    (!p->nudged || now - p->nudged >= NUDGE_NS) &&
	    now - n->nudged >= NUDGE_GAP_NS) {
		p->nudged = n->nudged = now;
		nudge(n->ifindex, p->sgid, p->gid);
	}
}

void ur_neigh_read(struct ur_neigh *n, ur_time now)
{
	_Alignas(struct nlmsghdr) u8 buf[2048];
	struct sockaddr_nl from;

	for (u32 i = 0; i < ANSWERS; i++) {
		socklen_t len = sizeof(from);
		ssize_t got = recvfrom(n->fd, buf, sizeof(buf), MSG_DONTWAIT,
				       (struct sockaddr *)&from, &len);

		if (got < 0 && errno != ENOBUFS && errno != EINTR)
			return;
		/* Any process can send to this socket; the kernel's port id is 0. */
		if (got < 0 || len < sizeof(from) || from.nl_pid)
			continue;
		for (const struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, got);
		     h = NLMSG_NEXT(h, got))
			take_answer(n, h, now);
	}
}

const u8 *ur_neigh_mac(struct ur_neigh *n, u32 ifindex, const u8 sgid[16],
		       const u8 dgid[16], ur_time now)
{
	u32 h = ur_get_le32(dgid + 12) * 0x9e3779b1u ^
		ur_get_le32(dgid + 8) * 0x85ebca6bu;
	struct place *p = &n->places[(h >> 16) & (PLACES - 1)];

	if (ur_gid_is_mcast(dgid)) {
		ur_neigh_mcast_mac(n->mcast, dgid);
		return n->mcast;
	}
	if (n->ifindex != ifindex) { /* the netdev was made anew */
		memset(n->places, 0, sizeof(n->places));
		n->ifindex = ifindex;
	}
	if (memcmp(p->gid, dgid, 16)) { /* a new GID replaces the old one */
		memset(p, 0, sizeof(*p));
		memcpy(p->gid, dgid, 16);
	}
	if (!p->asked || now - p->asked >= (p->known ? KNOWN_NS : UNKNOWN_NS)) {
		p->asked = now;
		memcpy(p->sgid, sgid, 16);
		ask_kernel(n, p);
		ur_neigh_read(n, now);
	}
	return p->known ? p->mac : NULL;
}
