/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The output of uroce-path, line by line: one of these words, a blank, and
 * what stands here behind it, numbers in decimal. */
#ifndef UR_CLI_PATH_LINES_H
#define UR_CLI_PATH_LINES_H

/* In place of a traffic class: it did not arrive; nobody knows. */
#define UR_PATH_LOST	(-1)
#define UR_PATH_UNKNOWN (-2)

/* The lines of the asker. */
#define UR_PATH_LOCAL	"local"	  /* why: this host, before any packet */
#define UR_PATH_REFUSED "refused" /* status of rdma_cm, and its event */
#define UR_PATH_FOUND	"found"	  /* active MTU here, and of the peer */
#define UR_PATH_SELF	"self"	  /* class sent to ourselves, class seen */
#define UR_PATH_CLASS	"class"	  /* sent, seen there, and here of the echo */
#define UR_PATH_TRIP	"trip"	  /* shortest, ns; routers on the way there */
#define UR_PATH_V1	"v1"	  /* (nothing) packets of RoCEv1 */
#define UR_PATH_SIZE	"size"	  /* bytes, 1 if there, 1 if back; else 0 */
#define UR_PATH_BURST \
	"burst" /* class, packets, bytes of each, arrived,
				   * CE of these, ns from first to last */
#define UR_PATH_DROPS \
	"drops"		  /* Not-ECT sent, arrived; ECT sent, arrived;
				   * echoed, CE of those that arrived */
#define UR_PATH_END "end" /* (nothing) all was asked */

/* The lines of the listener. */
#define UR_PATH_LISTENING "listening" /* (nothing) */
#define UR_PATH_SERVING	  "serving"   /* the asker's address */
#define UR_PATH_SERVED	  "served"    /* address, datagrams taken, refused */

/* A listener refuses with one of these (IB_SIDR_UNSUPPORTED and
 * IB_SIDR_REJECT of the kernel's rdma/ib_cm.h, on the wire in a SIDR_REP): nobody
 * has that service; it does not want this one. */
#define UR_PATH_NO_SERVICE 1
#define UR_PATH_BUSY	   2

#endif
