/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Mistakes of RDMA programs, one function each, and the same without the
 * mistake. All stand on one pair of connected queue pairs in one process.
 */
#ifndef UR_TESTS_LAB_H
#define UR_TESTS_LAB_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define LAB_BUF 262144

/* The attributes of the pair; zero: a usual value. */
struct lab_wish {
	int cqe;
	uint32_t send_wr, recv_wr, sge, inline_data;
	bool unsignaled; /* sq_sig_all = 0 */
	bool channel;	 /* completion queues have one */
	bool cq_ex, qp_ex;
	bool ud;
	bool srq;		/* the second queue pair takes from lab.srq */
	unsigned int mr_access; /* beside LOCAL_WRITE */
	unsigned int qp_access; /* of the second queue pair */
	bool no_connect;	/* left in RESET */
	uint8_t rd_atomic, dest_rd_atomic, timeout, rnr_retry;
	int mtu;
	bool no_grh, other_gid;
};

struct lab {
	struct lab_wish wish;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	union ibv_gid gid;
	uint8_t gid_index;
	char *buf; /* LAB_BUF bytes in a mapping of their own */
};

/* One of the programs; @wrong: with its mistake. */
struct lab_case {
	const char *id;
	void (*run)(bool wrong);
};

extern const struct lab_case lab_queues[], lab_memory[], lab_paths[], lab_cm[],
	lab_ends[], lab_adverse[];

/* No mistake of its own: a child that inherits, and leaves something or not. */
void lab_fork(bool wrong);
/* UR-EV-02 of a queue pair. */
void lab_async_qp(bool wrong);
/* UR-SQ-13 and UR-RQ-04 by the program's own reads. */
void lab_polls_memory(bool wrong);
void lab_reads_on(bool wrong);
/* UR-SQ-06 of a message that is not summed up whole. */
void lab_long(bool wrong);

/* Ends the program where something that must work does not. */
#define MUST(what) ((what) ? (void)0 : lab_fail(__FILE__, __LINE__, #what))
void lab_fail(const char *file, int line, const char *what)
	__attribute__((noreturn));

/* The device and the pair, as wished; and their end, in order. */
void lab_open(struct lab *lab, const struct lab_wish *wish);
void lab_close(struct lab *lab);
/* The parts of lab_close(), for those that leave some. */
void lab_close_qps(struct lab *lab);
void lab_close_rest(struct lab *lab);

/* Moves queue pair @i to RTS towards the other; returns what failed first. */
int lab_connect(struct lab *lab, int i);
int lab_to_init(struct lab *lab, int i);
int lab_to_rtr(struct lab *lab, int i);
int lab_to_rts(struct lab *lab, int i);

/* An element of the buffer. */
struct ibv_sge lab_sge(struct lab *lab, uint32_t offset, uint32_t length);
/* A SEND of @length bytes from the start of the buffer; to the first queue
 * pair; returns ibv_post_send()'s. */
int lab_send(struct lab *lab, uint32_t length, unsigned int flags);
/* A WRITE or READ or atomic of 8 bytes between offset 0 and @addr. */
int lab_remote(struct lab *lab, enum ibv_wr_opcode opcode, uint64_t addr,
	       uint32_t rkey);
/* A receive of @length bytes at the middle of the buffer, second queue pair. */
int lab_recv(struct lab *lab, uint32_t length);
/* Polls queue @i until there is one. */
struct ibv_wc lab_wait(struct lab *lab, int i);
/* The same, without polling: for an event of queue @i, without arming. */
void lab_event(struct lab *lab, int i);

/* Returns what the environment says of the device that the lab is on, or what it is
 * otherwise: LAB_GID, the index of the address; LAB_ADDRESS, the IPv4 address;
 * LAB_REMOVE, the command that takes the device away. */
const char *lab_setting(const char *name, const char *otherwise);

/* The mistake leads to a wait for ever: who started the program ends it. */
void lab_hangs(void);

#endif
