/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The two ends of uroce-path. */
#ifndef UR_CLI_PATH_ASKER_H
#define UR_CLI_PATH_ASKER_H

#include "cli/path/queue.h"

/* An asker that the listener has admitted. */
struct ur_path_asker {
	struct ur_path_queue queue;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_ah_attr attr; /* to the peer */
	uint32_t qpn, qkey;
	uint64_t token; /* network byte order */
	uint32_t mtu, peer_mtu;
	uint16_t series; /* the last one begun */
};

/* Prints "word text" and returns 1, an exit status. */
int ur_path_fail(const char *word, const char *text);

/* Waits for an event of @channel for at most @ms. Returns 0; -ETIMEDOUT or
 * another -errno. The caller acknowledges the event. */
int ur_path_event(struct rdma_event_channel *channel, int ms,
		  struct rdma_cm_event **ret);

/* Connects to the listener at address; prints the reason of a failure. Returns an exit
 * status. */
int ur_path_connect(struct ur_path_asker *asker, const char *address);

/* Frees all resources, connected or not. */
void ur_path_disconnect(struct ur_path_asker *asker);

/* Sends all probes and prints the results. Returns an exit status. */
int ur_path_ask(struct ur_path_asker *asker);

/* Serves one asker after the other until interrupted. Returns an exit status. */
int ur_path_listen(void);

#endif
