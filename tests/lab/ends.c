// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mistakes at the end of objects and of programs. */
#include <stdlib.h>
#include <unistd.h>

#include "lab.h"

/* A send that waits for a receive of its peer. */
static void waiting(struct lab *lab)
{
	struct lab_wish wish = {.rnr_retry = 7};

	lab_open(lab, &wish);
	MUST(!lab_send(lab, 8, IBV_SEND_SIGNALED));
}

static void taken(struct lab *lab)
{
	MUST(!lab_recv(lab, 64));
	lab_wait(lab, 0);
	lab_wait(lab, 1);
}

static void qp_outstanding(bool wrong)
{
	struct lab lab;

	waiting(&lab);
	if (!wrong)
		taken(&lab);
	lab_close(&lab);
}

static void leak_requests(bool wrong)
{
	struct lab lab;

	waiting(&lab);
	if (wrong)
		exit(0);
	taken(&lab);
	lab_close(&lab);
}

static void busy(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	if (wrong)
		MUST(ibv_dealloc_pd(lab.pd));
	lab_close(&lab);
}

/* An event of the second completion queue, got. */
static void event(struct lab *lab)
{
	struct lab_wish wish = {.channel = true};

	lab_open(lab, &wish);
	MUST(!ibv_req_notify_cq(lab->cq[1], 0));
	MUST(!lab_recv(lab, 64));
	MUST(!lab_send(lab, 8, IBV_SEND_SIGNALED));
	lab_event(lab, 1);
	lab_wait(lab, 0);
	lab_wait(lab, 1);
}

static void cq_unacked(bool wrong)
{
	struct lab lab;

	event(&lab);
	if (wrong)
		lab_hangs();
	else
		ibv_ack_cq_events(lab.cq[1], 1);
	lab_close(&lab);
}

static void leak_events(bool wrong)
{
	struct lab lab;

	event(&lab);
	if (wrong)
		exit(0);
	ibv_ack_cq_events(lab.cq[1], 1);
	lab_close(&lab);
}

/* Every device sends the event of a shared receive queue's limit. */
static void async_unacked(bool wrong)
{
	struct lab_wish wish = {.srq = true};
	struct ibv_srq_attr limit = {.srq_limit = 1};
	struct ibv_async_event async;
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, 64));
	MUST(!ibv_modify_srq(lab.srq, &limit, IBV_SRQ_LIMIT));
	MUST(!lab_send(&lab, 8, IBV_SEND_SIGNALED));
	lab_wait(&lab, 0);
	lab_wait(&lab, 1);
	MUST(!ibv_get_async_event(lab.context, &async));
	MUST(async.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
	if (wrong)
		lab_hangs();
	else
		ibv_ack_async_event(&async);
	lab_close(&lab);
}

void lab_async_qp(bool wrong)
{
	struct lab_wish wish = {.qp_access = 0};
	struct ibv_async_event async;
	struct lab lab;

	lab_open(&lab, &wish);
	/* The key is of nobody: the responder's queue pair fails. */
	MUST(!lab_remote(&lab, IBV_WR_RDMA_WRITE, (uintptr_t)lab.buf, 1));
	lab_wait(&lab, 0);
	MUST(!ibv_get_async_event(lab.context, &async));
	if (wrong)
		lab_hangs();
	else
		ibv_ack_async_event(&async);
	lab_close(&lab);
}

static void leak(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	if (wrong)
		exit(0);
	lab_close(&lab);
}

const struct lab_case lab_ends[] = {
	{"UR-QP-01", qp_outstanding},  {"UR-QP-02", busy},
	{"UR-EV-01", cq_unacked},      {"UR-EV-02", async_unacked},
	{"UR-LEAK-01", leak},	       {"UR-LEAK-02", leak_events},
	{"UR-LEAK-03", leak_requests}, {0}};
