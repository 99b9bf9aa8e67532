/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The output of uroce-rcping. A line is one of these words, a blank, and the fields in its
 * comment. */
#ifndef UR_CLI_RCPING_RCPING_H
#define UR_CLI_RCPING_RCPING_H

#define UR_RCPING_LOCAL	    "local"	/* why: this host, before any packet */
#define UR_RCPING_REFUSED   "refused"	/* status and event of rdma_cm */
#define UR_RCPING_ANSWER    "answer"	/* microseconds */
#define UR_RCPING_LOST	    "lost"	/* completion status */
#define UR_RCPING_MTU	    "mtu"	/* path MTU: a full packet crossed */
#define UR_RCPING_MTU_LOST  "mtu-lost"	/* path MTU: a full packet was lost */
#define UR_RCPING_LISTENING "listening" /* port */

#define UR_RCPING_MTU_MAX 4096

/* The reason of a refusal if no service has the port (REJ of the connection manager, reason
 * 8: invalid service ID). */
#define UR_RCPING_NO_SERVICE 8

#endif
