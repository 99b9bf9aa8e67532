/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A request to the connection manager of another RoCE device, sent through ours, for a
 * service that does not exist. Any reply, even a refusal, shows that packets with good
 * checksums cross in both directions.
 */
#ifndef UR_CLI_PING_CM_H
#define UR_CLI_PING_CM_H

#include <stdint.h>
#include <sys/socket.h>

/* An open rdma_cm file of the device. */
struct ur_ping_cm {
	int sock, events;
	int mem;
};

/* Opens the file. Returns 0 or -errno. */
int ur_ping_cm_open(struct ur_ping_cm *cm, const char *run_dir);
/* Closes it. */
void ur_ping_cm_close(struct ur_ping_cm *cm);

enum ur_ping_step {
	UR_PING_ADDRESS, /* local: device and GID */
	UR_PING_ROUTE,
	UR_PING_ANSWER, /* the peer */
};

/**
 * ur_ping_cm_ask() - send one request
 * @timeout_ms: for the reply; resolving address and route has its own limit
 * @ret_step: gets the step that was reached
 * @ret_us: gets the time to the reply, in microseconds
 * Return: 0 (answered), -ETIMEDOUT, or -errno of the step.
 */
int ur_ping_cm_ask(struct ur_ping_cm *cm, const struct sockaddr *peer,
		   socklen_t size, int timeout_ms, enum ur_ping_step *ret_step,
		   double *ret_us);

#endif
