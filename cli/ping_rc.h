/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs uroce-rcping, the RDMA program of uroce ping, with the device present, and reads its
 * output. */
#ifndef UR_CLI_PING_RC_H
#define UR_CLI_PING_RC_H

#include <json-c/json.h>

#include "cli/command.h"

enum ur_ping_rc_end {
	UR_PING_RC_OK,	       /* full packets cross */
	UR_PING_RC_LOCAL,      /* .why: this host, before any packet */
	UR_PING_RC_NO_SERVICE, /* nobody has the port */
	UR_PING_RC_REFUSED,    /* .why */
	UR_PING_RC_SILENT,     /* the request to connect was not answered */
	UR_PING_RC_LOST,       /* .why; connected, but packets are lost */
	UR_PING_RC_MTU,	       /* small packets cross, .mtu bytes do not */
};

struct ur_ping_rc {
	enum ur_ping_rc_end end;
	int mtu; /* path MTU of the connection, 0: not known */
	char why[128];
};

/**
 * ur_ping_rc() - make an RC connection to an rdma_cm service, and send packets on it
 * @peer: numeric address
 * @port: of the service
 * @count: number of small packets
 * @times: gets the time of each answer; NULL: prints them
 *
 * Return: 0 with *ret filled, or -errno after a message on stderr.
 */
int ur_ping_rc(const struct ur_options *options, const char *peer, int port,
	       int count, struct json_object *times, struct ur_ping_rc *ret);

/* Serves such connections until interrupted. Returns the exit status. */
int ur_ping_rc_listen(const struct ur_options *options, int port);

#endif
