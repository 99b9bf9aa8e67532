/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A made-up libibverbs and the made-up provider behind it, both in one process. The
 * provider does at once, by copying, what is posted: enough for the programs of the lab.
 * The layout of a release comes from definitions of the build. Never installed.
 *
 * Each object has its own part before the public one, so that the public one ends where
 * the release's does.
 */
#ifndef UR_TESTS_LAB_MADE_UP_H
#define UR_TESTS_LAB_MADE_UP_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define MADE_SGES 4
#define MADE_WRS  256

/* Bytes that nobody may write to. */
#define MADE_GUARD 0xa5

/* A request: of a send queue, or a receive. */
struct made_work {
	uint64_t wr_id, seq;
	enum ibv_wr_opcode opcode;
	bool signaled, receive;
	unsigned char inlined[256];
	bool is_inline;
	uint32_t length; /* of inlined */
	int sges;
	struct ibv_sge sge[MADE_SGES];
	uint64_t remote_addr, add;
	uint32_t rkey, remote_qpn, qkey;
};

struct made_ring {
	struct made_work work[MADE_WRS];
	uint32_t head, used;
};

struct made_done {
	struct ibv_wc wc;
	struct ibv_qp *qp; /* whose send it was, or NULL */
	uint64_t seq;
};

struct made_cq {
	struct made_done done[1024];
	uint32_t head, used, users;
	bool armed;
	unsigned int got; /* events, not yet acknowledged */
	struct made_done now;
	pthread_mutex_t lock;
	struct ibv_cq_ex ex; /* public */
};

struct made_srq {
	struct made_ring recv;
	uint32_t limit, got;
	struct ibv_srq ib;
};

struct made_qp {
	struct made_ring recv, waiting; /* sends that wait for a receive */
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;
	bool sq_sig_all;
	uint64_t posted, polled; /* sends */
	unsigned int got;
	struct made_work built[16];
	uint32_t builds;
	pthread_mutex_t lock;
	struct ibv_qp *next; /* of all */
	uint64_t pad;
};

struct made_mr {
	struct ibv_mr ib;
	unsigned int access;
	struct made_mr *next;
};

struct made_channel {
	struct ibv_comp_channel ib;
	int tell; /* what is written here is read from ib.fd */
};

struct made_event {
	enum ibv_event_type type;
	void *element;
};

/* The provider's list of what there is. */
extern struct ibv_qp *made_qps;
extern struct made_mr *made_mrs;

static inline struct made_cq *made_cq_of(struct ibv_cq *cq)
{
	return (struct made_cq *)((char *)cq - offsetof(struct made_cq, ex));
}

static inline struct made_srq *made_srq_of(struct ibv_srq *srq)
{
	return (struct made_srq *)((char *)srq - offsetof(struct made_srq, ib));
}

static inline struct made_qp *made_qp_of(struct ibv_qp *qp)
{
	return (struct made_qp *)((char *)qp - sizeof(struct made_qp));
}

/* The library's makers of objects, for functions of the vendor's that pass by its own
 * names. */
extern struct ibv_cq *(*made_new_cq)(struct ibv_context *context, int cqe,
				     struct ibv_comp_channel *channel);
extern struct ibv_qp *(*made_new_qp)(struct ibv_pd *pd,
				     struct ibv_qp_init_attr *attr);

extern struct ibv_context *(*made_new_context)(struct ibv_device *device);

/* Puts the provider's functions into what the library has made. */
void made_fill_context(struct ibv_context *context);
void made_fill_cq(struct ibv_cq_ex *cq);
void made_fill_qp(struct ibv_qp_ex *qp);

/* The provider's parts, for each other: posts a request with so many elements, fills
 * the elements of one, polls and arms a queue. */
int made_post(struct ibv_qp *qp, struct made_work *work, uint32_t sges);
void made_fill_elements(struct made_work *work, const struct ibv_sge *sge,
			int sges);
int made_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int made_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/* Writes the event into the pipe of a channel or context; a context has the descriptor
 * in num_comp_vectors. */
void made_tell(int fd, const void *event, size_t size);

#endif
