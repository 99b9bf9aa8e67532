/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Traffic that many threads make together, on queues that they share. Each
 * message says who sent it and which one it is, and its bytes follow from
 * that; every one must arrive exactly once and whole.
 */
#ifndef UR_TESTS_THREADS_TRAFFIC_H
#define UR_TESTS_THREADS_TRAFFIC_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/e2e/verbs/bench.h"

#define SLOT	   2048 /* bytes; messages are at most that long */
#define SLOTS	   64	/* of a side */
#define LANES_MAX  4
#define SENDERS	   4
#define POLLERS	   2
#define MESSAGES   3000 /* of each sender */
#define CQ_ENTRIES 1024

/* Registered memory of one side, cut into slots. */
struct pool {
	uint8_t *buf;
	struct ibv_mr *mr;
	_Atomic uint32_t busy[SLOTS];
};

/* One side: its own device where there are two (near sends, far receives). */
struct side {
	struct bench bench;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex; /* the same, where it is an extended one */
	struct pool pool;
	struct ibv_qp *qp[LANES_MAX];
};

struct traffic {
	int lanes;	/* pairs of queue pairs */
	bool with_srq;	/* the far ones receive from one queue */
	bool extended;	/* completion queues with ibv_start_poll */
	bool by_events; /* pollers sleep until an event */
	struct side near, far;
	struct ibv_srq *srq;
	_Atomic int left;   /* messages on their way */
	_Atomic bool over;  /* all have arrived and completed */
	_Atomic int to_ack; /* sends without completion */
	_Atomic uint8_t seen[SENDERS][MESSAGES];
	_Atomic int next_sender;
};

/* Opens the devices and all queues as the fields above say. */
void traffic_open(struct traffic *tr);
/*
 * Runs it: SENDERS and POLLERS threads, and one for each of the 'beside'
 * functions (NULL ends the list), which return when tr->over. Then checks that
 * everything has arrived.
 */
void traffic_run(struct traffic *tr, void *(*const *beside)(void *));
void traffic_close(struct traffic *tr);

/* A slot of that pool that nobody has; waits for one. */
uint32_t pool_take(struct pool *p);
/* It is the device's now. That the way from the one who posts to the one who
 * polls leads through another process is something TSan cannot know. */
void pool_pass(struct pool *p, uint32_t slot);
void pool_give(struct pool *p, uint32_t slot);
struct ibv_sge pool_sge(const struct pool *p, uint32_t slot, uint32_t len);

/* Opens device number 'n', or the first where there is no second. */
void side_open(struct side *s, int n);
void side_close(struct side *s);

extern const struct verbs_test shared_tests[], beside_tests[];

#endif
