/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The meter of event-driven programs, in parts: events.c asks and answers,
 * the styles bring the messages over. All in one thread.
 */
#ifndef UR_BENCH_EVENTS_H
#define UR_BENCH_EVENTS_H

#include "tests/bench/clock.h"

struct link;

struct style {
	const char *name;
	/* The link's TCP connection is there, still blocking: what else it
	 * needs. Every link once, before the first message. */
	void (*open)(struct link *l);
	/* Its descriptor has something: calls take() for what came. */
	void (*ready)(struct link *l);
	/* Where the next message out is to be written, or NULL: when the peer
	 * has made room. */
	u8 *(*room)(struct link *l);
	/* sends what was written, now */
	void (*flush)(struct link *l);
	/* nothing reports room to the loop: it asks again without sleeping */
	bool asks;
};

struct link {
	u32 number;
	int fd; /* TCP */
	u64 in_seq, out_seq;
	u32 owed; /* messages to be written out */
	bool dirty, waits;
	void *own; /* the style's */
};

/* The same for all links of this process. */
extern struct test {
	const struct style *style;
	bool server;
	u32 links, depth; /* messages on their way at most, for each link */
	u32 in_bytes, out_bytes;
	struct link *link;
} test;

extern const struct style style_sock, style_send, style_ring;

/* Whole messages have come. */
void take(struct link *l, const u8 *msg, u32 count);
/* The loop calls ready() of l, NULL: the first link, when fd is readable. */
void watch(int fd, struct link *l);
/* ... and when its TCP connection has room. */
void watch_room(struct link *l, bool on);
/* The peer is gone. */
void end(struct link *l);
/* All of it, on the blocking TCP connection. */
void tell(struct link *l, const void *p, u32 len);
void hear(struct link *l, void *p, u32 len);

#endif
