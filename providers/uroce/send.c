// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibv_post_send: writes a list of work requests as WQEs into the send ring, and
 * publishes them with one doorbell. A request that cannot be posted ends the
 * list: those before it are posted, and bad_wr names it.
 */
#include "probes.h"
#include "uroce.h"
#include "wqe.h"

#define ANY_RC (UR_SENDS_RC | UR_SENDS_XRC)

/* The opcode of each work request, and the transports that have it (IBTA table
 * of operations per service; invalidating sends are RC only). */
static const struct {
	u8 opcode;
	u8 remote; /* enum ur_wqe_remote */
	u16 qpt_mask;
} wr_table[] = {
	[IBV_WR_RDMA_WRITE] = {UROCE_WQE_WRITE, UR_WQE_RADDR,
			       ANY_RC | UR_SENDS_UC},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {UROCE_WQE_WRITE_IMM, UR_WQE_RADDR,
					ANY_RC | UR_SENDS_UC},
	[IBV_WR_SEND] = {UROCE_WQE_SEND, UR_WQE_PLAIN,
			 ANY_RC | UR_SENDS_UC | UR_SENDS_UD | UR_SENDS_RAW},
	[IBV_WR_SEND_WITH_IMM] = {UROCE_WQE_SEND_IMM, UR_WQE_PLAIN,
				  ANY_RC | UR_SENDS_UC | UR_SENDS_UD},
	[IBV_WR_RDMA_READ] = {UROCE_WQE_READ, UR_WQE_RADDR, ANY_RC},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {UROCE_WQE_CMP_SWAP, UR_WQE_ATOMIC,
				       ANY_RC},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {UROCE_WQE_FETCH_ADD, UR_WQE_ATOMIC,
					 ANY_RC},
	[IBV_WR_LOCAL_INV] = {UROCE_WQE_LOCAL_INV, UR_WQE_LOCAL,
			      ANY_RC | UR_SENDS_UC},
	[IBV_WR_BIND_MW] = {UROCE_WQE_BIND_MW, UR_WQE_LOCAL,
			    ANY_RC | UR_SENDS_UC},
	[IBV_WR_SEND_WITH_INV] = {UROCE_WQE_SEND_INV, UR_WQE_PLAIN, ANY_RC},
	[IBV_WR_ATOMIC_WRITE] = {UROCE_WQE_ATOMIC_WRITE, UR_WQE_RADDR, ANY_RC},
};

static int check_wr(const struct uroce_qp *qp, const struct ibv_send_wr *wr)
{
	if ((unsigned int)wr->opcode >= UR_ARRAY_SIZE(wr_table) ||
	    !(wr_table[wr->opcode].qpt_mask & qp->qpt_bit))
		return EINVAL;
	if (wr->num_sge < 0 || (u32)wr->num_sge > qp->max_send_sge)
		return EINVAL;
	if (wr_table[wr->opcode].remote == UR_WQE_ATOMIC &&
	    (wr->send_flags & IBV_SEND_INLINE))
		return EINVAL;
	if (wr->opcode == IBV_WR_RDMA_READ &&
	    (wr->send_flags & IBV_SEND_INLINE))
		return EINVAL;
	if (qp->qpt_bit == UR_SENDS_UD && !wr->wr.ud.ah)
		return EINVAL;
	if (wr->send_flags & ~UR_SEND_FLAGS)
		return EINVAL;
	return 0;
}

/* Bytes of all data segments; ~0 when they do not fit the inline limit. */
static u32 inline_bytes(const struct uroce_qp *qp, const struct ibv_send_wr *wr)
{
	u64 sum = 0;

	for (int i = 0; i < wr->num_sge; i++)
		sum += wr->sg_list[i].length;
	return sum <= qp->max_inline ? (u32)sum : ~0u;
}

static void put_inline(struct uroce_qp *qp, const struct ibv_send_wr *wr,
		       u32 ds, u32 bytes)
{
	u32 off = ds * 16 + sizeof(struct uroce_wqe_inline);

	ur_wqe_put_inline_head(&qp->sq, ds, bytes);
	for (int i = 0; i < wr->num_sge; i++) {
		ur_sq_copy(&qp->sq, qp->sq.next, off,
			   (void *)(uintptr_t)wr->sg_list[i].addr,
			   wr->sg_list[i].length);
		off += wr->sg_list[i].length;
	}
}

static void put_sges(struct uroce_qp *qp, const struct ibv_send_wr *wr, u32 ds)
{
	for (int i = 0; i < wr->num_sge; i++)
		ur_wqe_put_sge(&qp->sq, ds + (u32)i, wr->sg_list[i].lkey,
			       wr->sg_list[i].addr, wr->sg_list[i].length);
}

/* Writes the segment between the addresses and the data. Returns the unit
 * behind it. */
static u32 put_middle(struct uroce_qp *qp, const struct ibv_send_wr *wr, u32 ds)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_WRITE:
		return ur_wqe_put_raddr(&qp->sq, ds, wr->wr.rdma.remote_addr,
					wr->wr.rdma.rkey);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ds = ur_wqe_put_raddr(&qp->sq, ds, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.rkey);
		return ur_wqe_put_atomic(&qp->sq, ds, wr->wr.atomic.swap,
					 wr->wr.atomic.compare_add);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ds = ur_wqe_put_raddr(&qp->sq, ds, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.rkey);
		return ur_wqe_put_atomic(&qp->sq, ds, wr->wr.atomic.compare_add,
					 0);
	case IBV_WR_BIND_MW:
		return ur_wqe_put_bind(&qp->sq, ds, wr->bind_mw.mw,
				       wr->bind_mw.rkey,
				       &wr->bind_mw.bind_info);
	default:
		return ds;
	}
}

static u32 put_address(struct uroce_qp *qp, const struct ibv_send_wr *wr)
{
	if (qp->qpt_bit == UR_SENDS_UD)
		return ur_wqe_put_av(&qp->sq, ur_ah_number(wr->wr.ud.ah),
				     wr->wr.ud.remote_qpn,
				     wr->wr.ud.remote_qkey, 0);
	if (qp->qpt_bit == UR_SENDS_XRC)
		return ur_wqe_put_av(&qp->sq, 0, 0, 0,
				     wr->qp_type.xrc.remote_srqn);
	return 1;
}

/* Writes and commits one WQE at sq.next. Returns 0 or a positive errno. */
static int post_one(struct uroce_qp *qp, const struct ibv_send_wr *wr)
{
	u8 remote = 0, flags;
	u32 ds, bytes = 0, data_ds = 0;
	int err = check_wr(qp, wr);

	if (err)
		return err;
	remote = wr_table[wr->opcode].remote;
	flags = ur_wqe_flags(wr->send_flags) |
		(qp->sq_sig_all ? UROCE_WQE_F_SIGNALED : 0);
	if (remote == UR_WQE_LOCAL) {
		flags &= (u8)~UROCE_WQE_F_INLINE;
	} else if (flags & UROCE_WQE_F_INLINE ||
		   wr->opcode == IBV_WR_ATOMIC_WRITE) {
		bytes = inline_bytes(qp, wr);
		if (wr->opcode == IBV_WR_ATOMIC_WRITE ? bytes != 8
						      : bytes == ~0u)
			return EINVAL;
		flags |= UROCE_WQE_F_INLINE;
		data_ds = ur_wqe_inline_ds(bytes);
	} else {
		data_ds = (u32)wr->num_sge;
	}
	ds = 1 + ur_wqe_av_ds(qp->qpt_bit) +
	     ur_wqe_middle_ds(remote, wr_table[wr->opcode].opcode) + data_ds;
	if (ur_sq_room(&qp->sq, ur_wqe_bbs(ds)))
		return ENOMEM;

	ur_wqe_put_ctrl(&qp->sq, wr_table[wr->opcode].opcode, flags, ds,
			wr->imm_data, wr->wr_id);
	ds = put_middle(qp, wr, put_address(qp, wr));
	if (flags & UROCE_WQE_F_INLINE)
		put_inline(qp, wr, ds, bytes);
	else if (remote != UR_WQE_LOCAL)
		put_sges(qp, wr, ds);
	ur_sq_commit(&qp->sq, ur_wqe_bbs(ds + data_ds),
		     flags & UROCE_WQE_F_SIGNALED);
	UR_PROBE3(post_send, wr->wr_id, wr_table[wr->opcode].opcode,
		  qp->ibv.qp_num);
	return 0;
}

int uroce_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	struct uroce_qp *qp = ur_to_qp(ibqp);
	int err = ur_qp_send_state(qp);
	u32 before;

	if (!qp->sq.bbs)
		err = EINVAL;
	if (err) {
		*bad_wr = wr;
		return err;
	}
	ur_lock_get(&qp->sq.lock);
	before = qp->sq.next;
	for (; wr; wr = wr->next) {
		err = post_one(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (qp->sq.next != before) {
		ur_sq_publish(&qp->sq);
		ur_doorbell_ring(&qp->db, qp->db_slot);
	}
	ur_lock_put(&qp->sq.lock);
	return err;
}
