/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device's ends of the event channels of rdma_cm outlive uroced (engine/ground/keep.h)
 * with the programs whose engines are in them, and with those that have made no object of
 * verbs: such a program waits for an event as if nothing had happened, and the next uroced
 * sends it by the same socket. Control lock held.
 */
#ifndef UR_DEVICE_KEPT_EVENTS_H
#define UR_DEVICE_KEPT_EVENTS_H

#include "device/session.h"

struct ur_kept_channel {
	struct ur_list node; /* of all */
	u32 number;	     /* that the next uroced knows it by; never 0 */
	pid_t pid;
	uid_t uid;
	bool alone; /* its process has no objects that end with this one */
	int sock;   /* the caller's */
};

/* Has the socket kept, of the session's process. Returns NULL where it is not. */
struct ur_kept_channel *ur_kept_events_add(const struct ur_session *s,
					   int sock);
/* Ends that. channel may be NULL. */
void ur_kept_events_del(struct ur_kept_channel *channel);
/* Returns the next one that an earlier uroced has left, whose socket is the caller's from now
 * on, or NULL. *at is 0 at first. has_ended: the queue pairs of its process have ended with that
 * uroced. */
struct ur_kept_channel *ur_kept_events_next(u32 *at, bool *has_ended);
/* On that connection an object is made whose engine is the device's, and which ends with this
 * process: channels of the program do too, if it has no other engine. */
void ur_kept_events_object(struct ur_session *s);

#endif
