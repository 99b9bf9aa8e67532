// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The made-up provider: polling, extended queues, and requests that are built. */
#include <errno.h>

#include "tests/lab/made_up/made_up.h"

static bool pop(struct made_cq *cq, struct made_done *done)
{
	if (!cq->used)
		return false;
	*done = cq->done[cq->head];
	cq->head = (cq->head + 1) % 1024;
	cq->used--;
	if (done->qp)
		made_qp_of(done->qp)->polled = done->seq;
	return true;
}

int made_poll_cq(struct ibv_cq *ibcq, int entries, struct ibv_wc *wc)
{
	struct made_done done;
	int n = 0;

	while (n < entries && pop(made_cq_of(ibcq), &done))
		wc[n++] = done.wc;
	return n;
}

int made_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	made_cq_of(cq)->armed = true;
	return 0;
}

static struct made_cq *of(struct ibv_cq_ex *ex)
{
	return made_cq_of(ibv_cq_ex_to_cq(ex));
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct made_cq *cq = of(ex);

	if (!pop(cq, &cq->now))
		return ENOENT;
	ex->wr_id = cq->now.wc.wr_id;
	ex->status = cq->now.wc.status;
	return 0;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&of(ex)->lock);
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	int err;

	pthread_mutex_lock(&of(ex)->lock);
	err = next_poll(ex);
	if (err)
		end_poll(ex);
	return err;
}

#define READER(type, field)                            \
	static type read_##field(struct ibv_cq_ex *ex) \
	{                                              \
		return of(ex)->now.wc.field;           \
	}

READER(enum ibv_wc_opcode, opcode)
READER(uint32_t, vendor_err)
READER(uint32_t, byte_len)
READER(uint32_t, qp_num)
READER(unsigned int, wc_flags)

void made_fill_cq(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_qp_num = read_qp_num;
	ex->read_wc_flags = read_wc_flags;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	pthread_mutex_lock(&made_qp_of(&ex->qp_base)->lock);
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	made_qp_of(&ex->qp_base)->builds = 0;
	pthread_mutex_unlock(&made_qp_of(&ex->qp_base)->lock);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct made_qp *qp = made_qp_of(&ex->qp_base);
	int err = 0;

	for (uint32_t i = 0; i < qp->builds && !err; i++)
		err = made_post(&ex->qp_base, &qp->built[i], 1);
	wr_abort(ex);
	return err;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	struct made_qp *qp = made_qp_of(&ex->qp_base);

	qp->built[qp->builds++ % 16] = (struct made_work){
		.wr_id = ex->wr_id,
		.opcode = IBV_WR_SEND,
		.signaled = qp->sq_sig_all || ex->wr_flags & IBV_SEND_SIGNALED};
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct made_qp *qp = made_qp_of(&ex->qp_base);
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	made_fill_elements(&qp->built[(qp->builds - 1) % 16], &sge, 1);
}

void made_fill_qp(struct ibv_qp_ex *ex)
{
	ex->wr_start = wr_start;
	ex->wr_abort = wr_abort;
	ex->wr_complete = wr_complete;
	ex->wr_send = wr_send;
	ex->wr_set_sge = wr_set_sge;
}
