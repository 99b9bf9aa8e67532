/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The results of uroce-path about the path to a peer. */
#ifndef UR_CLI_DOCTOR_PATH_H
#define UR_CLI_DOCTOR_PATH_H

#include "cli/doctor.h"

/* In place of a traffic class, like those of lines.h. */
#define UR_PATH_NOT_SENT (-3)

#define UR_PATH_BURSTS 10

struct ur_path_burst {
	int packets, bytes, arrived, marked;
	double spread_ns;
};

struct ur_path_found {
	const char *peer;
	char local[128];   /* why no packet was sent, or "" */
	char refused[128]; /* the event, or "" */
	int status;	   /* of refused */
	bool v1, ended;
	int mtu, peer_mtu;
	int self[4];		   /* by ECN bits */
	int there[256], back[256]; /* by traffic class */
	double trip_ns;		   /* 0: unknown */
	int routers;
	int fits;	      /* largest size that crossed both ways; 0: none */
	int lost, lost_there; /* size that was lost; whether on the way there */
	struct ur_path_burst burst[2][UR_PATH_BURSTS]; /* Not-ECT, ECT(0) */
	int bursts[2];
	/* drop probes; sent 0: not tested */
	int sent[2], arrived[2], echoed, marked;
};

/* Parses a line of uroce-path; ignores unknown lines. */
void ur_path_take_line(struct ur_path_found *found, char *line);

/* Prints the findings. doctor_verdict.c */
void ur_path_conclude(struct doctor *doctor, const struct ur_path_found *found);

#endif
