// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ethernet addresses of neighbours: a small cache of the kernel's neighbour table, read by
 * rtnetlink. A thread asks the kernel, which may hold a request up for as long as anybody changes
 * its network configuration.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/wire/v1/neigh.h"
#include "engine/wire/wire.h"
#include "transport/frame.h"
#include "util/assert.h"
#include "util/os/clock.h"
#include "util/os/high_fd.h"
#include "util/os/thread.h"

#define PLACES 1024u
_Static_assert(UR_IS_POW2(PLACES), "a place is bits of a hash");
/* Interval of requests for a known address; for an unknown one. */
#define KNOWN_NS   100000000ull
#define UNKNOWN_NS 1000000ull
/* Least time between two requests to the kernel to resolve: the same address; any address,
 * since a client may name any number of them. */
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

/* How long a reply is waited for. */
#define ANSWER_MS   1000
#define STACK_BYTES (64u << 10)

struct key {
	u8 gid[16], sgid[16];
	u32 ifindex;
};

struct station {
	u8 mac[6];
	bool known;
};

struct place {
	struct key key;
	struct station is, came; /* came: the last reply */
	u64 came_at;		 /* of struct ur_neigh; 0: "is" has it */
	bool asking;		 /* it is in the queue, or with the thread */
	ur_time asked;		 /* 0: never */
	u64 nudged;		 /* the thread's: when, 0: never */
};

/* RTM_GETNEIGH, for one entry. */
struct question {
	struct nlmsghdr head;
	struct ndmsg of;
	struct rtattr attr;
	u8 address[16];
};

/* The lock guards all but fd, seq and nudged, which are the thread's. */
struct ur_neigh {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int fd;	    /* of rtnetlink */
	int answer; /* eventfd: the thread has changed a place */
	u32 seq;
	u64 nudged;
	/* Replies until now, and those that the engine uses. */
	u64 replies, seen;
	bool ends;
	u32 first, n; /* of the queue */
	u16 queue[PLACES];
	struct place places[PLACES];
	u8 mac[6]; /* that ur_neigh_mac() returned last */
};

int ur_neigh_socket(void)
{
	struct sockaddr_nl at = {.nl_family = AF_NETLINK};
	int fd = ur_high_fd(socket(AF_NETLINK,
				   SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   NETLINK_ROUTE)),
	    err;

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static void free_all(struct ur_neigh *n)
{
	if (n->answer >= 0)
		close(n->answer);
	close(n->fd);
	pthread_cond_destroy(&n->more);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

int ur_neigh_fd(const struct ur_neigh *neigh)
{
	return neigh->answer;
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

/* ---- in the thread ---- */

static bool ask_kernel(struct ur_neigh *n, const struct key *key)
{
	bool v4 = ur_gid_is_v4(key->gid);
	u32 len = v4 ? 4 : 16;
	struct question q = {
		.head = {.nlmsg_len = (u32)(offsetof(struct question, address) +
					    len),
			 .nlmsg_type = RTM_GETNEIGH,
			 .nlmsg_flags = NLM_F_REQUEST,
			 .nlmsg_seq = ++n->seq},
		.of = {.ndm_family = v4 ? AF_INET : AF_INET6,
		       .ndm_ifindex = (int)key->ifindex},
		.attr = {.rta_len = (u16)RTA_LENGTH(len), .rta_type = NDA_DST},
	};

	memcpy(q.address, v4 ? key->gid + 12 : key->gid, len);
	return send(n->fd, &q, q.head.nlmsg_len, 0) >= 0;
}

/* Returns the state of the entry, NUD_*, or 0 if the kernel has none. */
static u32 take_entry(const struct nlmsghdr *h, struct station *to)
{
	const struct ndmsg *entry = NLMSG_DATA(h);
	int left = (int)NLMSG_PAYLOAD(h, sizeof(*entry));
	const struct rtattr *a = (const void *)(entry + 1);

	if (h->nlmsg_type != RTM_NEWNEIGH || left < 0)
		return 0;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == NDA_LLADDR && entry->ndm_state & VALID &&
		    RTA_PAYLOAD(a) == 6) {
			memcpy(to->mac, RTA_DATA(a), 6);
			to->known = true;
		}
	return entry->ndm_state;
}

/* Receives the reply to the last request, with the state of the entry. Returns whether it came. */
static bool take_answer(const struct ur_neigh *n, u32 *state,
			struct station *to)
{
	_Alignas(struct nlmsghdr) u8 buf[2048];
	struct pollfd pfd = {.fd = n->fd, .events = POLLIN};
	struct sockaddr_nl from;

	while (poll(&pfd, 1, ANSWER_MS) > 0) {
		socklen_t len = sizeof(from);
		ssize_t got = recvfrom(n->fd, buf, sizeof(buf), MSG_DONTWAIT,
				       (struct sockaddr *)&from, &len);

		/* Any process can send to this socket; the kernel's port id is 0. */
		if (got < 0 || len < sizeof(from) || from.nl_pid)
			continue;
		for (const struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, got);
		     h = NLMSG_NEXT(h, got))
			if (h->nlmsg_seq == n->seq) {
				*state = take_entry(h, to);
				return true;
			}
	}
	return false;
}

static void resolve(struct ur_neigh *n, const struct key *key, u64 *nudged)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	if ((*nudged && now - *nudged < NUDGE_NS) ||
	    now - n->nudged < NUDGE_GAP_NS)
		return;
	*nudged = n->nudged = now;
	nudge(key->ifindex, key->sgid, key->gid);
}

/* Lock held; it is released meanwhile. */
static void ask(struct ur_neigh *n, struct place *p)
{
	const struct key key = p->key;
	u64 nudged = p->nudged, one = 1;
	struct station got = {.known = false};
	bool came;
	u32 state;

	pthread_mutex_unlock(&n->lock);
	came = ask_kernel(n, &key) && take_answer(n, &state, &got);
	if (came && !(state & SETTLED))
		resolve(n, &key, &nudged);
	pthread_mutex_lock(&n->lock);
	p->asking = false;
	/* Another address may have the place by now. */
	if (!came || memcmp(&p->key, &key, sizeof(key)) != 0)
		return;
	p->nudged = nudged;
	p->came = got;
	p->came_at = ++n->replies;
	if (write(n->answer, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static void *serve(void *arg)
{
	struct ur_neigh *n = arg;

	pthread_mutex_lock(&n->lock);
	while (!n->ends) {
		if (!n->n) {
			pthread_cond_wait(&n->more, &n->lock);
			continue;
		}
		n->n--;
		ask(n, &n->places[n->queue[n->first++ % PLACES]]);
	}
	pthread_mutex_unlock(&n->lock);
	free_all(n);
	return NULL;
}

/* ---- for the engine ---- */

int ur_neigh_create(int fd, struct ur_neigh **neigh)
{
	struct ur_neigh *n = calloc(1, sizeof(*n));
	int err;

	if (!n) {
		close(fd);
		return -ENOMEM;
	}
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->more, NULL);
	n->fd = fd;
	n->answer = ur_high_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	err = n->answer < 0 ? -errno : ur_thread_start(STACK_BYTES, serve, n);
	if (err)
		free_all(n);
	else
		*neigh = n;
	return err;
}

/* The thread may be in a system call that takes long, so it frees all. */
void ur_neigh_destroy(struct ur_neigh *n)
{
	pthread_mutex_lock(&n->lock);
	n->ends = true;
	pthread_cond_signal(&n->more);
	pthread_mutex_unlock(&n->lock);
}

void ur_neigh_update(struct ur_neigh *n)
{
	pthread_mutex_lock(&n->lock);
	n->seen = n->replies;
	pthread_mutex_unlock(&n->lock);
}

void ur_neigh_read(struct ur_neigh *n)
{
	u64 times;

	if (read(n->answer, &times, sizeof(times)) == sizeof(times))
		ur_neigh_update(n);
}

static struct place *find(struct ur_neigh *n, const struct key *key)
{
	u32 h = ur_get_le32(key->gid + 12) * 0x9e3779b1u ^
		ur_get_le32(key->gid + 8) * 0x85ebca6bu;
	struct place *p = &n->places[(h >> 16) & (PLACES - 1)];

	/* A new GID replaces the old one, as do those of a netdev that was made anew. */
	if (memcmp(p->key.gid, key->gid, 16) != 0 ||
	    p->key.ifindex != key->ifindex)
		*p = (struct place){.key = *key, .asking = p->asking};
	return p;
}

static void enqueue(struct ur_neigh *n, const struct place *p)
{
	ur_assert(n->n < PLACES);
	n->queue[(n->first + n->n++) % PLACES] = (u16)(p - n->places);
	pthread_cond_signal(&n->more);
}

const u8 *ur_neigh_mac(struct ur_neigh *n, u32 ifindex, const u8 sgid[16],
		       const u8 dgid[16], ur_time now)
{
	struct key key = {.ifindex = ifindex};
	struct place *p;
	bool known;

	if (ur_gid_is_mcast(dgid)) {
		ur_neigh_mcast_mac(n->mac, dgid);
		return n->mac;
	}
	memcpy(key.gid, dgid, 16);
	memcpy(key.sgid, sgid, 16);
	pthread_mutex_lock(&n->lock);
	p = find(n, &key);
	if (p->came_at && p->came_at <= n->seen) {
		p->is = p->came;
		p->came_at = 0;
	}
	if (!p->asking &&
	    (!p->asked ||
	     now - p->asked >= (p->is.known ? KNOWN_NS : UNKNOWN_NS))) {
		p->asked = now;
		p->asking = true;
		memcpy(p->key.sgid, sgid, 16);
		enqueue(n, p);
	}
	known = p->is.known;
	if (known)
		memcpy(n->mac, p->is.mac, sizeof(n->mac));
	pthread_mutex_unlock(&n->lock);
	return known ? n->mac : NULL;
}
