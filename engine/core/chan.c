// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Event files as socket pairs: one datagram is one event; the application uses
 * read(). The engine keeps the application's end too: when a queue is destroyed, its
 * unread datagrams are withdrawn, so that no event names a destroyed object and the
 * counts reported to the library are of events that were read. If the socket is
 * full, events wait in their source: as a count for completion channels (an armed
 * queue causes at most one), as a set of types for asynchronous events.
 *
 * A receiver blocks all others on the socket while the kernel writes to its memory.
 * Hence events are withdrawn outside the engine and without a lock. Nothing is sent
 * meanwhile, so that the events of other queues can be put back in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "util/assert.h"

/* Datagrams looked at in one purge; more than a socket buffer holds. */
#define PURGE_MAX 65536

struct async_desc { /* struct ib_uverbs_async_event_desc */
	u64 element;
	u32 type;
	u32 reserved;
};

static void on_room(struct ur_watch *watch, u32 events);

void ur_evsock_init(struct ur_evsock *sock, struct ur_engine *engine, int tx,
		    int rx, bool async)
{
	*sock = (struct ur_evsock){
		.engine = engine,
		.tx = tx,
		.rx = rx,
		.async = async,
		.watch.fn = on_room,
	};
	ur_list_init(&sock->backlog);
}

int ur_evsock_close(struct ur_evsock *sock)
{
	if (sock->watching)
		ur_engine_unwatch(sock->engine, sock->tx);
	close(sock->tx);
	return sock->rx;
}

void ur_evsrc_init(struct ur_evsrc *src, u64 element)
{
	memset(src, 0, sizeof(*src));
	src->element = element;
	ur_list_init(&src->backlog);
}

static bool try_send(struct ur_evsock *sock, u64 element, u32 type)
{
	struct async_desc desc = {element, type, 0};
	size_t len = sock->async ? sizeof(desc) : sizeof(element);

	if (send(sock->tx, &desc, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	/* The receiving end is gone. A watch would report that for ever. */
	if (errno == EPIPE || errno == ECONNRESET)
		sock->ended = true;
	return false;
}

/* Sends the pending events of src. Returns whether none is left. */
static bool flush_source(struct ur_evsock *sock, struct ur_evsrc *src)
{
	while (src->pending) {
		u32 type = sock->async ? (u32)__builtin_ctzll(src->pending) : 0;

		if (!try_send(sock, src->element, type))
			return false;
		src->sent++;
		if (sock->async)
			src->pending &= src->pending - 1;
		else
			src->pending--;
	}
	ur_list_del(&src->backlog);
	return true;
}

/* Sends all pending events. Returns whether none is left. */
static bool flush(struct ur_evsock *sock)
{
	while (!ur_list_empty(&sock->backlog))
		if (!flush_source(sock,
				  ur_list_first(&sock->backlog, struct ur_evsrc,
						backlog)))
			return false;
	return true;
}

static void watch(struct ur_evsock *sock)
{
	if (!sock->watching && !sock->ended)
		sock->watching = !ur_engine_watch(sock->engine, sock->tx,
						  EPOLLOUT, &sock->watch);
}

static void on_room(struct ur_watch *watch, u32 events)
{
	struct ur_evsock *sock =
		ur_container_of(watch, struct ur_evsock, watch);

	if (sock->frozen || (!flush(sock) && !sock->ended))
		return;
	ur_engine_unwatch(sock->engine, sock->tx);
	sock->watching = false;
}

void ur_evsock_send(struct ur_evsock *sock, struct ur_evsrc *src, u32 type)
{
	if (!src->pending && !sock->frozen &&
	    try_send(sock, src->element, type)) {
		src->sent++;
		return;
	}
	if (!src->pending)
		ur_list_add_tail(&sock->backlog, &src->backlog);
	if (sock->async)
		src->pending |= 1ull << (type & 63);
	else
		src->pending++;
	if (!sock->frozen)
		watch(sock);
}

void ur_evsock_forget(struct ur_evsock *sock, struct ur_evsrc *src,
		      struct ur_events_left *left)
{
	src->pending = 0;
	ur_list_del(&src->backlog);
	*left = (struct ur_events_left){sock, src->element, src->sent};
}

/* ---- events of a source that has ended ---- */

static int freeze(struct ur_engine *engine, struct ur_evsock *sock)
{
	ur_assert(sock->engine == engine);
	if (sock->watching)
		ur_engine_unwatch(engine, sock->tx);
	sock->watching = false;
	sock->frozen = true;
	return 0;
}
UR_ENGINE_CALL(1, freeze, struct ur_evsock *);

void ur_events_freeze(const struct ur_events_left *left)
{
	call_freeze(left->sock->engine, left->sock);
}

static int thaw(struct ur_engine *engine, struct ur_evsock *sock)
{
	ur_assert(sock->engine == engine);
	sock->frozen = false;
	if (!flush(sock))
		watch(sock);
	return 0;
}
UR_ENGINE_CALL(1, thaw, struct ur_evsock *);

void ur_events_thaw(const struct ur_events_left *left)
{
	call_thaw(left->sock->engine, left->sock);
}

u32 ur_events_withdraw(const struct ur_events_left *left)
{
	struct ur_evsock *sock = left->sock;
	struct async_desc *keep = NULL, desc;
	size_t len = sock->async ? sizeof(desc) : sizeof(desc.element);
	u32 kept = 0, cap = 0;
	u64 unread = 0;

	/* Only reading shows whether unread datagrams are there. */
	for (u32 i = 0; left->sent != unread && i < PURGE_MAX; i++) {
		if (recv(sock->rx, &desc, len, MSG_DONTWAIT) != (ssize_t)len)
			break;
		if (desc.element == left->element) {
			unread++;
			continue;
		}
		if (kept == cap) {
			u32 grown = cap ? 2 * cap : 64;
			void *p = realloc(keep, grown * sizeof(*keep));

			if (!p) { /* put this one back and stop */
				try_send(sock, desc.element, desc.type);
				break;
			}
			keep = p;
			cap = grown;
		}
		keep[kept++] = desc;
	}
	for (u32 i = 0; i < kept; i++)
		try_send(sock, keep[i].element, keep[i].type);
	free(keep);
	return (u32)(left->sent - unread);
}

/* ---- completion channels ---- */

int ur_echan_sender(const struct ur_echan *chan)
{
	return chan->sock.tx;
}

static int destroy_channel(struct ur_engine *engine, struct ur_echan *chan)
{
	int rx;

	ur_assert(chan->sock.engine == engine);
	ur_list_del(&chan->program_node);
	rx = ur_evsock_close(&chan->sock);
	free(chan);
	return rx;
}
UR_ENGINE_CALL(1, destroy_channel, struct ur_echan *);

int ur_echan_destroy(struct ur_echan *chan)
{
	return call_destroy_channel(chan->sock.engine, chan);
}
