/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Event files: chan.c and async.c. The engine thread's, but for what
 * ur_events_withdraw() takes back.
 */
#ifndef UR_ENGINE_CORE_EVENT_FILE_H
#define UR_ENGINE_CORE_EVENT_FILE_H

#include "engine/engine.h"
#include "engine/core/watch.h"
#include "util/list.h"

/* A source of datagrams of one kind, with its accounting; embedded in a queue. */
struct ur_evsrc {
	u64 element; /* first 8 bytes of its datagrams */
	u64 sent;    /* datagrams that reached the socket */
	u64 pending; /* events that did not fit: their count (channel) or type bits (async) */
	struct ur_list
		backlog; /* in the socket's backlog, while pending != 0 */
};

/* Both ends of a socket pair. */
struct ur_evsock {
	struct ur_engine *engine;
	int tx, rx;
	bool async;		/* 16-byte datagrams with a type */
	bool watching;		/* watched for room */
	bool frozen;		/* see ur_events_freeze() */
	bool ended;		/* the receiving end is gone */
	struct ur_list backlog; /* ur_evsrc */
	struct ur_watch watch;
};

struct ur_echan {
	struct ur_evsock sock;
	struct ur_list program_node; /* engine->inproc.chans */
};

struct ur_easync {
	struct ur_evsock sock;
	struct ur_list program_node; /* engine->inproc.asyncs */
	struct ur_evsrc loose;	     /* events that belong to no queue */
};

/* Initializes *sock with two existing ends, which it owns from now on. */
void ur_evsock_init(struct ur_evsock *sock, struct ur_engine *engine, int tx,
		    int rx, bool async);
/* Closes the sending end. Returns the receiving end, which becomes the caller's. No source may have
 * events pending. */
int ur_evsock_close(struct ur_evsock *sock);
/* Makes a source without events. element: first 8 bytes of its datagrams. */
void ur_evsrc_init(struct ur_evsrc *src, u64 element);
/* Sends one event of src, or keeps it until the socket has room. type: for async
 * only. Never blocks, never fails. */
void ur_evsock_send(struct ur_evsock *sock, struct ur_evsrc *src, u32 type);
/* Ends src: drops its pending events. Fills *left with its events that may be unread. */
void ur_evsock_forget(struct ur_evsock *sock, struct ur_evsrc *src,
		      struct ur_events_left *left);

#endif
