// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* usage: lab ID wrong|right; lab --list. The common part of the programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lab.h"
#include "tests/verbs_pair.h"

#ifdef LAB_ADVERSE
static const struct lab_case *const all[] = {lab_adverse, NULL};
static const struct lab_case more[] = {{0}};
#else
#ifdef LAB_WITHOUT_CM
static const struct lab_case *const all[] = {lab_queues, lab_memory, lab_paths,
					     lab_ends, NULL};
#else
static const struct lab_case *const all[] = {lab_queues, lab_memory, lab_paths,
					     lab_cm,	 lab_ends,   NULL};
#endif

/* Other forms of mistakes that have a program, or none of its own. */
static const struct lab_case more[] = {
	{"fork", lab_fork},	    {"long", lab_long},
	{"async-qp", lab_async_qp}, {"polls-memory", lab_polls_memory},
	{"reads-on", lab_reads_on}, {0}};
#endif

void lab_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s (%s)\n", file, line, what, strerror(errno));
	exit(1);
}

const char *lab_setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

static uint32_t or (uint32_t wish, uint32_t usual)
{
	return wish ? wish : usual;
}

static void make_cq(struct lab *lab, int i)
{
	int cqe = (int) or ((uint32_t)lab->wish.cqe, 64);

	if (lab->wish.cq_ex) {
		struct ibv_cq_init_attr_ex attr = {
			.cqe = (uint32_t)cqe,
			.channel = lab->channel,
			.wc_flags = IBV_WC_STANDARD_FLAGS,
		};

		lab->cq[i] =
			ibv_cq_ex_to_cq(ibv_create_cq_ex(lab->context, &attr));
	} else {
		lab->cq[i] =
			ibv_create_cq(lab->context, cqe, NULL, lab->channel, 0);
	}
	MUST(lab->cq[i]);
}

static void make_qp(struct lab *lab, int i)
{
	const struct lab_wish *wish = &lab->wish;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = lab->cq[i],
		.recv_cq = lab->cq[i],
		.cap = {.max_send_wr = or (wish->send_wr, 16),
			.max_recv_wr = or (wish->recv_wr, 16),
			.max_send_sge = or (wish->sge, 2),
			.max_recv_sge = or (wish->sge, 2),
			.max_inline_data = wish->inline_data},
		.qp_type = wish->ud ? IBV_QPT_UD : IBV_QPT_RC,
		.sq_sig_all = !wish->unsignaled,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = lab->pd,
		.srq = i ? lab->srq : NULL,
	};

	if (wish->qp_ex) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
		lab->qp[i] = ibv_create_qp_ex(lab->context, &attr);
	} else {
		struct ibv_qp_init_attr plain = {
			.send_cq = attr.send_cq,
			.recv_cq = attr.recv_cq,
			.cap = attr.cap,
			.srq = attr.srq,
			.qp_type = attr.qp_type,
			.sq_sig_all = attr.sq_sig_all,
		};

		lab->qp[i] = ibv_create_qp(lab->pd, &plain);
	}
	MUST(lab->qp[i]);
}

int lab_to_init(struct lab *lab, int i)
{
	struct ibv_qp_attr attr = {
		.port_num = 1,
		.qkey = 0x1234,
		.qp_access_flags = lab->wish.qp_access,
	};

	return pair_to(lab->qp[i], &attr, IBV_QPS_INIT);
}

static void fill_path(struct lab *lab, struct ibv_ah_attr *ah)
{
	ah->port_num = 1;
	ah->is_global = !lab->wish.no_grh;
	ah->grh.dgid = lab->gid;
	ah->grh.hop_limit = 64;
	ah->grh.sgid_index = lab->wish.other_gid ? 200 : lab->gid_index;
}

int lab_to_rtr(struct lab *lab, int i)
{
	struct ibv_qp_attr attr = {
		.path_mtu = (enum ibv_mtu) or
			    ((uint32_t)lab->wish.mtu, IBV_MTU_1024),
		.dest_qp_num = lab->qp[!i]->qp_num,
		.rq_psn = 7,
		.max_dest_rd_atomic =
			(uint8_t) or (lab->wish.dest_rd_atomic, 4),
		.min_rnr_timer = 1,
	};

	fill_path(lab, &attr.ah_attr);
	return pair_to(lab->qp[i], &attr, IBV_QPS_RTR);
}

int lab_to_rts(struct lab *lab, int i)
{
	struct ibv_qp_attr attr = {
		.sq_psn = 7,
		.timeout = lab->wish.timeout == 255
				   ? 0
				   : (uint8_t) or (lab->wish.timeout, 14),
		.retry_cnt = 7,
		.rnr_retry = lab->wish.rnr_retry,
		.max_rd_atomic = (uint8_t) or (lab->wish.rd_atomic, 4),
	};

	return pair_to(lab->qp[i], &attr, IBV_QPS_RTS);
}

int lab_connect(struct lab *lab, int i)
{
	int err = lab_to_init(lab, i);

	if (!err)
		err = lab_to_rtr(lab, i);
	return err ? err : lab_to_rts(lab, i);
}

void lab_open(struct lab *lab, const struct lab_wish *wish)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	memset(lab, 0, sizeof(*lab));
	lab->wish = *wish;
	MUST(list && list[0]);
	lab->context = ibv_open_device(list[0]);
	MUST(lab->context);
	ibv_free_device_list(list);
	lab->gid_index = (uint8_t)atoi(lab_setting("LAB_GID", "0"));
	MUST(!ibv_query_gid(lab->context, 1, lab->gid_index, &lab->gid));
	lab->pd = ibv_alloc_pd(lab->context);
	MUST(lab->pd);
	lab->buf = mmap(NULL, LAB_BUF, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(lab->buf != MAP_FAILED);
	lab->mr = ibv_reg_mr(lab->pd, lab->buf, LAB_BUF,
			     (int)(IBV_ACCESS_LOCAL_WRITE | wish->mr_access));
	MUST(lab->mr);
	if (wish->channel) {
		lab->channel = ibv_create_comp_channel(lab->context);
		MUST(lab->channel);
	}
	if (wish->srq) {
		struct ibv_srq_init_attr attr = {
			.attr = {.max_wr = 16, .max_sge = 2}};

		lab->srq = ibv_create_srq(lab->pd, &attr);
		MUST(lab->srq);
	}
	for (int i = 0; i < 2; i++) {
		make_cq(lab, i);
		make_qp(lab, i);
	}
	for (int i = 0; i < 2 && !wish->no_connect; i++)
		MUST(!lab_connect(lab, i));
	if (wish->ud) {
		struct ibv_ah_attr attr = {0};

		fill_path(lab, &attr);
		lab->ah = ibv_create_ah(lab->pd, &attr);
		MUST(lab->ah);
	}
}

void lab_close_qps(struct lab *lab)
{
	for (int i = 0; i < 2; i++)
		MUST(!ibv_destroy_qp(lab->qp[i]));
	for (int i = 0; i < 2; i++)
		MUST(!ibv_destroy_cq(lab->cq[i]));
}

void lab_close_rest(struct lab *lab)
{
	if (lab->ah)
		MUST(!ibv_destroy_ah(lab->ah));
	if (lab->srq)
		MUST(!ibv_destroy_srq(lab->srq));
	if (lab->channel)
		MUST(!ibv_destroy_comp_channel(lab->channel));
	if (lab->mr)
		MUST(!ibv_dereg_mr(lab->mr));
	MUST(!ibv_dealloc_pd(lab->pd));
	MUST(!ibv_close_device(lab->context));
	if (lab->buf)
		munmap(lab->buf, LAB_BUF);
}

void lab_close(struct lab *lab)
{
	lab_close_qps(lab);
	lab_close_rest(lab);
}

struct ibv_sge lab_sge(struct lab *lab, uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){.addr = (uintptr_t)lab->buf + offset,
				.length = length,
				.lkey = lab->mr->lkey};
}

int lab_send(struct lab *lab, uint32_t length, unsigned int flags)
{
	struct ibv_sge sge = lab_sge(lab, 0, length);
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = flags};
	struct ibv_send_wr *bad;

	if (lab->wish.ud) {
		wr.wr.ud.ah = lab->ah;
		wr.wr.ud.remote_qpn = lab->qp[1]->qp_num;
		wr.wr.ud.remote_qkey = 0x1234;
	}
	return ibv_post_send(lab->qp[0], &wr, &bad);
}

int lab_remote(struct lab *lab, enum ibv_wr_opcode opcode, uint64_t addr,
	       uint32_t rkey)
{
	struct ibv_sge sge = lab_sge(lab, 0, 8);
	struct ibv_send_wr wr = {.wr_id = 2,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(lab->qp[0], &wr, &bad);
}

int lab_recv(struct lab *lab, uint32_t length)
{
	struct ibv_sge sge = lab_sge(lab, LAB_BUF / 2, length);
	struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return lab->srq ? ibv_post_srq_recv(lab->srq, &wr, &bad)
			: ibv_post_recv(lab->qp[1], &wr, &bad);
}

struct ibv_wc lab_wait(struct lab *lab, int i)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(lab->cq[i], 1, &wc)))
		;
	MUST(n == 1);
	return wc;
}

void lab_event(struct lab *lab, int i)
{
	struct ibv_cq *cq;
	void *context;

	MUST(!ibv_get_cq_event(lab->channel, &cq, &context));
	MUST(cq == lab->cq[i]);
}

void lab_hangs(void)
{
	puts("hangs");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool list = argc == 2 && !strcmp(argv[1], "--list");

	if (!list && argc != 3) {
		fprintf(stderr, "usage: lab ID wrong|right\n");
		return 2;
	}
	for (const struct lab_case *c = more; c->id && !list; c++) {
		if (!strcmp(c->id, argv[1])) {
			c->run(!strcmp(argv[2], "wrong"));
			return 0;
		}
	}
	for (int i = 0; all[i]; i++) {
		for (const struct lab_case *c = all[i]; c->id; c++) {
			if (list) {
				puts(c->id);
			} else if (!strcmp(c->id, argv[1])) {
				c->run(!strcmp(argv[2], "wrong"));
				return 0;
			}
		}
	}
	return list ? 0 : 2;
}
