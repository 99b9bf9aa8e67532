/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Next hops: whether the kernel knows a destination's neighbour, and ids that wait until it
 * does, as those of the kernel's rdma_cm.
 */
#ifndef UR_DEVICE_UCMA_UCMA_NEIGH_H
#define UR_DEVICE_UCMA_UCMA_NEIGH_H

#include <pthread.h>
#include "device/ucma/ucma.h"

/* ---- ucma_neigh.c: asks the kernel. Any thread; the control lock is not held, since other
 * processes can make the kernel's own lock wait. ---- */

struct nlmsghdr;

/* A socket for questions. */
struct ucma_asking {
	int fd; /* -1: none */
	u32 questions;
	pthread_mutex_t lock; /* of both */
};

struct ucma_way {
	u8 dgid[16], sgid[16];
	u32 scope; /* of link-local addresses: their netdev */
	u32 on_link; /* RoCEv1: the netdev that dgid is a neighbour on; 0: the host routes */
	/* The neighbour that is not known; 0: none has been found yet. */
	u32 hop_ifindex;
	u8 hop[16];
};

/* Returns whether a packet can leave now: the kernel knows the neighbour, or needs none, or
 * cannot say and the way has had none so far. Where not, fills in the neighbour. */
bool ucma_neigh_known(struct ucma_asking *asking, struct ucma_way *way);
/* Makes the kernel resolve it. Returns false where a firewall forbids that. */
bool ucma_neigh_nudge(const struct ucma_way *way);
/* Returns whether the message says that the kernel knows a neighbour now, which it fills in. */
bool ucma_neigh_event(const struct nlmsghdr *h, u32 *ifindex, u8 hop[16]);

/* ---- ucma_hop.c: ids that wait. Control lock held. ---- */

struct ucma_hop_ops {
	/* Ends the wait of an id. status: 0, its neighbour is known, or -errno. */
	void (*resolved)(struct ucma_id *id, int status);
	/* Ends a turn in which resolved() was called for any number of ids. */
	void (*settle)(struct ur_ucma *ucma);
};

/* Returns the waiting ids of a daemon, none yet, or NULL. */
struct ucma_hops *ucma_hops_create(struct ur_ucma *ucma,
				   const struct ucma_hop_ops *ops);
/* Frees them. No id may be there. */
void ucma_hops_destroy(struct ucma_hops *hops);
/* Calls resolved(), at once or when the neighbour is known, or at the end of the timeout; until
 * then id->state is UCMA_ADDR_QUERY. Returns 0 or -ENOMEM. */
int ucma_hop_resolve(struct ucma_id *id, u32 timeout_ms);
/* Goes on with one that an earlier uroced has left. */
void ucma_hop_resume(struct ucma_id *id);

#endif
