// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RC and XRC queue pairs on one completion queue. With UROCE_ENGINE=process the former
 * are in the program and the latter in the device, which nobody should notice.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "bench.h"

#define DEPTH 8

/* An RC pair and an XRC one, all with the same queue. */
struct beside {
	struct bench t;
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct end rc[2], xrc;
	struct ibv_qp *target;
	struct ibv_srq *srq;
	struct ibv_xrcd *domain;
	uint32_t srqn;
};

static struct ibv_mr *make_buffer(struct beside *b, uint8_t **buf)
{
	struct ibv_mr *mr;

	*buf = calloc(1, BUF_BYTES);
	CHECK(*buf);
	mr = ibv_reg_mr(b->t.pd, *buf, BUF_BYTES, ALL_ACCESS);
	CHECK(mr);
	return mr;
}

static void make_rc(struct beside *b)
{
	for (int i = 0; i < 2; i++) {
		b->rc[i].mr = make_buffer(b, &b->rc[i].buf);
		b->rc[i].qp = make_qp(&b->t, b->cq, NULL, IBV_QPT_RC, 64, NULL);
	}
	connect_qp(&b->t, b->rc[0].qp, b->rc[1].qp->qp_num);
	connect_qp(&b->t, b->rc[1].qp, b->rc[0].qp->qp_num);
}

static void make_xrc(struct beside *b)
{
	struct ibv_xrcd_init_attr xattr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex sattr = {
		.attr = {.max_wr = 64, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = b->t.pd,
		.cq = b->cq,
	};
	struct ibv_qp_init_attr_ex qattr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	b->domain = ibv_open_xrcd(b->t.ctx, &xattr);
	CHECK(b->domain);
	sattr.xrcd = qattr.xrcd = b->domain;
	b->srq = ibv_create_srq_ex(b->t.ctx, &sattr);
	CHECK(b->srq);
	CHECK_EQ(ibv_get_srq_num(b->srq, &b->srqn), 0);
	b->target = ibv_create_qp_ex(b->t.ctx, &qattr);
	CHECK(b->target);
	b->xrc.mr = make_buffer(b, &b->xrc.buf);
	b->xrc.qp = make_qp(&b->t, b->cq, NULL, IBV_QPT_XRC_SEND, 64, NULL);
	connect_qp(&b->t, b->xrc.qp, b->target->qp_num);
	connect_qp(&b->t, b->target, b->xrc.qp->qp_num);
}

static void open_bare(struct beside *b, int cqe)
{
	memset(b, 0, sizeof(*b));
	bench_bare(&b->t);
	b->ch = ibv_create_comp_channel(b->t.ctx);
	CHECK(b->ch);
	b->cq = ibv_create_cq(b->t.ctx, cqe, NULL, b->ch, 0);
	CHECK(b->cq);
}

static void open_both(struct beside *b, int cqe)
{
	open_bare(b, cqe);
	make_rc(b);
	make_xrc(b);
}

static void end_xrc(struct beside *b)
{
	CHECK_EQ(ibv_destroy_qp(b->xrc.qp), 0);
	CHECK_EQ(ibv_destroy_qp(b->target), 0);
	CHECK_EQ(ibv_destroy_srq(b->srq), 0);
	CHECK_EQ(ibv_close_xrcd(b->domain), 0);
	CHECK_EQ(ibv_dereg_mr(b->xrc.mr), 0);
	free(b->xrc.buf);
}

static void end_rc(struct beside *b)
{
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(ibv_destroy_qp(b->rc[i].qp), 0);
		CHECK_EQ(ibv_dereg_mr(b->rc[i].mr), 0);
		free(b->rc[i].buf);
	}
}

static void close_bare(struct beside *b)
{
	CHECK_EQ(ibv_destroy_cq(b->cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(b->ch), 0);
	bench_close(&b->t);
}

static void close_both(struct beside *b)
{
	end_xrc(b);
	end_rc(b);
	close_bare(b);
}

/* A message of the XRC pair from the first half of its buffer to the other. */
static void send_xrc(struct beside *b, uint64_t id, unsigned int flags)
{
	struct ibv_sge from = sge_of(&b->xrc, 0, 64),
		       to = sge_of(&b->xrc, BUF_BYTES / 2, 64);
	struct ibv_recv_wr *bad_recv,
		recv = {.wr_id = id, .sg_list = &to, .num_sge = 1};
	struct ibv_send_wr *bad, wr = {
					 .wr_id = id,
					 .sg_list = &from,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = flags,
					 .qp_type.xrc.remote_srqn = b->srqn,
				 };

	memset(b->xrc.buf, (int)id, 64);
	CHECK_EQ(ibv_post_srq_recv(b->srq, &recv, &bad_recv), 0);
	CHECK_EQ(ibv_post_send(b->xrc.qp, &wr, &bad), 0);
}

static void send_rc(struct beside *b, uint64_t id, unsigned int flags)
{
	memset(b->rc[0].buf, (int)id, 64);
	CHECK_EQ(post_recv(&b->rc[1], id, 0, 64), 0);
	CHECK_EQ(post_send(&b->rc[0], id, 0, 64, flags), 0);
}

static bool is_xrc(const struct beside *b, uint32_t qpn)
{
	return qpn == b->xrc.qp->qp_num || qpn == b->target->qp_num;
}

/* Both messages of that number have come, as four completions. */
static void expect_both(struct beside *b, uint64_t id)
{
	unsigned int seen = 0;

	for (int i = 0; i < 4; i++) {
		struct ibv_wc wc = expect_wc(b->cq, IBV_WC_SUCCESS);

		CHECK_EQ(wc.wr_id, id);
		seen |= 1u << ((is_xrc(b, wc.qp_num) ? 2 : 0) +
			       !!(wc.opcode & IBV_WC_RECV));
	}
	CHECK_EQ(seen, 15);
	CHECK_EQ(b->rc[1].buf[63], (uint8_t)id);
	CHECK_EQ(b->xrc.buf[BUF_BYTES / 2 + 63], (uint8_t)id);
}

static void traffic(void)
{
	struct beside b;

	open_both(&b, 64);
	for (uint64_t i = 0; i < 300; i++) {
		send_rc(&b, i, IBV_SEND_SIGNALED);
		send_xrc(&b, i, IBV_SEND_SIGNALED);
		expect_both(&b, i);
	}
	close_both(&b);
}

/* One of two engines that has always completed something is not in the other's way, and a
 * poll for many finds those of both. */
static void fairness(void)
{
	const char *place = getenv("UROCE_ENGINE");
	struct ibv_wc wc[4 * DEPTH];
	bool rc = false, xrc = false;
	struct beside b;
	int n = 0;

	open_both(&b, 64);
	for (uint64_t i = 0; i < DEPTH; i++) {
		send_rc(&b, i, IBV_SEND_SIGNALED);
		send_xrc(&b, i, IBV_SEND_SIGNALED);
	}
	sleep(1);
	for (int i = 0; i < 3; i++) {
		struct ibv_wc one = expect_wc(b.cq, IBV_WC_SUCCESS);

		xrc |= is_xrc(&b, one.qp_num);
		rc |= !is_xrc(&b, one.qp_num);
	}
	CHECK((rc && xrc) || !place || strcmp(place, "process"));
	n = ibv_poll_cq(b.cq, 4 * DEPTH, wc);
	CHECK_EQ(n, 4 * DEPTH - 3);
	expect_none(b.cq);
	close_both(&b);
}

static void extended(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_BYTE_LEN,
	};
	struct ibv_poll_cq_attr none = {0};
	time_t end = time(NULL) + 20;
	struct ibv_cq_ex *ex;
	uint64_t got = 0;
	struct beside b;

	open_bare(&b, 8);
	CHECK_EQ(ibv_destroy_cq(b.cq), 0);
	ex = ibv_create_cq_ex(b.t.ctx, &attr);
	CHECK(ex);
	b.cq = ibv_cq_ex_to_cq(ex);
	make_rc(&b);
	CHECK_EQ(ibv_start_poll(ex, &none), ENOENT);
	make_xrc(&b);
	for (uint64_t i = 0; i < 100; i++) {
		unsigned int found = 0, turns = 0;

		send_rc(&b, i, IBV_SEND_SIGNALED);
		send_xrc(&b, i, IBV_SEND_SIGNALED);
		while (found < 4) {
			CHECK(time(NULL) < end);
			if (ibv_start_poll(ex, &none))
				continue;
			/* Some are left where they are. */
			do {
				CHECK_EQ(ex->status, IBV_WC_SUCCESS);
				CHECK_EQ(ex->wr_id, i);
				if (ibv_wc_read_opcode(ex) & IBV_WC_RECV)
					CHECK_EQ(ibv_wc_read_byte_len(ex), 64);
				got += is_xrc(&b, ibv_wc_read_qp_num(ex));
				found++;
			} while (++turns % 3 && !ibv_next_poll(ex));
			ibv_end_poll(ex);
		}
		CHECK_EQ(found, 4);
	}
	CHECK_EQ(got, 200);
	CHECK_EQ(ibv_start_poll(ex, &none), ENOENT);
	close_both(&b);
}

static void wait_event(struct beside *b, struct ibv_cq *cq)
{
	struct pollfd p = {.fd = b->ch->fd, .events = POLLIN};
	struct ibv_cq *which;
	void *context;

	CHECK_EQ(poll(&p, 1, 20000), 1);
	CHECK_EQ(ibv_get_cq_event(b->ch, &which, &context), 0);
	CHECK(which == cq);
}

/* Either wakes who has asked, also before there was a queue pair of the kind; both
 * count when the queue is destroyed. */
static void events(void)
{
	struct beside b;

	open_bare(&b, 64);
	CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
	make_rc(&b);
	make_xrc(&b);
	send_xrc(&b, 0, IBV_SEND_SIGNALED);
	wait_event(&b, b.cq);
	ibv_ack_cq_events(b.cq, 1);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, 0);
	for (uint64_t i = 1; i < 20; i++) {
		CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
		if (i & 1)
			send_xrc(&b, i, IBV_SEND_SIGNALED);
		else
			send_rc(&b, i, IBV_SEND_SIGNALED);
		wait_event(&b, b.cq);
		ibv_ack_cq_events(b.cq, 1);
		for (int k = 0; k < 2; k++)
			CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	close_both(&b);
}

/* Unread events of a queue that is destroyed are taken back, whoever sent them, and
 * those of another queue stay. */
static void unread_events(void)
{
	struct ibv_cq *other;
	struct ibv_qp *qp;
	struct beside b;

	for (int round = 0; round < 10; round++) {
		struct pollfd p = {.events = POLLIN};
		struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

		open_both(&b, 64);
		p.fd = b.ch->fd;
		other = ibv_create_cq(b.t.ctx, 4, NULL, b.ch, 0);
		CHECK(other);
		CHECK_EQ(ibv_req_notify_cq(other, 0), 0);
		qp = make_qp(&b.t, other, NULL, IBV_QPT_RC, 4, NULL);
		for (uint64_t i = 0; i < 3; i++) {
			CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
			send_rc(&b, i, IBV_SEND_SIGNALED);
			send_xrc(&b, i, IBV_SEND_SIGNALED);
			expect_both(&b, i);
			if (i == 1) {
				connect_qp(&b.t, qp, qp->qp_num);
				CHECK_EQ(ibv_post_recv(qp, &wr, &bad), 0);
				to_state(qp, IBV_QPS_ERR);
			}
		}
		wait_event(&b, b.cq);
		ibv_ack_cq_events(b.cq, 1);
		end_xrc(&b);
		end_rc(&b);
		CHECK_EQ(ibv_destroy_cq(b.cq), 0);
		wait_event(&b, other);
		ibv_ack_cq_events(other, 1);
		CHECK_EQ(poll(&p, 1, 0), 0);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
		b.cq = other;
		close_bare(&b);
	}
}

static void resize(void)
{
	struct beside b;
	uint64_t id = 0;

	open_both(&b, 8);
	for (int size = 20; size < 600; size = size * 3 / 2) {
		for (int i = 0; i < 2; i++, id++) {
			send_rc(&b, id, IBV_SEND_SIGNALED);
			send_xrc(&b, id, IBV_SEND_SIGNALED);
			if (i)
				CHECK_EQ(ibv_resize_cq(b.cq, size), 0);
			expect_both(&b, id);
		}
		CHECK(b.cq->cqe >= size);
	}
	/* Not below what waits, wherever that is. */
	for (int kind = 0; kind < 2; kind++) {
		for (uint64_t i = 0; i < 16; i++)
			if (kind)
				send_xrc(&b, i,
					 i == 15 ? IBV_SEND_SIGNALED : 0);
			else
				send_rc(&b, i, i == 15 ? IBV_SEND_SIGNALED : 0);
		sleep(1);
		CHECK_EQ(ibv_resize_cq(b.cq, 8), EINVAL);
		for (int i = 0; i < 17; i++)
			expect_wc(b.cq, IBV_WC_SUCCESS);
		expect_none(b.cq);
	}
	CHECK_EQ(ibv_resize_cq(b.cq, 8), 0);
	send_rc(&b, 200, IBV_SEND_SIGNALED);
	send_xrc(&b, 200, IBV_SEND_SIGNALED);
	expect_both(&b, 200);
	close_both(&b);
}

/* Nothing goes while something uses it, and what was refused works as before. */
static void wrong_order(void)
{
	struct beside b;

	open_both(&b, 64);
	CHECK_EQ(ibv_destroy_cq(b.cq), EBUSY);
	CHECK_EQ(ibv_destroy_srq(b.srq), 0); /* its domain's target stays */
	b.srq = NULL;
	CHECK_EQ(ibv_destroy_qp(b.target), 0);
	CHECK_EQ(ibv_close_xrcd(b.domain), 0);
	send_rc(&b, 7, IBV_SEND_SIGNALED);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, 7);
	end_rc(&b);
	CHECK_EQ(ibv_destroy_cq(b.cq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(b.xrc.qp), 0);
	CHECK_EQ(ibv_dereg_mr(b.xrc.mr), 0);
	free(b.xrc.buf);
	close_bare(&b);
}

/* Completions of a queue pair that is gone are gone too; receives of an XRC target are
 * its shared receive queue's. */
static void destroyed(void)
{
	struct beside b;
	uint32_t gone;

	open_both(&b, 64);
	for (uint64_t i = 0; i < DEPTH; i++) {
		send_rc(&b, i, IBV_SEND_SIGNALED);
		send_xrc(&b, i, IBV_SEND_SIGNALED);
	}
	sleep(1);
	gone = b.xrc.qp->qp_num;
	end_xrc(&b);
	for (uint64_t i = 0; i < 3 * DEPTH; i++)
		CHECK(expect_wc(b.cq, IBV_WC_SUCCESS).qp_num != gone);
	expect_none(b.cq);
	make_xrc(&b);
	send_xrc(&b, 99, IBV_SEND_SIGNALED);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, 99);
	close_both(&b);
}

/* The same device memory is there for both, and for the program. */
static void memory(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	unsigned int access = ALL_ACCESS | IBV_ACCESS_ZERO_BASED;
	uint64_t word = 0x1122334455667788, got = 0;
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .num_sge = 1,
				 };
	struct ibv_device_attr_ex has;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	struct beside b;

	open_both(&b, 64);
	CHECK_EQ(ibv_query_device_ex(b.t.ctx, NULL, &has), 0);
	CHECK(has.max_dm_size);
	dm = ibv_alloc_dm(b.t.ctx, &attr);
	CHECK(dm);
	mr = ibv_reg_dm_mr(b.t.pd, dm, 0, 4096, access);
	CHECK(mr);
	memcpy(b.rc[0].buf, &word, 8);
	sge = sge_of(&b.rc[0], 0, 8);
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = 64;
	wr.wr.rdma.rkey = mr->rkey;
	CHECK_EQ(ibv_post_send(b.rc[0].qp, &wr, &bad), 0);
	expect_wc(b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_memcpy_from_dm(&got, dm, 64, 8), 0);
	CHECK_EQ(got, word);
	/* To the next word, from there. */
	sge = (struct ibv_sge){.addr = 64, .length = 8, .lkey = mr->lkey};
	wr.wr.rdma.remote_addr = 72;
	wr.qp_type.xrc.remote_srqn = b.srqn;
	CHECK_EQ(ibv_post_send(b.xrc.qp, &wr, &bad), 0);
	expect_wc(b.cq, IBV_WC_SUCCESS);
	got = 0;
	CHECK_EQ(ibv_memcpy_from_dm(&got, dm, 72, 8), 0);
	CHECK_EQ(got, word);
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	close_both(&b);
}

/* A region to which a window is bound stays, wherever that was, and does what it
 * did. */
static void window(void)
{
	struct ibv_mw *mw;
	struct beside b;
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_BIND_MW,
					 .send_flags = IBV_SEND_SIGNALED,
				 };

	open_both(&b, 64);
	mw = ibv_alloc_mw(b.t.pd, IBV_MW_TYPE_2);
	CHECK(mw);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info =
		(struct ibv_mw_bind_info){b.rc[0].mr, (uintptr_t)b.rc[0].buf,
					  4096, IBV_ACCESS_REMOTE_WRITE};
	CHECK_EQ(ibv_post_send(b.xrc.qp, &wr, &bad), 0);
	expect_wc(b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_dereg_mr(b.rc[0].mr), EBUSY);
	send_rc(&b, 5, IBV_SEND_SIGNALED);
	send_xrc(&b, 5, IBV_SEND_SIGNALED);
	expect_both(&b, 5);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	close_both(&b);
}

const struct verbs_test beside_tests[] = {
	{"beside_traffic", traffic},
	{"beside_fairness", fairness},
	{"beside_extended", extended},
	{"beside_events", events},
	{"beside_unread_events", unread_events},
	{"beside_resize", resize},
	{"beside_wrong_order", wrong_order},
	{"beside_destroyed", destroyed},
	{"beside_memory", memory},
	{"beside_window", window},
	{0},
};
