/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The other side of the rings, in the test's own process: a context, a queue
 * pair and a completion queue as create would make them, and what a device
 * does with them. Not thread safe but where it says so.
 */
#ifndef UR_TESTS_FAKE_DEVICE_H
#define UR_TESTS_FAKE_DEVICE_H

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/uroce/uroce.h"
#include "tests/check.h"

struct fake {
	struct uroce_context ctx;
	struct uroce_db_page *page;
	struct uroce_qp *qp;
	struct uroce_cq *cq;
	struct uroce_ah ah;
	struct uroce_ring_hdr *sq_hdr, *rq_hdr;
	u8 *sq, *rq;
	u32 sq_bbs, cq_prod;
};

/* Rings are never freed: a test ends soon. */
static inline void *fake_alloc(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static inline void fake_init_cq(struct fake *f, u32 entries)
{
	struct uroce_cq *cq = fake_alloc(sizeof(*cq));

	cq->vcq.cq.context = &f->ctx.ibv;
	cq->ring.hdr = fake_alloc(sizeof(*cq->ring.hdr));
	cq->ring.cqes = fake_alloc(entries * sizeof(*cq->ring.cqes));
	cq->ring.mask = entries - 1;
	cq->ring.shift = (u32)__builtin_ctz(entries);
	f->cq = cq;
	f->cq_prod = 0;
}

static inline void fake_init(struct fake *f, u16 qpt_bit, u32 max_wqes,
			     u32 sq_bbs, u32 rq_entries)
{
	struct uroce_qp *qp = fake_alloc(sizeof(*qp));

	memset(f, 0, sizeof(*f));
	f->page = fake_alloc(sizeof(*f->page));
	f->ctx.db.page = f->page;
	f->ctx.db.slots = UROCE_DB_SLOTS;
	f->ctx.db.wake_fd = eventfd(0, EFD_NONBLOCK);
	CHECK(f->ctx.db.wake_fd >= 0);
	f->sq_hdr = fake_alloc(sizeof(*f->sq_hdr));
	f->rq_hdr = fake_alloc(sizeof(*f->rq_hdr));
	f->sq = fake_alloc((size_t)sq_bbs * UROCE_SQ_BB);
	f->rq = fake_alloc((size_t)rq_entries * 64);
	f->sq_bbs = sq_bbs;
	f->ah.ibv.context = &f->ctx.ibv;
	f->ah.ah = 77;

	qp->ibv.context = &f->ctx.ibv;
	qp->ibv.qp_num = 0x11;
	qp->qpt_bit = qpt_bit;
	qp->state = IBV_QPS_RTS;
	qp->max_send_sge = 3;
	qp->max_inline = 200;
	qp->db = f->ctx.db;
	qp->db_slot = 131;
	qp->sq.hdr = f->sq_hdr;
	qp->sq.base = f->sq;
	qp->sq.bytes_mask = sq_bbs * UROCE_SQ_BB - 1;
	qp->sq.bbs = sq_bbs;
	qp->sq.max_wqes = max_wqes;
	qp->sq.slots_mask = ur_roundup_pow2(max_wqes) - 1;
	qp->sq.slots =
		fake_alloc(sizeof(*qp->sq.slots) * (qp->sq.slots_mask + 1));
	qp->sq.polled = (u32)-1;
	qp->rq.hdr = f->rq_hdr;
	qp->rq.base = f->rq;
	qp->rq.mask = rq_entries - 1;
	qp->rq.stride = 64;
	qp->rq.max_wqes = rq_entries;
	qp->rq.max_sge = 3;
	f->qp = qp;
	f->ctx.qp_table[0] =
		fake_alloc(sizeof(*f->ctx.qp_table[0]) * UR_QP_TABLE);
	CHECK(!ur_qp_table_set(&f->ctx, qp->ibv.qp_num, qp));
	fake_init_cq(f, 8);
}

/* Starts all free-running indices of the send queue at 'bb'. */
static inline void fake_sq_at(struct fake *f, u32 bb)
{
	f->qp->sq.next = bb;
	f->qp->sq.cons = bb;
	f->qp->sq.polled = bb - 1;
	f->sq_hdr->prod = bb;
	f->sq_hdr->cons = bb;
}

/* Copies the WQE at the device's index, straightened, and takes it. Returns
 * its 16-byte units, 0 if there is none. */
static inline u32 fake_take_wqe(struct fake *f, u8 out[UROCE_MAX_WQE_BYTES])
{
	u32 prod = __atomic_load_n(&f->sq_hdr->prod, __ATOMIC_ACQUIRE);
	u32 cons = f->sq_hdr->cons;
	u32 ds;

	if (prod == cons)
		return 0;
	ds = f->sq[(cons & (f->sq_bbs - 1)) * 64 + 2];
	CHECK(ds >= 1 && ds <= 64);
	CHECK((ds + 3) / 4 <= prod - cons);
	for (u32 i = 0; i < ds; i++)
		memcpy(out + i * 16,
		       f->sq + ((cons * 64 + i * 16) & (f->sq_bbs * 64 - 1)),
		       16);
	__atomic_store_n(&f->sq_hdr->cons, cons + (ds + 3) / 4,
			 __ATOMIC_RELEASE);
	return ds;
}

/* Writes a completion; the owner bit last. */
static inline void fake_complete(struct fake *f, u64 wr_id, u32 qpn)
{
	struct uroce_cqe *cqe =
		&f->cq->ring.cqes[f->cq_prod & f->cq->ring.mask];
	struct uroce_cqe v = {
		.wr_id = wr_id,
		.qpn = qpn,
		.byte_len = 5,
		.opcode = IBV_WC_RECV,
		.timestamp_ns = 1000 + f->cq_prod,
	};

	memcpy(cqe, &v, offsetof(struct uroce_cqe, owner));
	__atomic_store_n(&cqe->owner,
			 ((f->cq_prod >> f->cq->ring.shift) & 1) ^ 1,
			 __ATOMIC_RELEASE);
	f->cq_prod++;
}

/* The completion of the send whose first block is 'bb'. */
static inline void fake_complete_send(struct fake *f, u32 bb)
{
	struct uroce_cqe *cqe =
		&f->cq->ring.cqes[f->cq_prod & f->cq->ring.mask];

	cqe->wqe_counter = bb;
	cqe->qpn = f->qp->ibv.qp_num;
	cqe->opcode = IBV_WC_SEND;
	__atomic_store_n(&cqe->owner,
			 ((f->cq_prod >> f->cq->ring.shift) & 1) ^ 1,
			 __ATOMIC_RELEASE);
	f->cq_prod++;
}

/* Takes the doorbell bits; whether that slot's was set. */
static inline bool fake_take_doorbell(struct fake *f, u32 slot)
{
	u64 sum = __atomic_exchange_n(&f->page->summary, 0, __ATOMIC_SEQ_CST);
	u64 word;

	if (!(sum >> (slot / 64) & 1))
		return false;
	word = __atomic_exchange_n(&f->page->word[slot / 64], 0,
				   __ATOMIC_SEQ_CST);
	return word >> (slot % 64) & 1;
}

#endif
