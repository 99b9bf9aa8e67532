// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Polls completions: ibv_poll_cq, and ibv_start_poll with its readers. The shared engine may have
 * a ring of the queue too, for SRQs of XRC domains of files; then both are polled.
 */
#include <errno.h>

#include "completions.h"
#include "ectx.h"
#include "util/os/clock.h"

static bool has_shared(const struct uroce_cq *cq)
{
	return __builtin_expect(cq->shared_ring != NULL, 0);
}

/* Puts both rings into rings. Each comes first in turn, so that a busy ring does not
 * starve the other. Lock held. */
static void take_turns(struct uroce_cq *cq, struct uroce_cq_ring *rings[2])
{
	bool first = cq->turn++ & 1;

	rings[first] = &cq->ring;
	rings[!first] = cq->shared_ring;
}

static int take_of_all(struct uroce_cq *cq, int num_entries, struct ibv_wc *wc,
		       u32 *bytes)
{
	struct uroce_cq_ring *rings[2];
	int n = 0;

	ur_lock_get(&cq->lock);
	if (!has_shared(cq)) {
		n = ur_take_from(cq, &cq->ring, num_entries, wc, bytes);
		ur_lock_put(&cq->lock);
		return n;
	}
	take_turns(cq, rings);
	for (u32 i = 0; i < 2; i++)
		n += ur_take_from(cq, rings[i], num_entries - n, wc + n, bytes);
	ur_lock_put(&cq->lock);
	return n;
}

int uroce_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct uroce_context *ctx = ur_to_ctx(ibcq->context);
	struct uroce_cq *cq = ur_to_cq(ibcq);
	u32 bytes = 0;
	int n;

	if (ur_cq_is_dead(ctx, cq))
		return -EIO;
	n = take_of_all(cq, num_entries, wc, &bytes);
	if (!n) {
		ur_poller_wait(ctx);
		if (ctx->engine)
			ctx->engine_ops->poll(ctx->engine);
		n = take_of_all(cq, num_entries, wc, &bytes);
	}
	return ur_polled(ctx, n, bytes);
}

/* Returns the next CQE of both rings, with its ring in cq->cur_ring. */
static struct uroce_cqe *next_of_all(struct uroce_cq *cq)
{
	struct uroce_cq_ring *rings[2];
	struct uroce_cqe *cqe = NULL;

	cq->cur_ring = &cq->ring;
	if (!has_shared(cq))
		return ur_next_cqe(&cq->ring);
	take_turns(cq, rings);
	for (u32 i = 0; !cqe && i < 2; i++) {
		cq->cur_ring = rings[i];
		cqe = ur_next_cqe(cq->cur_ring);
	}
	return cqe;
}

/* Publishes both rings, since forgotten CQEs were skipped too. */
static void publish_all(const struct uroce_cq *cq)
{
	ur_publish_cons(&cq->ring);
	if (cq->shared_ring)
		ur_publish_cons(cq->shared_ring);
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct uroce_context *ctx = ur_to_ctx(ibcq->context);
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	if (attr->comp_mask)
		return EINVAL;
	if (ur_cq_is_dead(ctx, cq))
		return EIO;
	ur_lock_get(&cq->lock);
	cqe = next_of_all(cq);
	if (!cqe) {
		ur_lock_put(&cq->lock);
		ur_poller_wait(ctx);
		ur_lock_get(&cq->lock);
		if (ctx->engine)
			ctx->engine_ops->poll(ctx->engine);
		cqe = next_of_all(cq);
	}
	if (!cqe) {
		publish_all(cq);
		ur_lock_put(&cq->lock);
		return ur_poller_empty(ctx) ? EIO : ENOENT;
	}
	ur_poller_found(ctx, cqe->byte_len);
	ur_take_cqe(cq, cq->cur_ring, cqe);
	return 0;
}

static void done(struct uroce_cq *cq)
{
	if (!cq->cur)
		return;
	cq->cur_ring->cons++;
	cq->cur = NULL;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	done(cq);
	cqe = next_of_all(cq);
	if (!cqe)
		return ENOENT;
	ur_take_cqe(cq, cq->cur_ring, cqe);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);

	done(cq);
	publish_all(cq);
	ur_lock_put(&cq->lock);
}

#define READER(name, type, expr)                                      \
	static type read_##name(struct ibv_cq_ex *ibcq)               \
	{                                                             \
		const struct uroce_cqe *cqe = ur_to_cq_ex(ibcq)->cur; \
                                                                      \
		return expr;                                          \
	}

READER(opcode, enum ibv_wc_opcode, cqe->opcode)
READER(vendor_err, uint32_t, cqe->vendor_err)
READER(byte_len, uint32_t, cqe->byte_len)
READER(imm_data, __be32, cqe->imm_inv)
READER(qp_num, uint32_t, cqe->qpn)
READER(src_qp, uint32_t, cqe->src_qp)
READER(wc_flags, unsigned int, cqe->wc_flags)
READER(sl, uint8_t, cqe->sl)
READER(completion_ts, uint64_t, cqe->timestamp_ns)

static uint32_t read_slid(struct ibv_cq_ex *ibcq)
{
	return 0;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	return 0;
}

#define CLOCKS_TRIES   8
#define CLOCKS_GOOD_NS 2000

/* Returns CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW. The thread may be preempted
 * between reading the two: the closest of a few pairs counts. */
static u64 clocks_distance(void)
{
	u64 best = UINT64_MAX, distance = 0;

	for (u32 i = 0; i < CLOCKS_TRIES && best > CLOCKS_GOOD_NS; i++) {
		u64 before = ur_clock_ns(CLOCK_MONOTONIC_RAW);
		u64 wall = ur_clock_ns(CLOCK_REALTIME);
		u64 took = ur_clock_ns(CLOCK_MONOTONIC_RAW) - before;

		if (took >= best)
			continue;
		best = took;
		distance = wall - before - took / 2;
	}
	return distance;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ibcq)
{
	return ur_to_cq_ex(ibcq)->cur->timestamp_ns + clocks_distance();
}

#define FIELD(field, entry)                            \
	do {                                           \
		if (wc_flags & IBV_WC_EX_WITH_##field) \
			ex->entry = entry;             \
	} while (0)

void ur_cq_set_methods(struct uroce_cq *cq, u32 wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	cq->wc_flags = wc_flags;
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	FIELD(BYTE_LEN, read_byte_len);
	FIELD(IMM, read_imm_data);
	FIELD(QP_NUM, read_qp_num);
	FIELD(SRC_QP, read_src_qp);
	FIELD(SLID, read_slid);
	FIELD(SL, read_sl);
	FIELD(DLID_PATH_BITS, read_dlid_path_bits);
	FIELD(COMPLETION_TIMESTAMP, read_completion_ts);
	FIELD(COMPLETION_TIMESTAMP_WALLCLOCK, read_completion_wallclock_ns);
}
