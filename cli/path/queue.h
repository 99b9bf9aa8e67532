/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A UD queue pair of an rdma_cm identifier, with its memory. */
#ifndef UR_CLI_PATH_QUEUE_H
#define UR_CLI_PATH_QUEUE_H

#include <rdma/rdma_cma.h>

#include "cli/path/tally.h"
#include "util/os/clock.h"

/* Maximum packets of a burst, which is posted at once, and number of receives. */
#define UR_PATH_BURST_MAX 512
#define UR_PATH_RECEIVES  1024

struct ur_path_queue {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *sent, *received;
	uint8_t *memory;
	uint32_t sends; /* that may be outstanding */
	uint32_t posted, completed;
	bool v1; /* the last datagram was RoCEv1, which has no ECN */
};

/* The destination of a datagram. */
struct ur_path_target {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

/* A received datagram, with the data for an address handle to its sender. */
struct ur_path_received {
	struct ur_path_arrival arrival;
	struct ibv_wc wc;
	struct ibv_grh grh;
};

/* Returns the clock's time. */
static inline uint64_t ur_path_now(void)
{
	return ur_clock_ns(CLOCK_MONOTONIC);
}

/* Makes the queue pair of @id, whose device is known, and posts its receives.
 * Returns 0 or -errno, with nothing left behind. */
int ur_path_queue_open(struct ur_path_queue *queue, struct rdma_cm_id *id);

/* Destroys the queue pair, not the identifier. */
void ur_path_queue_close(struct ur_path_queue *queue);

/* Returns the port's active MTU in bytes, or 0. */
uint32_t ur_path_queue_mtu(const struct ur_path_queue *queue);

/* Sends message, padded to bytes. If the queue is full, waits for at most a second. Returns
 * 0 or -errno. */
int ur_path_queue_send(struct ur_path_queue *queue,
		       const struct ur_path_target *to,
		       const struct ur_path_message *message, size_t bytes);

/* Receives the next datagram of at least a message's length, waiting until until_ns.
 * Returns 1, 0 if none came, or -errno. */
int ur_path_queue_receive(struct ur_path_queue *queue, uint64_t until_ns,
			  struct ur_path_received *ret);

#endif
