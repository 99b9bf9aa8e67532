// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ethernet addresses of neighbours: a small cache in front of the kernel's
 * neighbour table, asked by rtnetlink, which also makes the kernel resolve.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/netlink.h>
#include <netlink/route/neighbour.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/wire/v1/neigh.h"
#include "engine/wire/wire.h"
#include "transport/frame.h"

#define PLACES 1024u
_Static_assert(UR_IS_POW2(PLACES), "a place is bits of a hash");
/* An address is asked for again after this long, and where there was none,
 * after that. */
#define KNOWN_NS   100000000ull
#define UNKNOWN_NS 1000000ull
/* Resolving is started anew after this long, and for any address not before
 * that: a client may name as many as it likes. */
#define NUDGE_NS     1000000000ull
#define NUDGE_GAP_NS 200000ull
/* The discard port of RFC 863: a host that has it throws datagrams away. */
#define DISCARD_PORT 9
/* The kernel trusts its entry, or is about to find out by itself. */
#define SETTLED                                                              \
	(NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE | \
	 NUD_INCOMPLETE)
/* The entry has an address. */
#define VALID                                                                \
	(NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE | \
	 NUD_STALE)

struct place {
	u8 gid[16];
	u8 mac[6];
	bool known;
	ur_time asked, nudged; /* 0: never */
};

struct ur_neigh {
	struct nl_sock *nl;
	u32 ifindex;
	ur_time nudged;
	u8 mcast[6];
	struct place places[PLACES];
};

int ur_neigh_create(struct ur_neigh **neigh)
{
	struct ur_neigh *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->nl = nl_socket_alloc();
	if (!n->nl || nl_connect(n->nl, NETLINK_ROUTE) < 0) {
		ur_neigh_destroy(n);
		return -ENOMEM;
	}
	/* One message answers each question, an entry or an error. */
	nl_socket_disable_auto_ack(n->nl);
	*neigh = n;
	return 0;
}

void ur_neigh_destroy(struct ur_neigh *neigh)
{
	nl_socket_free(neigh->nl);
	free(neigh);
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

/* A datagram that nobody reads, no further than the neighbour: the kernel
 * resolves for it. */
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

struct answer {
	struct place *place;
	int state; /* NUD_* */
};

static int take_neighbour(struct nl_msg *msg, void *arg)
{
	struct answer *a = arg;
	struct rtnl_neigh *entry;
	struct nl_addr *mac;

	if (rtnl_neigh_parse(nlmsg_hdr(msg), &entry) < 0)
		return NL_SKIP;
	mac = rtnl_neigh_get_lladdr(entry);
	a->state = rtnl_neigh_get_state(entry);
	if (a->state > 0 && a->state & VALID && mac &&
	    nl_addr_get_len(mac) == sizeof(a->place->mac)) {
		memcpy(a->place->mac, nl_addr_get_binary_addr(mac),
		       sizeof(a->place->mac));
		a->place->known = true;
	}
	rtnl_neigh_put(entry);
	return NL_OK;
}

/* One entry of the kernel's table; its state, 0 where it has none. */
static int ask_kernel(struct ur_neigh *n, struct place *p)
{
	bool v4 = ur_gid_is_v4(p->gid);
	struct ndmsg head = {.ndm_family = v4 ? AF_INET : AF_INET6,
			     .ndm_ifindex = (int)n->ifindex};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETNEIGH, NLM_F_REQUEST);
	struct answer a = {.place = p};

	p->known = false;
	if (!msg)
		return 0;
	if (!nlmsg_append(msg, &head, sizeof(head), NLMSG_ALIGNTO) &&
	    !nla_put(msg, NDA_DST, v4 ? 4 : 16, v4 ? p->gid + 12 : p->gid) &&
	    !nl_socket_modify_cb(n->nl, NL_CB_VALID, NL_CB_CUSTOM,
				 take_neighbour, &a) &&
	    nl_send_auto(n->nl, msg) >= 0)
		nl_recvmsgs_default(n->nl);
	nlmsg_free(msg);
	return a.state;
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
	if (memcmp(p->gid, dgid, 16)) { /* a newcomer takes the place over */
		memset(p, 0, sizeof(*p));
		memcpy(p->gid, dgid, 16);
	}
	if (!p->asked || now - p->asked >= (p->known ? KNOWN_NS : UNKNOWN_NS)) {
		p->asked = now;
		if (!(ask_kernel(n, p) & SETTLED) &&
		    (!p->nudged || now - p->nudged >= NUDGE_NS) &&
		    now - n->nudged >= NUDGE_GAP_NS) {
			p->nudged = n->nudged = now;
			nudge(ifindex, sgid, dgid);
		}
	}
	return p->known ? p->mac : NULL;
}
