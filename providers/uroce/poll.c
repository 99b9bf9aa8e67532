// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Taking completions: ibv_poll_cq, and ibv_start_poll with its readers.
 *
 * A CQE belongs to us from the moment its owner bit has our lap's value [Q2]
 * until cq->cons passes it [Q3]; between the two it is read in place.
 */
#include <errno.h>
#include <time.h>

#include "guest.h"
#include "poller.h"
#include "probes.h"
#include "uroce.h"

/* The CQE at cq->cons, or NULL; skips those of forgotten queue pairs. */
static inline struct uroce_cqe *next_cqe(struct uroce_cq *cq)
{
	for (;;) {
		struct uroce_cqe *cqe = &cq->cqes[cq->cons & cq->mask];

		/* [Q2] */
		if (__atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE) !=
		    (((cq->cons >> cq->shift) & 1) ^ 1))
			return NULL;
		if (__builtin_expect(cqe->mark != UR_CQE_DEAD, 1))
			return cqe;
		cqe->mark = 0;
		cq->cons++;
	}
}

/* Gives the place of a polled WQE back to its queue. Called once for each
 * CQE, under the lock: a queue pair leaves the table before its destroyer
 * takes that lock. */
static inline void give_back(struct uroce_cq *cq, const struct uroce_cqe *cqe)
{
	struct uroce_qp *qp = cq->last_qp;

	if (!qp || cq->last_qpn != cqe->qpn) {
		qp = ur_qp_table_get(ur_to_ctx(cq->vcq.cq.context), cqe->qpn);
		if (!qp)
			return;
		cq->last_qp = qp;
		cq->last_qpn = cqe->qpn;
	}
	if (!(cqe->opcode & IBV_WC_RECV))
		__atomic_store_n(&qp->sq.polled, cqe->wqe_counter,
				 __ATOMIC_RELAXED);
	else
		__atomic_store_n(&qp->rq.polled, qp->rq.polled + 1,
				 __ATOMIC_RELEASE);
}

static inline void publish_cons(struct uroce_cq *cq)
{
	__atomic_store_n(&cq->hdr->cons, cq->cons, __ATOMIC_RELEASE); /* [Q3] */
}

static inline void probe_completion(const struct uroce_cqe *cqe)
{
	UR_PROBE5(process_completion, cqe->wr_id, cqe->status, cqe->opcode,
		  cqe->qpn, cqe->byte_len);
}

static void fill_wc(struct ibv_wc *wc, const struct uroce_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->imm_data = cqe->imm_inv;
	wc->qp_num = cqe->qpn;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = cqe->wc_flags;
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0; /* Ethernet has no LIDs */
	wc->sl = cqe->sl;
	wc->dlid_path_bits = 0;
}

/* Takes what there is. *bytes: of the last one's message. */
static int take_some(struct uroce_cq *cq, int num_entries, struct ibv_wc *wc,
		     u32 *bytes)
{
	u32 before;
	int n = 0;

	ur_lock_get(&cq->lock);
	before = cq->cons;
	while (n < num_entries) {
		const struct uroce_cqe *cqe = next_cqe(cq);

		if (!cqe)
			break;
		fill_wc(&wc[n++], cqe);
		probe_completion(cqe);
		*bytes = cqe->byte_len;
		give_back(cq, cqe);
		cq->cons++;
	}
	if (cq->cons != before)
		publish_cons(cq);
	ur_lock_put(&cq->lock);
	return n;
}

int uroce_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct uroce_cq *cq = ur_to_cq(ibcq);
	u32 bytes = 0;
	int n;

	if (ur_doorbell_is_dead(&ur_to_ctx(ibcq->context)->db))
		return -EIO;
	n = take_some(cq, num_entries, wc, &bytes);
	if (!n && ur_guest_poll(ur_to_ctx(ibcq->context)))
		n = take_some(cq, num_entries, wc, &bytes);
	if (!n)
		return ur_poller_empty(ur_to_ctx(ibcq->context)) ? -EIO : 0;
	ur_poller_found(ur_to_ctx(ibcq->context), bytes);
	return n;
}

static void take_cqe(struct uroce_cq *cq, struct uroce_cqe *cqe)
{
	give_back(cq, cqe);
	probe_completion(cqe);
	cq->cur = cqe;
	cq->vcq.cq_ex.wr_id = cqe->wr_id;
	cq->vcq.cq_ex.status = cqe->status;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;
	u32 before;

	if (attr->comp_mask)
		return EINVAL;
	if (ur_doorbell_is_dead(&ur_to_ctx(ibcq->context)->db))
		return EIO;
	ur_lock_get(&cq->lock);
	before = cq->cons;
	cqe = next_cqe(cq);
	if (!cqe && ur_guest_poll(ur_to_ctx(ibcq->context)))
		cqe = next_cqe(cq);
	if (!cqe) {
		if (cq->cons != before)
			publish_cons(cq);
		ur_lock_put(&cq->lock);
		return ur_poller_empty(ur_to_ctx(ibcq->context)) ? EIO : ENOENT;
	}
	ur_poller_found(ur_to_ctx(ibcq->context), cqe->byte_len);
	take_cqe(cq, cqe);
	return 0;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	if (cq->cur) {
		cq->cons++;
		cq->cur = NULL;
	}
	cqe = next_cqe(cq);
	if (!cqe)
		return ENOENT;
	take_cqe(cq, cqe);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);

	if (cq->cur) {
		cq->cons++;
		cq->cur = NULL;
	}
	publish_cons(cq);
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

static u64 clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

#define CLOCKS_TRIES   8
#define CLOCKS_GOOD_NS 2000

/* Returns how far CLOCK_REALTIME is from CLOCK_MONOTONIC_RAW now. We may be put
 * aside between two looks at a clock: the closest of a few pairs counts. */
static u64 clocks_distance(void)
{
	u64 best = UINT64_MAX, distance = 0;

	for (u32 i = 0; i < CLOCKS_TRIES && best > CLOCKS_GOOD_NS; i++) {
		u64 before = clock_ns(CLOCK_MONOTONIC_RAW);
		u64 wall = clock_ns(CLOCK_REALTIME);
		u64 took = clock_ns(CLOCK_MONOTONIC_RAW) - before;

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
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
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
