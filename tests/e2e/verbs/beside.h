/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RC and XRC queue pairs on one completion queue. With UROCE_ENGINE=process what receives on
 * XRC is in the device and all else in the program, which nobody should notice; with BESIDE_ALONE in the
 * environment, all.
 */
#ifndef UR_TESTS_VERBS_BESIDE_H
#define UR_TESTS_VERBS_BESIDE_H

#include "bench.h"

/* An RC pair and an XRC one, all with the same queue. */
struct beside {
	struct bench t;
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct end rc[2], xrc;
	struct ibv_qp *target;
	struct ibv_srq *srq;
	struct ibv_xrcd *domain;
	uint32_t srqn;
};

/* Device, domain, channel and queue; and with both pairs. */
void beside_open_bare(struct beside *b, int cqe);
void beside_open_both(struct beside *b, int cqe);
struct ibv_mr *beside_make_buffer(struct beside *b, uint8_t **buf);
void beside_make_rc(struct beside *b);
void beside_make_xrc(struct beside *b);
void beside_end_xrc(struct beside *b);
void beside_end_rc(struct beside *b);
void beside_close_bare(struct beside *b);
void beside_close_both(struct beside *b);
/* A message of the XRC pair from the first half of its buffer to the other, and one of
 * the RC pair. */
void beside_send_xrc(struct beside *b, uint64_t id, unsigned int flags);
void beside_send_rc(struct beside *b, uint64_t id, unsigned int flags);
bool beside_is_xrc(const struct beside *b, uint32_t qpn);
/* Both messages of that number have come, as four completions. */
void beside_expect_both(struct beside *b, uint64_t id);

#endif
