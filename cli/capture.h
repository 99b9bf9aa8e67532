/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The RoCE packets of this machine's interfaces, one by one as they are on the
 * wire. Messages between two programs on the same device are no packets. */
#ifndef UR_CLI_CAPTURE_H
#define UR_CLI_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

/* Bytes before the IP header or GRH. */
#define UR_CAPTURE_ETH 14

/* Returns a socket for options->netdev[0], or for all interfaces; the caller closes it.
 * Returns -errno after a message on stderr. */
int ur_capture_open(const struct ur_options *options);

struct ur_capture_meta {
	uint64_t ns;  /* since 1970 */
	bool out;     /* sent by this machine */
	int priority; /* of its VLAN tag; -1: no tag */
};

/**
 * ur_capture_fn - takes a packet
 * @packet: from its Ethernet header, longer than that
 * Return: whether to continue.
 */
typedef bool (*ur_capture_fn)(void *arg, const struct ur_capture_meta *meta,
			      const uint8_t *packet, size_t len);

/* Calls fn for each packet until it returns false or a signal arrives. Returns 0, or -errno
 * after a message on stderr. */
int ur_capture_run(int fd, ur_capture_fn fn, void *arg);

#endif
