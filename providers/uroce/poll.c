// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Polls completions: ibv_poll_cq, and ibv_start_poll with its readers, for
 * contexts that use the device's engine. two_rings.c serves the others.
 */
#include <errno.h>

#include "completions.h"
#include "util/os/clock.h"

static int take_some(struct uroce_cq *cq, int num_entries, struct ibv_wc *wc,
		     u32 *bytes)
{
	int n;

	ur_lock_get(&cq->lock);
	n = ur_take_from(cq, &cq->ring, num_entries, wc, bytes);
	ur_lock_put(&cq->lock);
	return n;
}

int uroce_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	u32 bytes = 0;
	int n = take_some(ur_to_cq(ibcq), num_entries, wc, &bytes);

	return ur_polled(ur_to_ctx(ibcq->context), n, bytes);
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;
	u32 before;

	if (attr->comp_mask)
		return EINVAL;
	ur_lock_get(&cq->lock);
	before = cq->ring.cons;
	cqe = ur_next_cqe(&cq->ring);
	if (!cqe) {
		if (cq->ring.cons != before)
			ur_publish_cons(&cq->ring);
		ur_lock_put(&cq->lock);
		return ur_poller_empty(ur_to_ctx(ibcq->context)) ? EIO : ENOENT;
	}
	ur_poller_found(ur_to_ctx(ibcq->context), cqe->byte_len);
	ur_take_cqe(cq, &cq->ring, cqe);
	return 0;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	if (cq->cur) {
		cq->ring.cons++;
		cq->cur = NULL;
	}
	cqe = ur_next_cqe(&cq->ring);
	if (!cqe)
		return ENOENT;
	ur_take_cqe(cq, &cq->ring, cqe);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);

	if (cq->cur) {
		cq->ring.cons++;
		cq->cur = NULL;
	}
	ur_publish_cons(&cq->ring);
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

static uint64_t read_wallclock_ns(struct ibv_cq_ex *ibcq)
{
	return ur_to_cq_ex(ibcq)->cur->timestamp_ns + clocks_distance();
}

void ur_cq_set_methods(struct uroce_cq *cq, u32 wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	cq->wc_flags = wc_flags;
	ex->start_poll = cq->guest ? uroce_guest_start_poll : start_poll;
	ex->next_poll = cq->guest ? uroce_guest_next_poll : next_poll;
	ex->end_poll = cq->guest ? uroce_guest_end_poll : end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = read_wallclock_ns;
}
