/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A user with UD queue pairs whose send queues are full of datagrams to somebody
 * on this host who is not there. */
#ifndef UR_TESTS_DEVICE_SENDER_H
#define UR_TESTS_DEVICE_SENDER_H

#include "kernel-abi/uroce-ring.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"

#define SENDER_QPS 256

struct queue {
	uint32_t handle;
	struct uroce_create_qp_resp rings;
	uint8_t *base;
};

struct sender {
	struct user user;
	int visible, wake_fd;
	struct uroce_db_page *db;
	uint32_t ah, ah_number, mr, lkey;
	uint64_t addr; /* of what is sent */
	struct queue queue[SENDER_QPS];
	unsigned int n;
};

struct sender *sender_begin(const struct daemon_proc *d, unsigned int n,
			    uint32_t depth);
int64_t sender_modify(const struct sender *s, const struct queue *q,
		      uint32_t state, uint32_t mask);
/* Fills the queue with all that it takes and sets its bit; wakes nobody. */
void sender_fill(struct sender *s, struct queue *q);
/* Tell the engine. */
void sender_wake(const struct sender *s);
void sender_end(struct sender *s);

#endif
