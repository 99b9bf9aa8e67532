/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device's ends of the event channels of rdma_cm outlive uroced (engine/ground/keep.h)
 * with the programs whose engines are in them: such a program waits for an event as if
 * nothing had happened, while its connections go on. No event comes there any more, and
 * commands say EIO.
 */
#ifndef UR_DEVICE_KEPT_EVENTS_H
#define UR_DEVICE_KEPT_EVENTS_H

#include "device/session.h"

/* Has the socket kept, of the session's process: returns the number by which that ends with
 * the next, or 0 where it is not kept. Control lock held. */
u32 ur_kept_events_add(const struct ur_session *s, int sock);
void ur_kept_events_del(u32 number);
/* Goes on with those that an earlier uroced has left, each until its program closes the
 * channel. Before the first client. Control lock held. */
void ur_kept_events_inherit(struct ur_daemon *daemon);
/* Ends them. Control lock held. */
void ur_kept_events_end(void);

#endif
