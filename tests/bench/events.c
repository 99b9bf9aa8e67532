// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A server and a client that sleep in epoll until something comes:
 *
 *	events server STYLE ADDR PORT LINKS DEPTH BYTES
 *	events client STYLE ADDR PORT LINKS DEPTH BYTES SECONDS
 *
 * STYLE is sock (TCP), send (SEND and RECV, one completion queue and channel
 * for all connections) or ring (as Valkey: WRITE with immediate data into a
 * buffer of the reader, who gives it back when it is full; a completion
 * channel for each connection). On each of LINKS connections the client sends
 * DEPTH requests of 64 bytes at once, and as many again when the last answer,
 * of BYTES each, has come. Both verify every byte. The client prints requests
 * per second.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tests/bench/events.h"

#define REQUEST_BYTES 64
#define ANSWER_MAX    (64u << 10)
#define EVENTS	      64
/* Not measured. */
#define WARM_NS 100000000ull

struct test test;

static int epoll_fd;
static u8 pattern[2 * ANSWER_MAX];
static struct link **dirty;
static u32 n_dirty, n_waiting;
static u64 answered;
static u32 open_links;

void tell(struct link *l, const void *p, u32 len)
{
	need(send(l->fd, p, len, MSG_NOSIGNAL) == (ssize_t)len, "tell");
}

void hear(struct link *l, void *p, u32 len)
{
	need(recv(l->fd, p, len, MSG_WAITALL) == (ssize_t)len, "hear");
}

void watch(int fd, struct link *l)
{
	struct epoll_event ev = {.events = EPOLLIN,
				 .data.ptr = l ? l : &test.link[0]};

	need(!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev), "epoll_ctl");
}

void watch_room(struct link *l, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN | (on ? EPOLLOUT : 0u),
				 .data.ptr = l};

	need(!epoll_ctl(epoll_fd, EPOLL_CTL_MOD, l->fd, &ev), "epoll_ctl");
}

/* ---- messages: a number, then what it names of the pattern ---- */

static const u8 *expected(const struct link *l, u64 seq)
{
	return pattern + (seq * 24 + l->number * 512ull) % ANSWER_MAX / 8 * 8;
}

static void write_message(const struct link *l, u8 *msg, u64 seq)
{
	memcpy(msg, expected(l, seq), test.out_bytes);
	memcpy(msg, &seq, sizeof(seq));
}

static bool is_message(const struct link *l, const u8 *msg, u64 seq)
{
	u64 got;

	memcpy(&got, msg, sizeof(got));
	return got == seq &&
	       !memcmp(msg + 8, expected(l, seq) + 8, test.in_bytes - 8);
}

static void mark_dirty(struct link *l)
{
	if (l->dirty)
		return;
	l->dirty = true;
	dirty[n_dirty++] = l;
}

void take(struct link *l, const u8 *msg, u32 count)
{
	for (u32 i = 0; i < count; i++, msg += test.in_bytes)
		need(is_message(l, msg, l->in_seq++), "wrong data");
	mark_dirty(l);
	if (test.server) {
		l->owed += count;
		return;
	}
	answered += count;
	if (l->in_seq == l->out_seq + l->owed)
		l->owed += test.depth;
}

/* Write what is owed, as far as there is room. */
static void pump(struct link *l)
{
	u8 *msg;

	while (l->owed && (msg = test.style->room(l))) {
		write_message(l, msg, l->out_seq++);
		l->owed--;
	}
	test.style->flush(l);
	if (l->waits != (l->owed > 0)) {
		l->waits = !l->waits;
		n_waiting += l->waits ? 1 : -1;
	}
}

/* ---- the loop ---- */

/* As Valkey does: while one connection waits for its ring to be given back,
 * the loop does not sleep, and looks at that connection each time. */
static void ask_waiting(void)
{
	for (u32 i = 0; i < test.links; i++) {
		if (!test.link[i].waits)
			continue;
		test.style->ready(&test.link[i]);
		mark_dirty(&test.link[i]);
	}
}

void end(struct link *l)
{
	need(test.server, "the server ended");
	close(l->fd);
	l->fd = -1;
	open_links--;
}

static void step(void)
{
	struct epoll_event ev[EVENTS];
	bool asks = n_waiting && test.style->asks;
	int n = epoll_wait(epoll_fd, ev, EVENTS, asks ? 0 : 10000);

	need(n > 0 || asks || errno == EINTR, "nothing for 10 s");
	for (int i = 0; i < n; i++) {
		u64 p = (u64)(uintptr_t)ev[i].data.ptr;
		struct link *l = (struct link *)(uintptr_t)(p & ~1ull);

		if (p & 1)
			end(l);
		else
			test.style->ready(l);
	}
	if (asks)
		ask_waiting();
	for (u32 i = 0; i < n_dirty; i++) {
		dirty[i]->dirty = false;
		if (dirty[i]->fd >= 0)
			pump(dirty[i]);
	}
	n_dirty = 0;
}

static void serve(void)
{
	while (open_links)
		step();
}

static void ask(double seconds)
{
	u64 start = now_ns(), end, before;

	for (u32 i = 0; i < test.links; i++)
		take(&test.link[i], NULL, 0);
	for (u32 i = 0; i < n_dirty; i++) {
		dirty[i]->dirty = false;
		pump(dirty[i]);
	}
	n_dirty = 0;
	while (now_ns() - start < WARM_NS)
		step();
	before = answered;
	start = now_ns();
	do {
		for (u32 i = 0; i < 8; i++)
			step();
		end = now_ns();
	} while ((double)(end - start) < seconds * 1e9);
	need(answered > before, "no answer");
	printf("%.1f\n",
	       (double)(answered - before) * 1e9 / (double)(end - start));
}

/* ---- connections ---- */

static int open_socket(const char *addr, const char *port, int *listener)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((u16)atoi(port))};
	int fd, one = 1;

	need(inet_pton(AF_INET, addr, &sa.sin_addr) == 1, addr);
	if (test.server && *listener < 0) {
		*listener = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &one,
			   sizeof(one));
		need(!bind(*listener, (struct sockaddr *)&sa, sizeof(sa)) &&
			     !listen(*listener, 128),
		     addr);
	}
	if (test.server) {
		fd = accept(*listener, NULL, NULL);
	} else {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		need(!connect(fd, (struct sockaddr *)&sa, sizeof(sa)), addr);
	}
	need(fd >= 0, "connection");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* The TCP connection of a link whose messages go another way says only that it
 * is over: marked in the pointer's last bit. */
static void watch_end(struct link *l)
{
	struct epoll_event ev = {.events = EPOLLIN};

	ev.data.ptr = (u8 *)l + 1;
	need(!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, l->fd, &ev), "epoll_ctl");
}

static void open_all(const char *addr, const char *port)
{
	int listener = -1;

	for (u32 i = 0; i < test.links; i++) {
		struct link *l = &test.link[i];

		l->number = i;
		l->fd = open_socket(addr, port, &listener);
		test.style->open(l);
		if (test.style != &style_sock)
			watch_end(l);
	}
	if (listener >= 0)
		close(listener);
	open_links = test.links;
}

static bool read_arguments(int argc, char **argv)
{
	static const struct style *const styles[] = {&style_sock, &style_send,
						     &style_ring};
	u32 bytes;

	if (argc < 8)
		return false;
	test.server = !strcmp(argv[1], "server");
	for (u32 i = 0; i < 3; i++)
		if (!strcmp(argv[2], styles[i]->name))
			test.style = styles[i];
	test.links = (u32)atoi(argv[5]);
	test.depth = (u32)atoi(argv[6]);
	bytes = (u32)atoi(argv[7]);
	test.in_bytes = test.server ? REQUEST_BYTES : bytes;
	test.out_bytes = test.server ? bytes : REQUEST_BYTES;
	return test.style && test.links && test.depth && test.depth <= 64 &&
	       bytes >= 64 && bytes <= ANSWER_MAX && bytes % 8 == 0 &&
	       argc == (test.server ? 8 : 9);
}

int main(int argc, char **argv)
{
	if (!read_arguments(argc, argv)) {
		fprintf(stderr, "usage: see the top of events.c\n");
		return 2;
	}
	srandom(1);
	for (u32 i = 0; i < sizeof(pattern); i++)
		pattern[i] = (u8)random();
	test.link = calloc(test.links, sizeof(*test.link));
	dirty = calloc(test.links, sizeof(struct link *));
	epoll_fd = epoll_create1(0);
	need(test.link && dirty && epoll_fd >= 0, "memory");
	open_all(argv[3], argv[4]);
	if (test.server)
		serve();
	else
		ask(atof(argv[8]));
	return 0;
}
