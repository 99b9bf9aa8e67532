/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The numbers that uroce-path finds out about the way to a peer. */
#ifndef UR_CLI_DOCTOR_PATH_H
#define UR_CLI_DOCTOR_PATH_H

#include "cli/doctor.h"

/* In place of a traffic class, beside those of lines.h. */
#define UR_PATH_NOT_SENT (-3)

#define UR_PATH_BURSTS 10

struct ur_path_burst {
	int packets, bytes, arrived, marked;
	double spread_ns;
};

struct ur_path_found {
	const char *peer;
	char local[128];   /* why there was no packet, or "" */
	char refused[128]; /* the event, or "" */
	int status;	   /* of it */
	bool v1, ended;
	int mtu, peer_mtu;
	int self[4];		   /* by ECN bits */
	int there[256], back[256]; /* by traffic class */
	double trip_ns;		   /* 0: not known */
	int routers;
	int fits;	      /* bytes that crossed both ways; 0: none */
	int lost, lost_there; /* bytes that did not; whether on the way there */
	struct ur_path_burst burst[2][UR_PATH_BURSTS]; /* Not-ECT, ECT(0) */
	int bursts[2];
	int sent[2], arrived[2], echoed, marked; /* drops; sent 0: not asked */
};

/* Takes a line of uroce-path, and leaves one with another word. */
void ur_path_take_line(struct ur_path_found *found, char *line);

/* Says what has been found. doctor_verdict.c */
void ur_path_conclude(struct doctor *doctor, const struct ur_path_found *found);

#endif
