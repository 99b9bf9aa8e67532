// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Posting receives, to a queue pair or a shared receive queue. */
#include "probes.h"
#include "uroce.h"

static void write_wqe(const struct ur_rq *rq, const struct ibv_recv_wr *wr)
{
	u8 *at = rq->base + (size_t)(rq->prod & rq->mask) * rq->stride;
	struct uroce_recv_wqe hdr = {.wr_id = wr->wr_id,
				     .num_sge = (u32)wr->num_sge};
	struct uroce_wqe_data *sge = (void *)(at + sizeof(hdr));

	memcpy(at, &hdr, sizeof(hdr));
	for (int i = 0; i < wr->num_sge; i++)
		sge[i] = (struct uroce_wqe_data){
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
			.addr = wr->sg_list[i].addr,
		};
}

/* Writes the receives of a list; returns as ibv_post_recv, with *kick set if
 * the device wants a doorbell. */
static int post_list(struct ur_rq *rq, u32 qpn, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr, bool *kick)
{
	u32 before;
	int err = 0;

	*kick = false;
	if (!rq->max_wqes) {
		*bad_wr = wr;
		return EINVAL;
	}
	ur_lock_get(&rq->lock);
	before = rq->prod;
	for (; wr; wr = wr->next) {
		if (wr->num_sge < 0 || (u32)wr->num_sge > rq->max_sge) {
			err = EINVAL;
			break;
		}
		if (ur_rq_room(rq)) {
			err = ENOMEM;
			break;
		}
		write_wqe(rq, wr);
		UR_PROBE3(post_recv, wr->wr_id, qpn, wr->num_sge);
		rq->prod++;
	}
	if (rq->prod != before)
		*kick = ur_rq_publish(rq);
	ur_lock_put(&rq->lock);
	if (err)
		*bad_wr = wr;
	return err;
}

int ur_post_recv(struct uroce_qp *qp, struct ibv_recv_wr *wr,
		 struct ibv_recv_wr **bad_wr)
{
	bool kick;
	int err = post_list(&qp->rq, qp->ibv.qp_num, wr, bad_wr, &kick);

	if (kick)
		ur_doorbell_ring(&qp->db, qp->db_slot);
	return err;
}

int uroce_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct uroce_qp *qp = ur_to_qp(ibqp);
	bool lost = ur_doorbell_is_dead(&qp->db);

	if (lost || ur_qp_state(qp) == IBV_QPS_RESET) {
		*bad_wr = wr;
		return lost ? EIO : EINVAL;
	}
	return ur_post_recv(qp, wr, bad_wr);
}

int uroce_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct uroce_srq *srq = ur_to_srq(ibsrq);
	const struct ur_doorbell *db = &srq->db;
	bool kick;
	int err;

	if (ur_doorbell_is_dead(db)) {
		*bad_wr = wr;
		return EIO;
	}
	err = post_list(&srq->rq, 0, wr, bad_wr, &kick);
	if (kick)
		ur_doorbell_ring(db, srq->db_slot);
	return err;
}
