/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Next hops: asks whether the kernel knows the neighbour towards a destination, and keeps
 * ids waiting until it does, as the kernel's rdma_cm does.
 */
#ifndef UR_DEVICE_UCMA_UCMA_NEIGH_H
#define UR_DEVICE_UCMA_UCMA_NEIGH_H

#include <pthread.h>
#include "device/ucma/ucma.h"

/* ---- ucma_neigh.c: queries the kernel. Any thread, without the control lock: other
 * processes can make the kernel's lock wait. ---- */

struct nlmsghdr;

/* A netlink socket for queries. */
struct ucma_asking {
	int fd; /* -1: none */
	u32 questions;
	pthread_mutex_t lock; /* protects fd and questions */
};

struct ucma_hop_query {
	u8 dgid[16], sgid[16];
	u32 scope; /* netdev of link-local addresses */
	/* RoCEv1: dgid is a neighbour on this netdev; 0: use the host's routes */
	u32 on_link;
	/* The unknown neighbour; 0: not determined yet. */
	u32 hop_ifindex;
	u8 hop[16];
};

/* Returns whether a packet can be sent now: the kernel knows the neighbour, needs none, or
 * cannot say while query names no unknown one yet. If false, fills in the neighbour. */
bool ucma_neigh_known(struct ucma_asking *asking, struct ucma_hop_query *query);
/* Makes the kernel resolve the neighbour. Returns false if a firewall forbids that. */
bool ucma_neigh_nudge(const struct ucma_hop_query *query);
/* Returns whether the message reports a newly known neighbour, and fills that in. */
bool ucma_neigh_event(const struct nlmsghdr *h, u32 *ifindex, u8 hop[16]);

/* ---- ucma_hop.c: waiting ids. Control lock held. ---- */

struct ucma_hop_ops {
	/* Ends the wait of an id. status: 0 (its neighbour is known) or -errno. */
	void (*resolved)(struct ucma_id *id, int status);
	/* Called after one or more calls of resolved(). */
	void (*resolved_all)(struct ur_ucma *ucma);
};

/* Returns a new, empty set of waiting ids, or NULL without memory. */
struct ucma_hops *ucma_hops_create(struct ur_ucma *ucma,
				   const struct ucma_hop_ops *ops);
/* Frees the set, which must be empty. */
void ucma_hops_destroy(struct ucma_hops *hops);
/* Calls resolved() when the neighbour is known, possibly at once, or after the timeout;
 * until then id->state is UCMA_ADDR_QUERY. Returns 0 or -ENOMEM. */
int ucma_hop_resolve(struct ucma_id *id, u32 timeout_ms);
/* Continues a resolution of an earlier uroced. */
void ucma_hop_recover(struct ucma_id *id);

#endif
