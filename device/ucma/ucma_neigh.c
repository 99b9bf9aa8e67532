// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queries about neighbours, by rtnetlink: which one the route leads to, and whether its
 * Ethernet address is known. The kernel's reply is available when send() returns. If the
 * first query has no reply, or none that is understood, the neighbour counts as known: the
 * connection attempt decides.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device/ucma/ucma_neigh.h"

/* The entry has an address, as the kernel's NUD_VALID. */
#define VALID                                                                \
	(NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE | \
	 NUD_STALE)
/* The discard port of RFC 863: a host drops datagrams to it. */
#define DISCARD_PORT 9
/* Maximum number of foreign messages before the kernel's reply. */
#define STRANGERS 8

enum said {
	SAID_KNOWN,
	SAID_UNKNOWN,
	SAID_NOTHING,
};

struct neigh_question {
	struct nlmsghdr head;
	union {
		struct rtmsg route;
		struct ndmsg neigh;
	};
	u8 attrs[64];
};
_Static_assert(sizeof(struct rtmsg) == sizeof(struct ndmsg) &&
		       offsetof(struct neigh_question, attrs) ==
			       NLMSG_HDRLEN + sizeof(struct rtmsg),
	       "attributes follow");

struct neigh_answer {
	_Alignas(struct nlmsghdr) u8 bytes[2048];
	const struct nlmsghdr *head;
};

static void add_attr(struct neigh_question *q, u16 type, const void *value,
		     u32 len)
{
	struct rtattr *a = (void *)((u8 *)q + q->head.nlmsg_len);

	a->rta_type = type;
	a->rta_len = (u16)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), value, len);
	q->head.nlmsg_len += RTA_SPACE(len);
}

static struct neigh_question make_question(u16 type)
{
	return (struct neigh_question){
		.head = {.nlmsg_len = offsetof(struct neigh_question, attrs),
			 .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST},
	};
}

static u32 add_gid(struct neigh_question *q, u16 type, const u8 gid[16])
{
	bool v4 = ur_gid_is_v4(gid);
	u32 len = v4 ? 4 : 16;

	add_attr(q, type, v4 ? gid + 12 : gid, len);
	return len * 8;
}

static u8 family_of(const u8 gid[16])
{
	return ur_gid_is_v4(gid) ? AF_INET : AF_INET6;
}

/* Any process can send here; the kernel's port is 0. */
static bool take_answer(int fd, u32 seq, struct neigh_answer *a)
{
	struct sockaddr_nl from;

	for (u32 i = 0; i < STRANGERS; i++) {
		socklen_t len = sizeof(from);
		ssize_t got =
			recvfrom(fd, a->bytes, sizeof(a->bytes), MSG_DONTWAIT,
				 (struct sockaddr *)&from, &len);

		if (got < 0)
			return false;
		a->head = (const void *)a->bytes;
		if (len == sizeof(from) && !from.nl_pid &&
		    NLMSG_OK(a->head, got) && a->head->nlmsg_seq == seq)
			return true;
	}
	return false;
}

static bool ask(struct ucma_asking *asking, struct neigh_question *q,
		struct neigh_answer *a)
{
	q->head.nlmsg_seq = ++asking->questions;
	return send(asking->fd, q, q->head.nlmsg_len, 0) >= 0 &&
	       take_answer(asking->fd, q->head.nlmsg_seq, a);
}

static void copy_address(u8 gid[16], const void *from, size_t len)
{
	if (len == 4)
		ur_gid_from_v4(gid, from);
	else if (len == 16)
		memcpy(gid, from, 16);
}

/* RTA_VIA: a router of the other family. */
static void copy_via(u8 gid[16], const struct rtattr *a)
{
	const struct rtvia *via = RTA_DATA(a);

	if (RTA_PAYLOAD(a) > sizeof(*via))
		copy_address(gid, via->rtvia_addr,
			     RTA_PAYLOAD(a) - sizeof(*via));
}

static enum said read_route(struct ucma_hop_query *query,
			    const struct nlmsghdr *h)
{
	const struct rtmsg *r = NLMSG_DATA(h);
	int left = (int)NLMSG_PAYLOAD(h, sizeof(*r));

	if (h->nlmsg_type != RTM_NEWROUTE || left < 0)
		return SAID_NOTHING;
	if (r->rtm_type != RTN_UNICAST)
		return SAID_KNOWN;
	memcpy(query->hop, query->dgid, 16);
	for (const struct rtattr *a = RTM_RTA(r); RTA_OK(a, left);
	     a = RTA_NEXT(a, left)) {
		if (a->rta_type == RTA_GATEWAY)
			copy_address(query->hop, RTA_DATA(a), RTA_PAYLOAD(a));
		else if (a->rta_type == RTA_VIA)
			copy_via(query->hop, a);
		else if (a->rta_type == RTA_OIF &&
			 RTA_PAYLOAD(a) == sizeof(query->hop_ifindex))
			memcpy(&query->hop_ifindex, RTA_DATA(a),
			       sizeof(query->hop_ifindex));
	}
	return query->hop_ifindex ? SAID_UNKNOWN : SAID_NOTHING;
}

/* Finds the neighbour. Returns SAID_UNKNOWN if there is one. */
static enum said find_hop(struct ucma_asking *asking,
			  struct ucma_hop_query *query)
{
	struct neigh_question q = make_question(RTM_GETROUTE);
	struct neigh_answer a;

	if (query->on_link) {
		query->hop_ifindex = query->on_link;
		memcpy(query->hop, query->dgid, 16);
		return SAID_UNKNOWN;
	}
	q.route.rtm_family = family_of(query->dgid);
	q.route.rtm_dst_len = (u8)add_gid(&q, RTA_DST, query->dgid);
	q.route.rtm_src_len = (u8)add_gid(&q, RTA_SRC, query->sgid);
	if (query->scope)
		add_attr(&q, RTA_OIF, &query->scope, sizeof(query->scope));
	return ask(asking, &q, &a) ? read_route(query, a.head) : SAID_NOTHING;
}

static enum said read_entry(const struct nlmsghdr *h)
{
	const struct nlmsgerr *error = NLMSG_DATA(h);
	const struct ndmsg *entry = NLMSG_DATA(h);

	if (h->nlmsg_type == NLMSG_ERROR &&
	    NLMSG_PAYLOAD(h, 0) >= sizeof(*error))
		return error->error == -ENOENT ? SAID_UNKNOWN : SAID_NOTHING;
	if (h->nlmsg_type != RTM_NEWNEIGH ||
	    NLMSG_PAYLOAD(h, 0) < sizeof(*entry))
		return SAID_NOTHING;
	return entry->ndm_state & VALID ? SAID_KNOWN : SAID_UNKNOWN;
}

static enum said find_entry(struct ucma_asking *asking,
			    const struct ucma_hop_query *query)
{
	struct neigh_question q = make_question(RTM_GETNEIGH);
	struct neigh_answer a;

	q.neigh.ndm_family = family_of(query->hop);
	q.neigh.ndm_ifindex = (int)query->hop_ifindex;
	add_gid(&q, NDA_DST, query->hop);
	return ask(asking, &q, &a) ? read_entry(a.head) : SAID_NOTHING;
}

/* The neighbours of a tunnel are in no table. */
static enum said look_at_netdev(u32 ifindex)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	enum said said = SAID_NOTHING;
	struct ifreq name = {0};

	if (fd < 0)
		return said;
	if (if_indextoname(ifindex, name.ifr_name) &&
	    ioctl(fd, SIOCGIFFLAGS, &name) >= 0)
		said = name.ifr_flags & (IFF_NOARP | IFF_LOOPBACK |
					 IFF_POINTOPOINT)
			       ? SAID_KNOWN
			       : SAID_UNKNOWN;
	close(fd);
	return said;
}

bool ucma_neigh_known(struct ucma_asking *asking, struct ucma_hop_query *query)
{
	bool had_hop = query->hop_ifindex;
	enum said said = SAID_NOTHING;

	pthread_mutex_lock(&asking->lock);
	if (asking->fd >= 0)
		said = find_hop(asking, query);
	if (said == SAID_UNKNOWN)
		said = find_entry(asking, query);
	pthread_mutex_unlock(&asking->lock);
	if (said == SAID_UNKNOWN)
		said = look_at_netdev(query->hop_ifindex);
	return said == SAID_NOTHING ? !had_hop : said == SAID_KNOWN;
}

static void make_address(union ur_sa *sa, const u8 gid[16], u16 port, u32 scope)
{
	ucma_sa_from_gid(sa, ur_gid_is_v4(gid) ? 4 : 6, gid, port);
	if (sa->sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&sa->in6.sin6_addr))
		sa->in6.sin6_scope_id = scope;
}

/* Sends a datagram without a reader, with hop limit 1. */
bool ucma_neigh_nudge(const struct ucma_hop_query *query)
{
	bool v4 = ur_gid_is_v4(query->dgid);
	union ur_sa from, to;
	int fd = socket(family_of(query->dgid),
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;
	bool forbidden;

	if (fd < 0)
		return true;
	make_address(&from, query->sgid, 0, query->scope);
	make_address(&to, query->dgid, DISCARD_PORT, query->scope);
	setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		   v4 ? IP_TTL : IPV6_UNICAST_HOPS, &one, sizeof(one));
	forbidden = !bind(fd, &from.sa, ucma_sa_size(&from)) &&
		    sendto(fd, NULL, 0, 0, &to.sa, ucma_sa_size(&to)) < 0 &&
		    errno == EPERM;
	close(fd);
	return !forbidden;
}

bool ucma_neigh_event(const struct nlmsghdr *h, u32 *ifindex, u8 hop[16])
{
	const struct ndmsg *entry = NLMSG_DATA(h);
	int left = (int)NLMSG_PAYLOAD(h, sizeof(*entry));
	const struct rtattr *a = (const void *)(entry + 1);

	if (h->nlmsg_type != RTM_NEWNEIGH || left < 0 ||
	    !(entry->ndm_state & VALID))
		return false;
	*ifindex = (u32)entry->ndm_ifindex;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type != NDA_DST ||
		    RTA_PAYLOAD(a) != (entry->ndm_family == AF_INET ? 4 : 16))
			continue;
		copy_address(hop, RTA_DATA(a), RTA_PAYLOAD(a));
		return true;
	}
	return false;
}
