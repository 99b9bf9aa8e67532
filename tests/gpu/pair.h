/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The connection of the matrix, and its requests. Each function ends the program where it fails. */
#ifndef UR_TESTS_GPU_PAIR_H
#define UR_TESTS_GPU_PAIR_H

#include "tests/e2e/guest/rounds.h"
#include "tests/gpu/memory.h"

/* What each side tells the other. */
struct named {
	uint64_t addr[PLACES];
	uint32_t rkey[PLACES];
	uint32_t qpn, psn;
	union ibv_gid gid;
};

extern struct rounds_peer peer;
extern struct ibv_context *context;
extern struct ibv_pd *pd;
extern struct ibv_cq *cq;
extern struct ibv_qp *qp;
extern struct named there;

/* Makes all of it. */
void pair_begin(void);
void pair_end(void);
/* Connects anew, after an error. */
void again(void);

struct ibv_wc poll_one(void);
/* Returns whether there is no completion. */
bool is_quiet(void);
bool is_atomic(enum ibv_wr_opcode op);
/* Returns an element of the own buffer there. */
struct ibv_sge sge_of(enum place p, uint32_t off, uint32_t len);
/* Posts a request, to the peer's buffer. Returns what ibv_post_send() does. */
int post(enum ibv_wr_opcode op, struct ibv_sge *sge, int n, enum place p,
	 uint32_t off);
void receive(struct ibv_sge *sge, int n);
/* Posts one and waits for its end. */
enum ibv_wc_status run(enum ibv_wr_opcode op, struct ibv_sge sge, enum place p,
		       uint32_t off);
void must_be(enum ibv_wc_status got, enum ibv_wc_status want);

#endif
