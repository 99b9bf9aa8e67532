/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The protocol between a command and a fabric's keeper: requests and replies, one message
 * each (AF_UNIX, SOCK_SEQPACKET). Both ends are the same program of the same user; the
 * keeper still checks all numbers.
 */
#ifndef UR_CLI_FABRIC_PROTOCOL_H
#define UR_CLI_FABRIC_PROTOCOL_H

#include "cli/fabric/error.h"
#include "cli/fabric/plan.h"

/* Changes with the format: a keeper of another release may still live. */
#define UR_FABRIC_PROTOCOL 1

enum ur_fabric_op {
	UR_FABRIC_PLAN, /* answer: plan */
	UR_FABRIC_SHOW, /* host, card; answer: link, device */
	UR_FABRIC_JOIN, /* host; answer: the namespaces' descriptors */
	UR_FABRIC_LINK, /* host, card, link, traits; answer: link */
	UR_FABRIC_END,	/* the fabric ends */
};

/* The namespaces, in the order of the descriptors of UR_FABRIC_JOIN. The user namespace
 * comes first: it gives the right to join the others. */
enum ur_fabric_ns {
	UR_FABRIC_NS_USER,
	UR_FABRIC_NS_PID,
	UR_FABRIC_NS_MNT,
	UR_FABRIC_NS_UTS,
	UR_FABRIC_NS_IPC,
	UR_FABRIC_NS_NET,
	UR_FABRIC_NS_COUNT
};

struct ur_fabric_request {
	uint32_t protocol, op;
	uint32_t host, card;
	uint32_t traits;
	struct ur_fabric_link link;
};

struct ur_fabric_answer {
	int32_t err;   /* -errno, with error, or 0 */
	int32_t alive; /* SHOW: the host's device process lives */
	struct ur_fabric_plan plan;
	struct ur_fabric_link link;
	struct ur_fabric_error error;
};

#endif
