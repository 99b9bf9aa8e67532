// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ids whose address is being resolved. For each the kernel is queried, without the control
 * lock. When the kernel resolves a neighbour, an event reaches all ids that wait for it.
 * Since events may be lost, the ids also query again from time to time until their timeout.
 * A neighbour that was known a moment ago is not queried.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "device/ucma/ucma_neigh.h"
#include "util/assert.h"

#define MS 1000000ull
/* How long a known neighbour is not queried again. */
#define KNOWN_NS (100 * MS)
/* Time to an id's second query, and the interval afterwards, after which the kernel is also
 * made to resolve again. */
#define SECOND_NS (50 * MS)
#define AGAIN_NS  (1000 * MS)
/* Minimum interval of the timer, and ids that query each time. */
#define TICK_NS (10 * MS)
#define BATCH	16u
/* Messages read at a time. */
#define EVENTS 64

#define ENTRIES 256u

struct hop_entry {
	u8 dgid[16], sgid[16];
	u32 scope, on_link;
	u64 known_until, nudged; /* 0: never */
};

struct ucma_hops {
	struct ur_ucma *ucma;
	const struct ucma_hop_ops *ops;
	struct ur_list waiting; /* ids */
	struct ur_loop_timer timer;
	int events;   /* socket for neighbour events; -1: none */
	bool watches; /* subscribed to events */
	struct ucma_asking asking;
	u64 questions;
	struct hop_entry entries[ENTRIES];
};

struct hop_asker {
	u32 number;   /* of the id */
	u64 question; /* matches ucma_id.question if still current */
	struct ucma_hop_query query;
	bool nudges, known;
};

struct hop_question {
	struct ur_loop_after after;
	struct ucma_hops *hops;
	u32 n;
	struct hop_asker asker[BATCH];
};

static struct ucma_hops *hops_of(const struct ucma_id *id)
{
	return ucma_of(id->file)->hops;
}

/* ---- cache of known neighbours ---- */

static struct ucma_hop_query query_of(const struct ucma_id *id)
{
	struct ucma_hop_query query = {0};

	memcpy(query.dgid, id->dgid, 16);
	memcpy(query.sgid, id->sgid, 16);
	if (id->dst.sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&id->dst.in6.sin6_addr))
		query.scope = id->dst.in6.sin6_scope_id
				      ? id->dst.in6.sin6_scope_id
				      : id->dev->ifindex;
	if (id->dev->cm_v1)
		query.on_link = id->dev->ifindex;
	return query;
}

/* A colliding entry is replaced. */
static struct hop_entry *entry_of(struct ucma_hops *hops,
				  const struct ucma_hop_query *w)
{
	u32 h = ur_get_le32(w->dgid + 12) * 0x9e3779b1u ^
		ur_get_le32(w->dgid + 8) * 0x85ebca6bu;
	struct hop_entry *p = &hops->entries[(h >> 16) & (ENTRIES - 1)];

	if (memcmp(p->dgid, w->dgid, 16) || memcmp(p->sgid, w->sgid, 16) ||
	    p->scope != w->scope || p->on_link != w->on_link) {
		*p = (struct hop_entry){.scope = w->scope,
					.on_link = w->on_link};
		memcpy(p->dgid, w->dgid, 16);
		memcpy(p->sgid, w->sgid, 16);
	}
	return p;
}

static void end_wait(struct ucma_id *id, int status)
{
	ur_list_del(&id->waiting);
	hops_of(id)->ops->resolved(id, status);
}

/* ---- events ---- */

static void neighbour_known(struct ucma_hops *hops, const struct nlmsghdr *h)
{
	u32 ifindex;
	u8 hop[16];

	if (!ucma_neigh_event(h, &ifindex, hop))
		return;
	ur_list_for_each_safe(n, &hops->waiting) {
		struct ucma_id *id = ur_list_entry(n, struct ucma_id, waiting);

		if (id->hop_ifindex == ifindex && !memcmp(id->hop, hop, 16))
			end_wait(id, 0);
	}
}

static void on_events(void *arg, u32 events)
{
	_Alignas(struct nlmsghdr) u8 buf[8192];
	struct ucma_hops *hops = arg;
	struct sockaddr_nl from;

	for (u32 i = 0; i < EVENTS; i++) {
		socklen_t len = sizeof(from);
		ssize_t got =
			recvfrom(hops->events, buf, sizeof(buf), MSG_DONTWAIT,
				 (struct sockaddr *)&from, &len);

		if (got < 0 && errno != ENOBUFS && errno != EINTR)
			break;
		/* Any process can send here; 0 is the kernel. */
		if (got < 0 || len < sizeof(from) || from.nl_pid)
			continue;
		for (const struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, got);
		     h = NLMSG_NEXT(h, got))
			neighbour_known(hops, h);
	}
	hops->ops->resolved_all(hops->ucma);
}

/* Subscribes to neighbour events. If that fails, ids still query from time to time. */
static void watch(struct ucma_hops *hops, bool watches)
{
	int group = RTNLGRP_NEIGH;

	if (hops->events >= 0 && hops->watches != watches &&
	    !setsockopt(hops->events, SOL_NETLINK,
			watches ? NETLINK_ADD_MEMBERSHIP
				: NETLINK_DROP_MEMBERSHIP,
			&group, sizeof(group)))
		hops->watches = watches;
}

/* Binds the socket: the kernel delivers no group event to a port of 0, which it takes for
 * the sender's. */
static int open_route_socket(void)
{
	const struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	int err,
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (!bind(fd, (const struct sockaddr *)&any, sizeof(any)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int ur_ucma_open_netlink(struct ur_daemon *daemon)
{
	struct ucma_hops *hops = ((struct ur_ucma *)daemon->cm)->hops;

	hops->events = open_route_socket();
	if (hops->events < 0)
		return hops->events;
	hops->asking.fd = open_route_socket();
	if (hops->asking.fd < 0)
		return hops->asking.fd;
	return ur_loop_add(daemon->loop, hops->events, EPOLLIN, on_events,
			   hops);
}

/* ---- queries ---- */

static void arm(struct ucma_hops *hops, u64 at)
{
	u64 soonest = ur_loop_now() + TICK_NS;

	if (at < soonest)
		at = soonest;
	if (!hops->timer.deadline_ns || at < hops->timer.deadline_ns)
		ur_loop_timer_set(hops->ucma->daemon->loop, &hops->timer, at);
}

static void wait_on(struct ucma_id *id, u64 now)
{
	bool is_second = !id->hop_ifindex;

	id->ask_at = now + (is_second ? SECOND_NS : AGAIN_NS);
	arm(hops_of(id), ur_min_u64(id->ask_at, id->resolve_until));
}

/* The id may be gone, or its number reused. */
static void take_answer(struct ucma_hops *hops, const struct hop_asker *a,
			u64 now)
{
	struct ucma_id *id = hops->ucma->ids.slot[a->number];

	if (a->known) {
		struct hop_entry *p = entry_of(hops, &a->query);

		p->known_until = now + KNOWN_NS;
		p->nudged = 0;
	}
	if (!id || id->question != a->question || ur_list_empty(&id->waiting))
		return;
	if (a->known) {
		end_wait(id, 0);
	} else if (id->resolve_until <= now) {
		end_wait(id, -ETIMEDOUT);
	} else {
		wait_on(id, now);
		id->hop_ifindex = a->query.hop_ifindex;
		memcpy(id->hop, a->query.hop, 16);
	}
}

static void ask(struct ur_loop_after *after)
{
	struct hop_question *q =
		ur_container_of(after, struct hop_question, after);
	struct ucma_hops *hops = q->hops;
	struct ur_loop *loop = hops->ucma->daemon->loop;

	for (u32 i = 0; i < q->n; i++) {
		struct hop_asker *a = &q->asker[i];

		a->known = ucma_neigh_known(&hops->asking, &a->query) ||
			   (a->nudges && !ucma_neigh_nudge(&a->query));
	}
	ur_loop_lock(loop);
	for (u32 i = 0; i < q->n; i++)
		take_answer(hops, &q->asker[i], ur_loop_now());
	hops->ops->resolved_all(hops->ucma);
	ur_loop_unlock(loop);
	free(q);
}

static void add_asker(struct hop_question *q, struct ucma_id *id, u64 now)
{
	struct hop_asker *a = &q->asker[q->n++];
	struct hop_entry *p;

	ur_assert(q->n <= BATCH);
	*a = (struct hop_asker){.number = id->number,
				.question = id->question = ++q->hops->questions,
				.query = query_of(id)};
	a->query.hop_ifindex = id->hop_ifindex;
	p = entry_of(q->hops, &a->query);
	a->nudges = !p->nudged || now - p->nudged >= AGAIN_NS;
	if (a->nudges)
		p->nudged = now;
}

static struct hop_question *make_question(struct ucma_hops *hops)
{
	struct hop_question *q = calloc(1, sizeof(*q));

	if (q)
		q->hops = hops;
	return q;
}

static void send_question(struct hop_question *q)
{
	ur_loop_after(q->hops->ucma->daemon->loop, &q->after, ask);
}

/* ---- time ---- */

/* Ids that have waited longest query first; the list is in that order. */
static struct hop_question *ask_again(struct ucma_hops *hops,
				      struct ucma_id *id,
				      struct hop_question *q, u64 now)
{
	if (!q)
		q = make_question(hops);
	if (!q || q->n == BATCH)
		return q;
	add_asker(q, id, now);
	/* take_answer() sets the next time. */
	id->ask_at = UINT64_MAX;
	ur_list_del(&id->waiting);
	ur_list_add_tail(&hops->waiting, &id->waiting);
	return q;
}

static void on_tick(void *arg)
{
	struct ucma_hops *hops = arg;
	u64 now = ur_loop_now(), next = UINT64_MAX;
	struct ur_list *last = hops->waiting.prev;
	struct hop_question *q = NULL;
	bool is_last = ur_list_empty(&hops->waiting);

	for (struct ur_list *n = hops->waiting.next, *after; !is_last;
	     n = after) {
		struct ucma_id *id = ur_list_entry(n, struct ucma_id, waiting);

		after = n->next;
		is_last = n == last; /* those behind it have just queried */
		if (id->resolve_until <= now) {
			end_wait(id, -ETIMEDOUT);
			continue;
		}
		if (id->ask_at <= now)
			q = ask_again(hops, id, q, now);
		next = ur_min_u64(next,
				  ur_min_u64(id->ask_at, id->resolve_until));
	}
	if (q)
		send_question(q);
	if (ur_list_empty(&hops->waiting))
		watch(hops, false);
	else
		arm(hops, ur_min_u64(next, now + AGAIN_NS));
	hops->ops->resolved_all(hops->ucma);
}

/* ---- ids ---- */

static void begin_to_wait(struct ucma_id *id, u64 until)
{
	struct ucma_hops *hops = hops_of(id);

	id->state = UCMA_ADDR_QUERY;
	id->resolve_until = until;
	id->hop_ifindex = 0;
	ur_list_add_tail(&hops->waiting, &id->waiting);
	watch(hops, true);
	/* The timer also ends the subscription. */
	arm(hops, ur_min_u64(until, ur_loop_now() + AGAIN_NS));
}

static bool is_known(struct ucma_id *id, u64 now)
{
	struct ucma_hop_query query = query_of(id);
	u32 index;

	return ucma_sa_loopback(&id->dst) || ur_gid_is_mcast(id->dgid) ||
	       ucma_device_of(id->file->daemon, id->dgid, 0, &index) ||
	       entry_of(hops_of(id), &query)->known_until > now;
}

int ucma_hop_resolve(struct ucma_id *id, u32 timeout_ms)
{
	u64 now = ur_loop_now();
	struct hop_question *q;

	if (is_known(id, now)) {
		end_wait(id, 0);
		return 0;
	}
	q = make_question(hops_of(id));
	if (!q)
		return -ENOMEM;
	/* A negative timeout is infinite, as in the kernel. */
	begin_to_wait(id, timeout_ms > INT32_MAX ? UINT64_MAX
						 : now + timeout_ms * MS);
	id->ask_at = UINT64_MAX;
	add_asker(q, id, now);
	send_question(q);
	return 0;
}

void ucma_hop_recover(struct ucma_id *id)
{
	begin_to_wait(id, id->resolve_until);
	id->ask_at = 0;
	arm(hops_of(id), 0);
}

struct ucma_hops *ucma_hops_create(struct ur_ucma *ucma,
				   const struct ucma_hop_ops *ops)
{
	struct ucma_hops *hops = calloc(1, sizeof(*hops));

	if (!hops)
		return NULL;
	hops->ucma = ucma;
	hops->ops = ops;
	hops->events = hops->asking.fd = -1;
	pthread_mutex_init(&hops->asking.lock, NULL);
	hops->timer.fn = on_tick;
	hops->timer.arg = hops;
	ur_list_init(&hops->waiting);
	return hops;
}

void ucma_hops_destroy(struct ucma_hops *hops)
{
	ur_assert(ur_list_empty(&hops->waiting));
	ur_loop_timer_clear(hops->ucma->daemon->loop, &hops->timer);
	if (hops->events >= 0) {
		ur_loop_del(hops->ucma->daemon->loop, hops->events);
		close(hops->events);
	}
	if (hops->asking.fd >= 0)
		close(hops->asking.fd);
	pthread_mutex_destroy(&hops->asking.lock);
	free(hops);
}
