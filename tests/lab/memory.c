// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mistakes with memory regions. */
#include <byteswap.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab.h"

#define REMOTE                                                                 \
	{                                                                      \
		.mr_access = IBV_ACCESS_REMOTE_WRITE |                         \
			     IBV_ACCESS_REMOTE_READ |                          \
			     IBV_ACCESS_REMOTE_ATOMIC,                         \
		.qp_access = IBV_ACCESS_REMOTE_WRITE |                         \
			     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC \
	}

static void mr_in_use(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, 64));
	if (!wrong) {
		MUST(!lab_send(&lab, 8, IBV_SEND_SIGNALED));
		lab_wait(&lab, 0);
		lab_wait(&lab, 1);
	}
	MUST(!ibv_dereg_mr(lab.mr));
	lab.mr = NULL;
	lab_close(&lab);
}

static void mr_unmapped(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, 64));
	if (!wrong) {
		MUST(!lab_send(&lab, 8, IBV_SEND_SIGNALED));
		lab_wait(&lab, 0);
		lab_wait(&lab, 1);
	}
	munmap(lab.buf, LAB_BUF);
	lab.buf = NULL;
	lab_close(&lab);
}

static void lkey(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!lab_recv(&lab, wrong ? LAB_BUF / 2 + 1 : LAB_BUF / 2));
	MUST(!lab_send(&lab, 8, IBV_SEND_SIGNALED));
	lab_wait(&lab, 0);
	lab_wait(&lab, 1);
	lab_close(&lab);
}

static void access_flags(bool wrong)
{
	struct lab_wish wish = {0};
	struct ibv_mr *mr;
	struct lab lab;

	lab_open(&lab, &wish);
	mr = ibv_reg_mr(lab.pd, lab.buf, 4096,
			wrong ? IBV_ACCESS_REMOTE_WRITE
			      : IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_LOCAL_WRITE);
	if (mr)
		MUST(!ibv_dereg_mr(mr));
	lab_close(&lab);
}

static void remote_access(bool wrong)
{
	struct lab_wish wish = REMOTE;
	struct lab lab;
	uint64_t addr;

	lab_open(&lab, &wish);
	addr = (uintptr_t)lab.buf;
	MUST(!lab_remote(&lab, IBV_WR_RDMA_WRITE, wrong ? bswap_64(addr) : addr,
			 lab.mr->rkey));
	MUST((lab_wait(&lab, 0).status == IBV_WC_REM_ACCESS_ERR) == wrong);
	lab_close(&lab);
}

static void with_fork(bool wrong)
{
	struct lab_wish wish = {0};
	struct lab lab;
	pid_t child;

	if (!wrong)
		MUST(!ibv_fork_init());
	lab_open(&lab, &wish);
	child = fork();
	if (!child)
		_exit(0);
	MUST(waitpid(child, NULL, 0) == child);
	lab_close(&lab);
}

void lab_fork(bool wrong)
{
	struct lab_wish wish = {0};
	struct ibv_context *context;
	struct ibv_device **list;
	struct lab lab;
	pid_t child;

	MUST(!ibv_fork_init());
	lab_open(&lab, &wish);
	fflush(NULL);
	child = fork();
	if (!child) {
		MUST(list = ibv_get_device_list(NULL));
		MUST(context = ibv_open_device(*list));
		ibv_free_device_list(list);
		if (!wrong)
			MUST(!ibv_close_device(context));
		printf("pid %d is the child\n", (int)getpid());
		exit(0);
	}
	MUST(waitpid(child, NULL, 0) == child);
	lab_close(&lab);
}

static void atomic_align(bool wrong)
{
	struct lab_wish wish = REMOTE;
	struct lab lab;
	int err;

	lab_open(&lab, &wish);
	err = lab_remote(&lab, IBV_WR_ATOMIC_FETCH_AND_ADD,
			 (uintptr_t)lab.buf + 64 + (wrong ? 4 : 0),
			 lab.mr->rkey);
	/* A provider may refuse it, or leave that to the peer. */
	if (!err)
		err = lab_wait(&lab, 0).status != IBV_WC_SUCCESS;
	MUST(!!err == wrong);
	lab_close(&lab);
}

/* Sends what is being fetched; right: with a fence. */
static void target_early(bool wrong)
{
	struct lab_wish wish = REMOTE;
	struct ibv_wc wc;
	struct lab lab;

	lab_open(&lab, &wish);
	lab.buf[4096] = 1;
	MUST(!lab_recv(&lab, 64));
	MUST(!lab_remote(&lab, IBV_WR_RDMA_READ, (uintptr_t)lab.buf + 4096,
			 lab.mr->rkey));
	MUST(!lab_send(&lab, 8, wrong ? 0 : IBV_SEND_FENCE));
	for (int i = 0; i < 2; i++) {
		wc = lab_wait(&lab, 0);
		MUST(wc.status == IBV_WC_SUCCESS);
	}
	lab_wait(&lab, 1);
	MUST(lab.buf[LAB_BUF / 2] == 1 || wrong);
	lab_close(&lab);
}

void lab_polls_memory(bool wrong)
{
	struct lab_wish wish = REMOTE;
	volatile char *to;
	struct lab lab;

	lab_open(&lab, &wish);
	to = lab.buf;
	lab.buf[4096 + 7] = 1;
	MUST(!lab_remote(&lab, IBV_WR_RDMA_READ, (uintptr_t)lab.buf + 4096,
			 lab.mr->rkey));
	while (wrong && !to[7])
		;
	lab_wait(&lab, 0);
	MUST(to[7]);
	lab_close(&lab);
}

const struct lab_case lab_memory[] = {{"UR-MR-01", mr_in_use},
				      {"UR-MR-02", mr_unmapped},
				      {"UR-MR-03", lkey},
				      {"UR-MR-04", access_flags},
				      {"UR-MR-05", remote_access},
				      {"UR-MR-06", with_fork},
				      {"UR-SQ-08", atomic_align},
				      {"UR-SQ-13", target_early},
				      {0}};
