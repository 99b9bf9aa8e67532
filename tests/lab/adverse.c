// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Programs that count on what nobody promises, one for each behaviour of
 * --adverse, and the same without. The wrong ones end with status 1 and say what
 * they had counted on. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab.h"

#define TIMES 40

static void counted_on(const char *what)
{
	printf("counted on: %s\n", what);
	exit(1);
}

static void short_while(long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec -
		       from.tv_nsec <
	       ns);
}

static void ok(struct lab *lab, int i)
{
	MUST(lab_wait(lab, i).status == IBV_WC_SUCCESS);
}

/* The fields of a completion in error beside status, wr_id, qp_num, vendor_err.
 * */
static void poison(bool wrong)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct lab lab;

	lab_open(&lab, &(struct lab_wish){0});
	for (int i = 0; i < 8; i++)
		MUST(!lab_recv(&lab, 64));
	MUST(!ibv_modify_qp(lab.qp[1], &attr, IBV_QP_STATE));
	for (int i = 0; i < 8; i++) {
		struct ibv_wc wc = lab_wait(&lab, 1);

		MUST(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 3);
		printf("%d %u %u %u\n", wc.opcode, wc.byte_len, wc.imm_data,
		       wc.wc_flags);
		if (wrong && wc.opcode != IBV_WC_RECV)
			counted_on("the opcode of a completion in error");
	}
	lab_close(&lab);
}

static void limits(bool wrong)
{
	struct lab_wish wish = {.rd_atomic = 1, .dest_rd_atomic = 1};
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 64,
						.max_recv_wr = 1,
						.max_send_sge = 4,
						.max_recv_sge = 1,
						.max_inline_data = 64},
					.qp_type = IBV_QPT_RC};
	struct ibv_device_attr attr;
	struct ibv_qp *qp;
	struct lab lab;

	wish.sge = 1;
	lab_open(&lab, &wish);
	MUST(!ibv_query_device(lab.context, &attr));
	init.send_cq = init.recv_cq = lab.cq[0];
	if (!wrong) {
		if (init.cap.max_send_wr > (uint32_t)attr.max_qp_wr)
			init.cap.max_send_wr = (uint32_t)attr.max_qp_wr;
		if (init.cap.max_send_sge > (uint32_t)attr.max_sge)
			init.cap.max_send_sge = (uint32_t)attr.max_sge;
	}
	qp = ibv_create_qp(lab.pd, &init);
	if (!qp && !wrong) {
		/* Inline data has no limit that could be asked for. */
		init.cap.max_inline_data = 0;
		qp = ibv_create_qp(lab.pd, &init);
	}
	if (!qp)
		counted_on("limits that it did not ask for");
	MUST(!ibv_destroy_qp(qp));
	lab_close(&lab);
}

static void batch(bool wrong)
{
	struct ibv_wc wc;
	struct lab lab;

	lab_open(&lab, &(struct lab_wish){.rnr_retry = 7});
	for (int i = 0; i < TIMES; i++) {
		MUST(!lab_recv(&lab, 64));
		MUST(!lab_send(&lab, 64, 0));
		ok(&lab, 1);
		if (!wrong)
			ok(&lab, 0);
		else if (ibv_poll_cq(lab.cq[0], 1, &wc) != 1)
			counted_on("a send that has completed where its "
				   "receive has");
	}
	lab_close(&lab);
}

static void sources(bool wrong)
{
	struct lab lab;

	lab_open(&lab, &(struct lab_wish){.rnr_retry = 7});
	for (int i = 0; i < TIMES; i++) {
		MUST(!lab_recv(&lab, 64));
		memset(lab.buf, i + 1, 64);
		MUST(!lab_send(&lab, 64, 0));
		if (wrong) {
			short_while(10000);
			memset(lab.buf, 0, 64);
		}
		ok(&lab, 0);
		ok(&lab, 1);
		if (lab.buf[LAB_BUF / 2] != i + 1)
			counted_on("a buffer that was read when it was "
				   "posted");
	}
	lab_close(&lab);
}

#define LONG 16384

static void order(bool wrong)
{
	unsigned int bytes[] = {64, LONG};
	volatile char *to;
	struct lab lab;

	lab_open(&lab,
		 &(struct lab_wish){.mr_access = IBV_ACCESS_REMOTE_WRITE,
				    .qp_access = IBV_ACCESS_REMOTE_WRITE});
	to = lab.buf + LAB_BUF / 2;
	for (int i = 0; i < 2 * TIMES; i++) {
		unsigned int n = bytes[i & 1];
		struct ibv_sge sge = lab_sge(&lab, 0, n);
		struct ibv_send_wr *bad, wr = {.sg_list = &sge,
					       .num_sge = 1,
					       .opcode = IBV_WR_RDMA_WRITE};

		wr.wr.rdma.remote_addr = (uintptr_t)to;
		wr.wr.rdma.rkey = lab.mr->rkey;
		memset(lab.buf, i + 1, n);
		MUST(!ibv_post_send(lab.qp[0], &wr, &bad));
		if (wrong) {
			while (to[n - 1] != i + 1)
				;
			if (to[0] != i + 1)
				counted_on("a last byte that comes last");
		}
		ok(&lab, 0);
		MUST(to[0] == i + 1 && to[n / 2] == i + 1 &&
		     to[n - 1] == i + 1);
	}
	lab_close(&lab);
}

static void rnr(bool wrong)
{
	struct lab lab;

	lab_open(&lab, &(struct lab_wish){.rnr_retry = wrong ? 0 : 1});
	for (int i = 0; i < TIMES * 4; i++) {
		MUST(!lab_recv(&lab, 64));
		MUST(!lab_send(&lab, 64, 0));
		if (lab_wait(&lab, 0).status == IBV_WC_RNR_RETRY_EXC_ERR)
			counted_on("a receiver that is always ready");
		ok(&lab, 1);
	}
	lab_close(&lab);
}

static void numbers(bool wrong)
{
	static uint32_t keys[TIMES * 100];
	struct lab lab;

	lab_open(&lab, &(struct lab_wish){0});
	for (int i = 0; i < TIMES * 100; i++) {
		struct ibv_mr *mr = ibv_reg_mr(lab.pd, lab.buf, 4096, 0);

		MUST(mr);
		keys[i] = mr->rkey;
		MUST(!ibv_dereg_mr(mr));
		for (int k = 0; k < i; k++)
			MUST(keys[k] >> 8 != keys[i] >> 8);
		if (wrong && keys[i] != keys[0])
			counted_on("the key that the region had before");
	}
	lab_close(&lab);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void events(bool wrong)
{
	struct ibv_async_event event;
	struct ibv_wc wc;
	struct lab lab;

	lab_open(&lab, &(struct lab_wish){.channel = true, .rnr_retry = 7});
	for (int i = 0; i < 4 * TIMES; i++) {
		MUST(!ibv_req_notify_cq(lab.cq[1], 0));
		MUST(!lab_recv(&lab, 64));
		MUST(!lab_send(&lab, 64, 0));
		ok(&lab, 0);
		ok(&lab, 1);
		lab_event(&lab, 1);
		ibv_ack_cq_events(lab.cq[1], 1);
		if (wrong && ibv_poll_cq(lab.cq[1], 1, &wc) != 1)
			counted_on("an event that comes before its completion "
				   "is taken");
		if (!readable(lab.context->async_fd, 0))
			continue;
		MUST(!ibv_get_async_event(lab.context, &event));
		MUST(event.event_type == IBV_EVENT_GID_CHANGE);
		ibv_ack_async_event(&event);
	}
	lab_close(&lab);
}

static void rest(bool wrong)
{
	struct lab lab;
	char *to;

	lab_open(&lab, &(struct lab_wish){.rnr_retry = 7});
	to = lab.buf + LAB_BUF / 2;
	memset(to, 1, 128);
	MUST(!lab_recv(&lab, 96));
	MUST(!lab_send(&lab, 64, 0));
	ok(&lab, 0);
	ok(&lab, 1);
	MUST(to[96] == 1 && !to[0] && !to[63]);
	if (wrong && to[64] != 1)
		counted_on("a receive buffer that keeps what is behind the "
			   "message");
	lab_close(&lab);
}

const struct lab_case lab_adverse[] = {
	{"poison", poison},   {"limits", limits}, {"batch", batch},
	{"sources", sources}, {"order", order},	  {"rnr", rnr},
	{"numbers", numbers}, {"events", events}, {"rest", rest},
	{NULL, NULL},
};
