/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Event channels of rdma_cm that outlive uroced (engine/ground/keep.h). uroced's socket of
 * a channel is kept if the program has an engine, or has no verbs object yet.
 * Such a program waits for events undisturbed, and the next uroced sends them over the same
 * socket. Control lock held.
 */
#ifndef UR_DEVICE_KEPT_EVENTS_H
#define UR_DEVICE_KEPT_EVENTS_H

#include "device/session.h"

struct ur_kept_channel {
	struct ur_list node; /* of all */
	u32 number;	     /* identifies it to the next uroced; never 0 */
	pid_t pid;
	uid_t uid;
	bool alone; /* the client has no objects that end with this uroced */
	int sock;   /* the caller's */
};

/* Keeps the socket, which belongs to the session's process. Returns NULL if it is not kept. */
struct ur_kept_channel *ur_kept_events_add(const struct ur_session *s,
					   int sock);
/* Stops keeping the socket. channel may be NULL. */
void ur_kept_events_del(struct ur_kept_channel *channel);
/* Returns the next channel of an earlier uroced, or NULL; its socket becomes the caller's.
 * *at is 0 at first. *has_ended: the process had queue pairs that ended with that uroced. */
struct ur_kept_channel *ur_kept_events_next(u32 *at, bool *has_ended);
/* Called when an object is made on this connection that does not outlive this uroced. The
 * program's channels then end with it, unless the program has an engine. */
void ur_kept_events_object(struct ur_session *s);

#endif
