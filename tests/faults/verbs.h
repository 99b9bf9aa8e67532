/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The objects that the steps of verbs need, made before the first. */
#ifndef UR_TESTS_FAULTS_VERBS_H
#define UR_TESTS_FAULTS_VERBS_H

#include "tests/faults/faults.h"

#define BYTES 65536
#define ALL                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |    \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND)

/* A pointer or why there is none. */
#define MADE(object, call) (((object) = (call)) ? 0 : errno)

extern struct ibv_pd *pd;
extern struct ibv_cq *cq;
extern union ibv_gid gid; /* eth2's */
extern uint8_t *buf;	  /* of BYTES */
extern int shm;		  /* a file of BYTES that does not shrink */

extern const struct step memory_steps[], queue_steps[];

#endif
