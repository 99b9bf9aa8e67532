/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The datagrams between two uroce-path: UD SENDs that begin with a struct ur_path_message,
 * all numbers in network byte order. The listener answers a probe with as many bytes as it
 * had, so that it cannot amplify traffic. It answers only probes with the token that went
 * to the asker's address in the reply of the connection manager.
 */
#ifndef UR_CLI_PATH_MESSAGE_H
#define UR_CLI_PATH_MESSAGE_H

#include <stdint.h>

/* The service of rdma_cm (port space UDP) that the listener has. */
#define UR_PATH_PORT "4791"

#define UR_PATH_VERSION 1

enum ur_path_kind {
	UR_PATH_PROBE = 1, /* to be counted */
	UR_PATH_PING,	   /* to be counted, and answered with an ECHO */
	UR_PATH_ECHO,
	UR_PATH_ASK, /* requests the series' REPORT */
	UR_PATH_REPORT,
	UR_PATH_BYE, /* the asker has finished */
};

/* A series is a set of probes that are counted together. */
struct ur_path_message {
	uint64_t token;
	uint8_t version, kind;
	uint8_t tclass; /* traffic class when sent */
	/* ECHO: traffic class and hop limit of the received probe. */
	uint8_t seen_class, seen_hops;
	uint8_t zero;
	uint16_t series, index;
	uint16_t bytes; /* of the whole datagram */
	uint32_t pad;
	uint64_t sent_ns; /* by the asker's clock; an ECHO repeats it */
	/* REPORT, of the series: */
	uint64_t spread_ns;   /* from the first arrival to the last */
	uint32_t arrived[2];  /* distinct probes: Not-ECT, others */
	uint32_t marked;      /* probes that became CE on the way */
	uint32_t reserved[3]; /* 0 */
};
_Static_assert(sizeof(struct ur_path_message) == 64, "the form on the wire");

/* The private data of the listener's reply. */
struct ur_path_welcome {
	uint64_t token;
	uint32_t active_mtu; /* bytes */
	uint8_t version;
	uint8_t reserved[3]; /* 0 */
};
_Static_assert(sizeof(struct ur_path_welcome) == 16, "the form on the wire");

#define UR_ECN_BITS    3
#define UR_ECN_IS_ECT0 2
#define UR_ECN_IS_CE   3

/* Probes of a series, and their indices: 0 to this - 1. */
#define UR_PATH_SERIES_MAX 1024

/* Largest payload of a UD datagram: the largest RoCE MTU. */
#define UR_PATH_MTU_MAX 4096

#endif
