/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A workbench for tests of the verbs through the stock libibverbs: one
 * device, two queue pairs connected to each other in this process. A failed
 * call ends the test.
 */
#ifndef UR_TESTS_VERBS_BENCH_H
#define UR_TESTS_VERBS_BENCH_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"

#define BUF_BYTES (256 * 1024)

/* One side: queue pair, completion queue, registered buffer. */
struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_qp_cap cap; /* as granted */
};

struct bench {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	union ibv_gid gid;
	struct end a, b;
};

#define ALL_ACCESS                                            \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |    \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND)

/* The first device. */
struct ibv_context *open_device(void);
/* Device, domain, and two connected RC ends with a CQ each of 'cqe'. */
void bench_open(struct bench *t, int cqe);
/* Only device and domain. */
void bench_bare(struct bench *t);
/* Two connected RC ends on a device and domain that are there. */
void bench_ends(struct bench *t, int cqe);
void bench_end_both(struct bench *t);
void bench_close(struct bench *t);
/* A queue pair with every send operation of the extended API. */
struct ibv_qp *make_qp(struct bench *t, struct ibv_cq *cq, struct ibv_srq *srq,
		       enum ibv_qp_type type, uint32_t send_wr,
		       struct ibv_qp_cap *granted);
void connect_qp(struct bench *t, struct ibv_qp *qp, uint32_t dest);
void to_state(struct ibv_qp *qp, enum ibv_qp_state state);
/* From RESET, with a Q_Key that all of them have. */
void to_rts_ud(struct ibv_qp *qp);

/* Waits for one completion (20 s at most). */
struct ibv_wc wait_wc(struct ibv_cq *cq);
/* Waits for one and holds it against a status. */
struct ibv_wc expect_wc(struct ibv_cq *cq, enum ibv_wc_status status);
/* Takes and acknowledges the next asynchronous event, waiting 'ms' at most;
 * false: there was none. It passes over events of GIDs: the kernel tries the
 * interface's own address for a while. */
bool next_event(struct ibv_context *ctx, int ms, struct ibv_async_event *ev);
/* No completion is there, nor comes while the device handles a NOP-like round
 * trip on the other end. */
void expect_none(struct ibv_cq *cq);

struct ibv_sge sge_of(const struct end *e, uint32_t off, uint32_t len);
int post_recv(struct end *e, uint64_t id, uint32_t off, uint32_t len);
int post_send(struct end *e, uint64_t id, uint32_t off, uint32_t len,
	      unsigned int flags);
/* RDMA of 'len' bytes between the starts of the buffers, to that key. */
int post_rdma(struct end *e, enum ibv_wr_opcode op, uint64_t raddr,
	      uint32_t rkey, uint32_t len);

struct verbs_test {
	const char *name;
	void (*run)(void);
};

/* main() of PROGRAM NAME or PROGRAM --list: runs the test of that name in the
 * groups, which end with NULL, between start and stop (or NULL). */
int verbs_test_main(int argc, char **argv,
		    const struct verbs_test *const *groups, void (*start)(void),
		    void (*stop)(void));

extern const struct verbs_test object_tests[], queue_tests[],
	completion_tests[], memory_tests[], process_tests[], limit_tests[],
	paging_tests[], region_tests[], parting_tests[], target_tests[],
	attribute_tests[], later_tests[], manual_tests[], right_tests[],
	flag_tests[], event_tests[], filter_tests[], together_tests[],
	status_tests[], domain_tests[], beside_tests[], beside_program_tests[],
	state_tests[];

#endif
