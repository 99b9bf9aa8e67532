// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mistakes with completion, send and receive queues. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"

/* A message that was sent and received, both completions polled. */
static void exchange(struct lab *lab)
{
	MUST(!lab_recv(lab, 1024));
	MUST(!lab_send(lab, 64, IBV_SEND_SIGNALED));
	MUST(lab_wait(lab, 0).status == IBV_WC_SUCCESS);
	MUST(lab_wait(lab, 1).status == IBV_WC_SUCCESS);
}

static void cq_armed(bool wrong)
{
	struct lab_wish wish = {.channel = true};
	struct ibv_wc wc;
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, 1024));
	MUST(!lab_send(&lab, 64, IBV_SEND_SIGNALED));
	lab_wait(&lab, 0);
	/* The message is there: its completion is in queue 1. */
	usleep(100000);
	MUST(!ibv_req_notify_cq(lab.cq[1], 0));
	if (wrong) {
		lab_hangs();
		lab_event(&lab, 1);
	}
	MUST(ibv_poll_cq(lab.cq[1], 1, &wc) == 1);
	MUST(!lab_recv(&lab, 1024));
	MUST(!lab_send(&lab, 64, IBV_SEND_SIGNALED));
	lab_event(&lab, 1);
	ibv_ack_cq_events(lab.cq[1], 1);
	lab_wait(&lab, 0);
	lab_wait(&lab, 1);
	lab_close(&lab);
}

static void cq_not_armed(bool wrong)
{
	struct lab_wish wish = {.channel = true};
	struct lab lab;

	lab_open(&lab, &wish);
	if (!wrong)
		MUST(!ibv_req_notify_cq(lab.cq[1], 0));
	MUST(!lab_recv(&lab, 1024));
	MUST(!lab_send(&lab, 64, IBV_SEND_SIGNALED));
	if (wrong)
		lab_hangs();
	lab_event(&lab, 1);
	ibv_ack_cq_events(lab.cq[1], 1);
	lab_wait(&lab, 0);
	lab_wait(&lab, 1);
	lab_close(&lab);
}

static void cq_room(bool wrong)
{
	struct lab_wish wish = {.cqe = wrong ? 4 : 64, .recv_wr = 32};
	struct lab lab;

	lab_open(&lab, &wish);
	for (int i = 0; i < (wrong ? lab.cq[1]->cqe + 1 : 20); i++)
		MUST(!lab_recv(&lab, 1024) || wrong);
	lab_close(&lab);
}

static void wc_field(bool wrong)
{
	struct lab_wish wish = {.cq_ex = true};
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_cq_ex *ex;
	struct lab lab;
	int err;

	lab_open(&lab, &wish);
	ex = (struct ibv_cq_ex *)lab.cq[0];
	/* The key is of nobody. */
	MUST(!lab_remote(&lab, IBV_WR_RDMA_WRITE, (uintptr_t)lab.buf, 1));
	while ((err = ibv_start_poll(ex, &attr)) == ENOENT)
		;
	MUST(!err && ex->status != IBV_WC_SUCCESS);
	if (wrong)
		ibv_wc_read_opcode(ex);
	ibv_wc_read_vendor_err(ex);
	ibv_end_poll(ex);
	lab_close(&lab);
}

static void cq_end_poll(bool wrong)
{
	struct lab_wish wish = {.cq_ex = true};
	struct ibv_poll_cq_attr attr = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(ibv_start_poll((struct ibv_cq_ex *)lab.cq[0], &attr) == ENOENT);
	if (wrong)
		ibv_end_poll((struct ibv_cq_ex *)lab.cq[0]);
	lab_close(&lab);
}

static void cq_start_poll(bool wrong)
{
	struct lab_wish wish = {.cq_ex = true};
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_cq_ex *ex;
	struct lab lab;

	lab_open(&lab, &wish);
	ex = (struct ibv_cq_ex *)lab.cq[0];
	MUST(!lab_recv(&lab, 64));
	MUST(!lab_send(&lab, 8, IBV_SEND_SIGNALED));
	while (ibv_start_poll(ex, &attr) == ENOENT)
		;
	if (wrong) {
		lab_hangs();
		ibv_start_poll(ex, &attr);
	}
	ibv_end_poll(ex);
	while (ibv_start_poll((struct ibv_cq_ex *)lab.cq[1], &attr) == ENOENT)
		;
	ibv_end_poll((struct ibv_cq_ex *)lab.cq[1]);
	lab_close(&lab);
}

static void sq_unsignaled(bool wrong)
{
	struct lab_wish wish = {
		.unsignaled = true, .send_wr = 4, .recv_wr = 64, .cqe = 256};
	struct lab lab;
	int err = 0;

	lab_open(&lab, &wish);
	for (int i = 0; i < 40 && !err; i++) {
		bool signaled = !wrong && i % 4 == 3;

		MUST(!lab_recv(&lab, 0));
		err = lab_send(&lab, 0, signaled ? IBV_SEND_SIGNALED : 0);
		if (signaled) {
			lab_wait(&lab, 0);
			for (int k = 0; k < 4; k++)
				lab_wait(&lab, 1);
		}
	}
	/* Whether there is room is the provider's to say. */
	MUST(!err || wrong);
	lab_close(&lab);
}

/* Fills the send queue; @polled: what has completed is polled. */
static void fill(bool there, bool wrong)
{
	struct lab_wish wish = {.send_wr = 4, .rnr_retry = 7, .recv_wr = 128};
	struct lab lab;
	int err = 0;

	wish.cqe = 512;
	lab_open(&lab, &wish);
	for (int i = 0; i < 100 && !err; i++) {
		if (there)
			MUST(!lab_recv(&lab, 0));
		err = lab_send(&lab, 0, IBV_SEND_SIGNALED);
		if (!wrong) {
			if (!there)
				MUST(!lab_recv(&lab, 0));
			lab_wait(&lab, 0);
		} else if (there) {
			usleep(10000);
		}
	}
	/* Some providers make room without being polled. */
	MUST(!err || wrong);
	lab_close(&lab);
}

static void sq_not_polled(bool wrong)
{
	fill(true, wrong);
}

static void sq_too_deep(bool wrong)
{
	fill(false, wrong);
}

static void inline_long(bool wrong)
{
	struct lab_wish wish = {.inline_data = 64};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct lab lab;
	uint32_t n;

	lab_open(&lab, &wish);
	MUST(!ibv_query_qp(lab.qp[0], &attr, IBV_QP_CAP, &init));
	n = init.cap.max_inline_data;
	if (wrong) {
		MUST(lab_send(&lab, n + 1, IBV_SEND_INLINE));
	} else {
		MUST(!lab_recv(&lab, 4096));
		MUST(!lab_send(&lab, n, IBV_SEND_INLINE));
		lab_wait(&lab, 0);
		lab_wait(&lab, 1);
	}
	lab_close(&lab);
}

static void sge_many(bool wrong)
{
	struct lab_wish wish = {.sge = 2};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_sge sge[64];
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!ibv_query_qp(lab.qp[0], &attr, IBV_QP_CAP, &init));
	for (int i = 0; i < 64; i++)
		sge[i] = lab_sge(&lab, 0, 8);
	wr.sg_list = sge;
	wr.num_sge = (int)init.cap.max_send_sge + wrong;
	MUST(!lab_recv(&lab, 4096));
	MUST(!!ibv_post_send(lab.qp[0], &wr, &bad) == wrong);
	if (!wrong) {
		lab_wait(&lab, 0);
		lab_wait(&lab, 1);
	}
	lab_close(&lab);
}

static void send_changed(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, 1024));
	MUST(!lab_send(&lab, 64, IBV_SEND_SIGNALED));
	if (wrong)
		lab.buf[10]++;
	lab_wait(&lab, 0);
	lab.buf[11]++;
	lab_wait(&lab, 1);
	lab_close(&lab);
}

/* Checks the last byte of a long one. */
void lab_long(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, LAB_BUF / 2));
	MUST(!lab_send(&lab, LAB_BUF / 2, IBV_SEND_SIGNALED));
	if (wrong)
		lab.buf[LAB_BUF / 2 - 1]++;
	lab_wait(&lab, 0);
	lab_wait(&lab, 1);
	lab_close(&lab);
}

static void sq_state(bool wrong)
{
	struct lab_wish wish = {.no_connect = true};
	struct lab lab;

	lab_open(&lab, &wish);
	for (int i = 0; i < 2; i++)
		MUST(wrong ? !lab_to_init(&lab, i) : !lab_connect(&lab, i));
	if (wrong)
		lab_send(&lab, 8, IBV_SEND_SIGNALED);
	else
		exchange(&lab);
	lab_close(&lab);
}

static void wr_open(bool wrong)
{
	struct lab_wish wish = {.qp_ex = true};
	struct ibv_qp_ex *ex;
	struct lab lab;

	lab_open(&lab, &wish);
	ex = ibv_qp_to_qp_ex(lab.qp[0]);
	if (wrong)
		lab_hangs();
	for (int i = 0; i < 2; i++) {
		ibv_wr_start(ex);
		ex->wr_id = 1;
		ex->wr_flags = 0;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, lab.mr->lkey, (uintptr_t)lab.buf, 8);
		if (!wrong)
			ibv_wr_abort(ex);
	}
	lab_close(&lab);
}

static void rnr(bool wrong)
{
	struct lab_wish wish = {.rnr_retry = wrong ? 0 : 7};
	struct lab lab;

	lab_open(&lab, &wish);
	if (!wrong)
		MUST(!lab_recv(&lab, 64));
	MUST(!lab_send(&lab, 8, IBV_SEND_SIGNALED));
	MUST((lab_wait(&lab, 0).status == IBV_WC_RNR_RETRY_EXC_ERR) == wrong);
	if (!wrong)
		lab_wait(&lab, 1);
	lab_close(&lab);
}

static void recv_short(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, wrong ? 8 : 64));
	MUST(!lab_send(&lab, 64, IBV_SEND_SIGNALED));
	lab_wait(&lab, 1);
	lab_wait(&lab, 0);
	lab_close(&lab);
}

/* Polls the extended queue of the receiver; @ask: for the length. */
static void take(struct lab *lab, bool ask)
{
	struct ibv_cq_ex *ex = (struct ibv_cq_ex *)lab->cq[1];
	struct ibv_poll_cq_attr attr = {0};

	while (ibv_start_poll(ex, &attr) == ENOENT)
		;
	MUST(ex->status == IBV_WC_SUCCESS);
	if (ask)
		ibv_wc_read_byte_len(ex);
	ibv_end_poll(ex);
}

static void recv_rest(bool wrong)
{
	struct lab_wish wish = {.cq_ex = true};
	struct lab lab;

	lab_open(&lab, &wish);
	for (int i = 0; i < 2; i++) {
		MUST(!lab_recv(&lab, 64));
		MUST(!lab_send(&lab, i ? 0 : 64, IBV_SEND_SIGNALED));
		lab_wait(&lab, 0);
		take(&lab, !wrong);
	}
	lab_close(&lab);
}

void lab_reads_on(bool wrong)
{
	struct lab_wish wish = {0};
	const volatile char *from;
	unsigned int sum = 0;
	struct ibv_wc wc;
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, 64));
	MUST(!lab_send(&lab, 40, IBV_SEND_SIGNALED));
	lab_wait(&lab, 0);
	wc = lab_wait(&lab, 1);
	from = lab.buf + LAB_BUF / 2;
	/* The first write is to the program's own. */
	if (!wrong)
		memset(lab.buf + LAB_BUF / 2 + wc.byte_len, 0,
		       64 - wc.byte_len);
	for (unsigned int i = 0; i < 64; i++)
		sum += (unsigned int)from[i];
	MUST(!sum);
	lab_close(&lab);
}

static void grh_room(bool wrong)
{
	struct lab_wish wish = {.ud = true};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, wrong ? 16 : 40 + 16));
	MUST(!lab_send(&lab, 16, IBV_SEND_SIGNALED));
	lab_wait(&lab, 0);
	if (!wrong)
		MUST(lab_wait(&lab, 1).byte_len == 40 + 16);
	lab_close(&lab);
}

const struct lab_case lab_queues[] = {{"UR-CQ-01", cq_armed},
				      {"UR-CQ-02", cq_room},
				      {"UR-CQ-04", wc_field},
				      {"UR-CQ-05", cq_end_poll},
				      {"UR-CQ-06", cq_start_poll},
				      {"UR-CQ-07", cq_not_armed},
				      {"UR-SQ-01", sq_unsignaled},
				      {"UR-SQ-02", sq_not_polled},
				      {"UR-SQ-03", sq_too_deep},
				      {"UR-SQ-04", inline_long},
				      {"UR-SQ-05", sge_many},
				      {"UR-SQ-06", send_changed},
				      {"UR-SQ-07", sq_state},
				      {"UR-SQ-09", wr_open},
				      {"UR-RQ-01", rnr},
				      {"UR-RQ-02", grh_room},
				      {"UR-RQ-03", recv_short},
				      {"UR-RQ-04", recv_rest},
				      {0}};
