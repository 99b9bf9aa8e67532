/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The output of uroce-path. A line is one of these words, a blank, and the fields in its
 * comment; numbers are decimal. */
#ifndef UR_CLI_PATH_LINES_H
#define UR_CLI_PATH_LINES_H

/* In place of a traffic class: the packet was lost; unknown. */
#define UR_PATH_LOST	(-1)
#define UR_PATH_UNKNOWN (-2)

/* The lines of the asker. */
#define UR_PATH_LOCAL	"local"	  /* why: this host, before any packet */
#define UR_PATH_REFUSED "refused" /* status of rdma_cm, and its event */
#define UR_PATH_FOUND	"found"	  /* active MTU here, and of the peer */
#define UR_PATH_SELF	"self"	  /* to ourselves: class sent, class received */
/* sent, received there, received here (echo) */
#define UR_PATH_CLASS "class"
#define UR_PATH_TRIP  "trip" /* shortest, ns; routers on the way there */
#define UR_PATH_V1    "v1"   /* (nothing) packets of RoCEv1 */
#define UR_PATH_SIZE  "size" /* bytes, 1 if there, 1 if back; else 0 */
#define UR_PATH_BURST \
	"burst" /* class, packets, bytes of each, arrived,
				   * CE of these, ns from first to last */
#define UR_PATH_DROPS \
	"drops"		  /* Not-ECT sent, arrived; ECT sent, arrived;
				   * echoed, CE of those that arrived */
#define UR_PATH_END "end" /* (nothing) all probes are done */

/* The lines of the listener. */
#define UR_PATH_LISTENING "listening" /* (nothing) */
#define UR_PATH_SERVING	  "serving"   /* the asker's address */
#define UR_PATH_SERVED	  "served"    /* address, datagrams accepted, refused */

/* The reasons of a refusal (IB_SIDR_UNSUPPORTED and IB_SIDR_REJECT of the kernel's
 * rdma/ib_cm.h, sent in a SIDR_REP): no listener; the listener is busy. */
#define UR_PATH_NO_SERVICE 1
#define UR_PATH_BUSY	   2

#endif
