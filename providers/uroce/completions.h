/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Taking completions out of a ring. A CQE belongs to us from the moment its owner bit
 * has our lap's value [Q2] until ring->cons passes it [Q3]; between the two it is read
 * in place. Every function here needs the queue's lock.
 */
#ifndef UR_PROVIDERS_UROCE_COMPLETIONS_H
#define UR_PROVIDERS_UROCE_COMPLETIONS_H

#include "poller.h"
#include "probes.h"
#include "uroce.h"

/* Returns the CQE at ring->cons, or NULL. Skips CQEs of forgotten queue
 * pairs. */
static inline struct uroce_cqe *ur_next_cqe(struct uroce_cq_ring *ring)
{
	for (;;) {
		struct uroce_cqe *cqe = &ring->cqes[ring->cons & ring->mask];

		/* [Q2] */
		if (__atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE) !=
		    (((ring->cons >> ring->shift) & 1) ^ 1))
			return NULL;
		if (__builtin_expect(cqe->mark != UR_CQE_DEAD, 1))
			return cqe;
		cqe->mark = 0;
		ring->cons++;
	}
}

/* Frees the place of a polled WQE in its queue. Called once for each CQE, with
 * the lock held: a queue pair leaves the table before its destroyer takes that
 * lock. */
static inline void ur_give_back(const struct uroce_cq *cq,
				struct uroce_cq_ring *ring,
				const struct uroce_cqe *cqe)
{
	struct uroce_qp *qp = ring->last_qp;

	if (!qp || ring->last_qpn != cqe->qpn) {
		qp = ur_qp_table_get(ur_to_ctx(cq->vcq.cq.context), cqe->qpn);
		if (!qp)
			return;
		ring->last_qp = qp;
		ring->last_qpn = cqe->qpn;
	}
	if (!(cqe->opcode & IBV_WC_RECV))
		__atomic_store_n(&qp->sq.polled, cqe->wqe_counter,
				 __ATOMIC_RELAXED);
	else
		__atomic_store_n(&qp->rq.polled, qp->rq.polled + 1,
				 __ATOMIC_RELEASE);
}

static inline void ur_publish_cons(const struct uroce_cq_ring *ring)
{
	/* [Q3] */
	__atomic_store_n(&ring->hdr->cons, ring->cons, __ATOMIC_RELEASE);
}

static inline void ur_probe_completion(const struct uroce_cqe *cqe)
{
	UR_PROBE5(process_completion, cqe->wr_id, cqe->status, cqe->opcode,
		  cqe->qpn, cqe->byte_len);
}

static inline void ur_fill_wc(struct ibv_wc *wc, const struct uroce_cqe *cqe)
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

/* Takes up to num_entries completions. *bytes: length of the last message. Lock
 * held. */
static inline int ur_take_from(const struct uroce_cq *cq,
			       struct uroce_cq_ring *ring, int num_entries,
			       struct ibv_wc *wc, u32 *bytes)
{
	u32 before = ring->cons;
	int n = 0;

	while (n < num_entries) {
		const struct uroce_cqe *cqe = ur_next_cqe(ring);

		if (!cqe)
			break;
		ur_fill_wc(&wc[n++], cqe);
		ur_probe_completion(cqe);
		*bytes = cqe->byte_len;
		ur_give_back(cq, ring, cqe);
		ring->cons++;
	}
	if (ring->cons != before)
		ur_publish_cons(ring);
	return n;
}

/* Makes cqe the current completion, which the readers of an extended queue
 * read. */
static inline void ur_take_cqe(struct uroce_cq *cq, struct uroce_cq_ring *ring,
			       struct uroce_cqe *cqe)
{
	ur_give_back(cq, ring, cqe);
	ur_probe_completion(cqe);
	cq->cur = cqe;
	cq->vcq.cq_ex.wr_id = cqe->wr_id;
	cq->vcq.cq_ex.status = cqe->status;
}

/* Returns the result of a poll that found n completions, the last one of a message of so many
 * bytes. Called without the lock. */
static inline int ur_polled(const struct uroce_context *ctx, int n, u32 bytes)
{
	if (!n)
		return ur_poller_empty(ctx) ? -EIO : 0;
	ur_poller_found(ctx, bytes);
	return n;
}

#endif
