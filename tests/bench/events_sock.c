// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The yardstick: messages over TCP, gathered into one write and one read as
 * far as they are there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tests/bench/events.h"

struct sock {
	u8 *in, *out;
	u32 in_len, out_pos, out_len;
	bool full; /* waits for the socket to take more */
};

static void sock_open(struct link *l)
{
	struct sock *s = calloc(1, sizeof(*s));

	need(s, "memory");
	s->in = malloc((size_t)test.depth * test.in_bytes);
	s->out = malloc((size_t)test.depth * test.out_bytes);
	need(s->in && s->out, "memory");
	l->own = s;
	need(!fcntl(l->fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
	watch(l->fd, l);
}

static void sock_flush(struct link *l)
{
	struct sock *s = l->own;
	bool full = false;

	while (s->out_pos < s->out_len && !full) {
		ssize_t n = send(l->fd, s->out + s->out_pos,
				 s->out_len - s->out_pos, MSG_NOSIGNAL);

		if (n > 0)
			s->out_pos += (u32)n;
		else
			full = true; /* or over: the next recv() says so */
	}
	if (!full)
		s->out_pos = s->out_len = 0;
	if (full != s->full)
		watch_room(l, full);
	s->full = full;
}

static void sock_ready(struct link *l)
{
	struct sock *s = l->own;
	u32 whole, room = test.depth * test.in_bytes - s->in_len;
	ssize_t n = recv(l->fd, s->in + s->in_len, room, 0);

	if (s->full)
		sock_flush(l);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		end(l);
		return;
	}
	s->in_len += (u32)n;
	whole = s->in_len / test.in_bytes;
	if (!whole)
		return;
	take(l, s->in, whole);
	s->in_len -= whole * test.in_bytes;
	memmove(s->in, s->in + whole * test.in_bytes, s->in_len);
}

/* The peer sends no more than depth requests before all are answered, so this
 * never overflows. */
static u8 *sock_room(struct link *l)
{
	struct sock *s = l->own;
	u8 *at = s->out + s->out_len;

	s->out_len += test.out_bytes;
	return at;
}

const struct style style_sock = {
	.name = "sock",
	.open = sock_open,
	.ready = sock_ready,
	.room = sock_room,
	.flush = sock_flush,
};
