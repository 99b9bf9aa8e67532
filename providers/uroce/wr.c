// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ibv_wr_* builder. One WQE is open at a time, at sq.next: an operation
 * closes the one before and opens its own, the setters append, complete closes
 * and publishes all. After the first error, further calls do nothing,
 * ibv_wr_complete returns it, and nothing of the batch is posted.
 */
#include "probes.h"
#include "uroce.h"
#include "wqe.h"

/* Missing in the headers of rdma-core 44: the operation, and its method's
 * offset in ibv_qp_ex since 45. */
#define UR_QP_EX_WITH_FLUSH (1u << 11)
#define UR_QP_EX_FLUSH_OFF  (352 + UR_MUTEX_MORE)

static inline void set_err(struct uroce_qp *qp, int err)
{
	if (!qp->wr.err)
		qp->wr.err = err;
}

static void close_wqe(struct uroce_qp *qp)
{
	struct uroce_wqe_ctrl *c;

	if (!qp->wr.ds)
		return;
	c = ur_sq_seg(&qp->sq, qp->sq.next, 0);
	c->ds = (u8)qp->wr.ds;
	ur_sq_commit(&qp->sq, ur_wqe_bbs(qp->wr.ds),
		     c->flags & UROCE_WQE_F_SIGNALED);
	qp->wr.ds = 0;
}

/* Makes room for the open WQE to grow to 'ds' units. Returns whether there
 * is. */
static bool grow_request(struct uroce_qp *qp, u32 ds)
{
	if (ur_sq_room(&qp->sq, ur_wqe_bbs(ds))) {
		set_err(qp, ENOMEM);
		return false;
	}
	qp->wr.ds = ds;
	return true;
}

/* Opens a WQE. Returns the first of "middle" units for the caller to fill; 0
 * after an error. */
static u32 open_wqe(struct uroce_qp *qp, u8 opcode, u32 imm_inv, u32 middle)
{
	u8 flags = ur_wqe_flags(qp->ex.wr_flags) & (u8)~UROCE_WQE_F_INLINE;
	u32 ds = 1 + ur_wqe_av_ds(qp->qpt_bit);

	if (qp->wr.err)
		return 0;
	/* The setter decides on INLINE; programs set it in both. */
	if (qp->ex.wr_flags & ~UR_SEND_FLAGS) {
		set_err(qp, EINVAL);
		return 0;
	}
	close_wqe(qp);
	if (!grow_request(qp, ds + middle))
		return 0;
	if (qp->sq_sig_all)
		flags |= UROCE_WQE_F_SIGNALED;
	ur_wqe_put_ctrl(&qp->sq, opcode, flags, 0, imm_inv, qp->ex.wr_id);
	UR_PROBE3(post_send, qp->ex.wr_id, opcode, qp->ibv.qp_num);
	if (ds == 2)
		ur_wqe_put_av(&qp->sq, 0, 0, 0, 0);
	qp->wr.data_ds = ds + middle;
	return ds;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);

	ur_lock_get(&qp->sq.lock);
	qp->wr.start_next = qp->sq.next;
	qp->wr.start_head = qp->sq.head;
	qp->wr.ds = 0;
	qp->wr.err = ur_qp_send_state(qp);
}

static void roll_back(struct uroce_qp *qp)
{
	qp->sq.next = qp->wr.start_next;
	qp->sq.head = qp->wr.start_head;
	qp->wr.ds = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	int err = qp->wr.err;

	if (err) {
		roll_back(qp);
	} else {
		close_wqe(qp);
		if (qp->sq.next != qp->wr.start_next) {
			ur_sq_publish(&qp->sq);
			ur_doorbell_ring(&qp->db, qp->db_slot);
		}
	}
	ur_lock_put(&qp->sq.lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);

	roll_back(qp);
	ur_lock_put(&qp->sq.lock);
}

static void wr_send(struct ibv_qp_ex *ex)
{
	open_wqe(ur_to_qp_ex(ex), UROCE_WQE_SEND, 0, 0);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	open_wqe(ur_to_qp_ex(ex), UROCE_WQE_SEND_IMM, imm, 0);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	open_wqe(ur_to_qp_ex(ex), UROCE_WQE_SEND_INV, rkey, 0);
}

static void open_raddr(struct ibv_qp_ex *ex, u8 opcode, u32 imm, u32 rkey,
		       u64 addr)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = open_wqe(qp, opcode, imm, 1);

	if (ds)
		ur_wqe_put_raddr(&qp->sq, ds, addr, rkey);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	open_raddr(ex, UROCE_WQE_WRITE, 0, rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t addr, __be32 imm)
{
	open_raddr(ex, UROCE_WQE_WRITE_IMM, imm, rkey, addr);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	open_raddr(ex, UROCE_WQE_READ, 0, rkey, addr);
}

static void open_atomic(struct ibv_qp_ex *ex, u8 opcode, u32 rkey, u64 addr,
			u64 swap_add, u64 compare)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = open_wqe(qp, opcode, 0, 2);

	if (!ds)
		return;
	ds = ur_wqe_put_raddr(&qp->sq, ds, addr, rkey);
	ur_wqe_put_atomic(&qp->sq, ds, swap_add, compare);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t addr, uint64_t compare, uint64_t swap)
{
	open_atomic(ex, UROCE_WQE_CMP_SWAP, rkey, addr, swap, compare);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey,
				uint64_t addr, uint64_t add)
{
	open_atomic(ex, UROCE_WQE_FETCH_ADD, rkey, addr, add, 0);
}

static void mark_inline(struct uroce_qp *qp)
{
	struct uroce_wqe_ctrl *c = ur_sq_seg(&qp->sq, qp->sq.next, 0);

	c->flags |= UROCE_WQE_F_INLINE;
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
			    const void *value)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = open_wqe(qp, UROCE_WQE_ATOMIC_WRITE, 0,
			  1 + ur_wqe_inline_ds(8));

	if (!ds)
		return;
	ds = ur_wqe_put_raddr(&qp->sq, ds, addr, rkey);
	ur_wqe_put_inline_head(&qp->sq, ds, 8);
	ur_sq_copy(&qp->sq, qp->sq.next,
		   ds * 16 + sizeof(struct uroce_wqe_inline), value, 8);
	mark_inline(qp);
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = open_wqe(qp, UROCE_WQE_BIND_MW, 0,
			  sizeof(struct uroce_wqe_bind) / 16);

	if (!ds)
		return;
	ur_wqe_put_bind(&qp->sq, ds, mw, rkey, info);
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	open_wqe(ur_to_qp_ex(ex), UROCE_WQE_LOCAL_INV, rkey, 0);
}

static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
		     size_t len, uint8_t type, uint8_t level)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = open_wqe(qp, UROCE_WQE_FLUSH, 0, 2);
	struct uroce_wqe_flush *f;

	if (!ds)
		return;
	ds = ur_wqe_put_raddr(&qp->sq, ds, addr, rkey);
	f = ur_sq_seg(&qp->sq, qp->sq.next, ds);
	*f = (struct uroce_wqe_flush){
		.type = type, .level = level, .length = len};
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah,
			   uint32_t dqpn, uint32_t qkey)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);

	if (qp->wr.ds)
		ur_wqe_put_av(&qp->sq, ur_ah_number(ah), dqpn, qkey, 0);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);

	if (qp->wr.ds)
		ur_wqe_put_av(&qp->sq, 0, 0, 0, srqn);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = qp->wr.data_ds;

	if (!qp->wr.ds || qp->wr.err)
		return;
	if (!qp->max_send_sge) {
		set_err(qp, EINVAL);
		return;
	}
	if (grow_request(qp, ds + 1))
		ur_wqe_put_sge(&qp->sq, ds, lkey, addr, length);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge,
			    const struct ibv_sge *sg)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 ds = qp->wr.data_ds;

	if (!qp->wr.ds || qp->wr.err)
		return;
	if (num_sge > qp->max_send_sge) {
		set_err(qp, EINVAL);
		return;
	}
	if (!grow_request(qp, ds + (u32)num_sge))
		return;
	for (size_t i = 0; i < num_sge; i++)
		ur_wqe_put_sge(&qp->sq, ds + (u32)i, sg[i].lkey, sg[i].addr,
			       sg[i].length);
}

static bool is_of_gpu(const struct uroce_qp *qp, size_t num_buf,
		      const struct ibv_data_buf *buf)
{
	const struct ibv_context *context = qp->ibv.context;
	bool any = false;

	if (!__atomic_load_n(&ur_to_ctx(qp->ibv.context)->has_gpu,
			     __ATOMIC_RELAXED))
		return false;
	for (size_t i = 0; i < num_buf && !any; i++)
		any = ur_gpu_has(context, (uintptr_t)buf[i].addr,
				 buf[i].length);
	return any;
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *buf)
{
	struct uroce_qp *qp = ur_to_qp_ex(ex);
	u32 off, ds = qp->wr.data_ds;
	u64 bytes = 0;

	if (!qp->wr.ds || qp->wr.err)
		return;
	if (__builtin_expect(is_of_gpu(qp, num_buf, buf), 0)) {
		set_err(qp, EINVAL);
		return;
	}
	for (size_t i = 0; i < num_buf && bytes <= qp->max_inline; i++)
		bytes += ur_min_u64(buf[i].length, (u64)qp->max_inline + 1);
	if (bytes > qp->max_inline) {
		set_err(qp, EINVAL);
		return;
	}
	if (!grow_request(qp, ds + ur_wqe_inline_ds((u32)bytes)))
		return;
	ur_wqe_put_inline_head(&qp->sq, ds, (u32)bytes);
	off = ds * 16 + sizeof(struct uroce_wqe_inline);
	for (size_t i = 0; i < num_buf; i++) {
		ur_sq_copy(&qp->sq, qp->sq.next, off, buf[i].addr,
			   (u32)buf[i].length);
		off += (u32)buf[i].length;
	}
	mark_inline(qp);
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {.addr = addr, .length = length};

	wr_set_inline_data_list(ex, 1, &buf);
}

/* Operations of each transport, as in send.c. */
static u64 supported_ops(u16 qpt_bit)
{
	const u64 ud = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const u64 uc = ud | IBV_QP_EX_WITH_RDMA_WRITE |
		       IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		       IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
	u64 rc = uc | IBV_QP_EX_WITH_RDMA_READ |
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
		 IBV_QP_EX_WITH_SEND_WITH_INV;

	/* The method must lie before the library's own fields. */
	if (ur_vqp_tail >= UR_QP_EX_FLUSH_OFF)
		rc |= IBV_QP_EX_WITH_ATOMIC_WRITE;
	if (ur_vqp_tail > UR_QP_EX_FLUSH_OFF)
		rc |= UR_QP_EX_WITH_FLUSH;
	switch (qpt_bit) {
	case UR_SENDS_UD:
		return ud;
	case UR_SENDS_RAW:
		return IBV_QP_EX_WITH_SEND;
	case UR_SENDS_UC:
		return uc;
	case UR_SENDS_RC:
	case UR_SENDS_XRC:
		return rc;
	default:
		return 0;
	}
}

#define METHOD(op, entry)                      \
	do {                                   \
		if (ops & IBV_QP_EX_WITH_##op) \
			ex->entry = entry;     \
	} while (0)

int ur_qp_set_wr_methods(struct uroce_qp *qp, u64 ops)
{
	struct ibv_qp_ex *ex = &qp->ex;
	void (*flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t,
		      uint8_t) = wr_flush;

	if (!ur_vqp_tail || (ops & ~supported_ops(qp->qpt_bit)))
		return EOPNOTSUPP;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (qp->qpt_bit == UR_SENDS_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (qp->qpt_bit == UR_SENDS_XRC)
		ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	METHOD(SEND, wr_send);
	METHOD(SEND_WITH_IMM, wr_send_imm);
	METHOD(SEND_WITH_INV, wr_send_inv);
	METHOD(RDMA_WRITE, wr_rdma_write);
	METHOD(RDMA_WRITE_WITH_IMM, wr_rdma_write_imm);
	METHOD(RDMA_READ, wr_rdma_read);
	METHOD(ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp);
	METHOD(ATOMIC_FETCH_AND_ADD, wr_atomic_fetch_add);
	METHOD(ATOMIC_WRITE, wr_atomic_write);
	METHOD(BIND_MW, wr_bind_mw);
	METHOD(LOCAL_INV, wr_local_inv);
	if (ops & UR_QP_EX_WITH_FLUSH)
		memcpy(qp->room + UR_QP_EX_FLUSH_OFF, &flush, sizeof(flush));
	return 0;
}
