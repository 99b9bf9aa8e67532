// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The three kinds of event files as event loops see them: the kernel says that
 * they are readable when there is an event, and nothing else as long as the
 * device is there (ib_uverbs_event_poll(), ucma_poll() of Linux).
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "bench.h"

#define EVERYTHING \
	(EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND)

static unsigned int watched(int fd, unsigned int how)
{
	struct epoll_event ev = {.events = EVERYTHING | how};
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev));
	ev.events = 0;
	CHECK(epoll_wait(epoll, &ev, 1, 0) >= 0);
	close(epoll);
	return ev.events;
}

static void check_says(int fd, int events)
{
	struct pollfd pfd = {.fd = fd, .events = EVERYTHING};
	struct timeval now = {0};
	fd_set set;

	CHECK(poll(&pfd, 1, 0) >= 0);
	CHECK_EQ(pfd.revents, events);
	CHECK_EQ(watched(fd, 0), events);
	CHECK_EQ(watched(fd, EPOLLET), events);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	CHECK_EQ(select(fd + 1, NULL, &set, NULL, &now), 0);
	FD_SET(fd, &set);
	CHECK_EQ(select(fd + 1, &set, NULL, NULL, &now), events != 0);
}

static void wait_readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	CHECK_EQ(poll(&pfd, 1, 20000), 1);
	check_says(fd, POLLIN | POLLRDNORM);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	CHECK_EQ(ibv_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS),
		 0);
}

static void completion_channel(void)
{
	struct bench t;
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq, *which;
	struct ibv_qp *qp;
	void *context;

	bench_bare(&t);
	ch = ibv_create_comp_channel(t.ctx);
	CHECK(ch);
	check_says(ch->fd, 0);
	cq = ibv_create_cq(t.ctx, 16, NULL, ch, 0);
	CHECK(cq);
	qp = make_qp(&t, cq, NULL, IBV_QPT_RC, 16, NULL);
	for (int i = 0; i < 3; i++) {
		struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		to_state(qp, IBV_QPS_RESET);
		to_init(qp);
		CHECK_EQ(ibv_post_recv(qp, &wr, &bad), 0);
		check_says(ch->fd, 0);
		to_state(qp, IBV_QPS_ERR);
		wait_readable(ch->fd);
		expect_wc(cq, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(ibv_get_cq_event(ch, &which, &context), 0);
		CHECK(which == cq);
		ibv_ack_cq_events(cq, 1);
		check_says(ch->fd, 0);
	}
	/* The kernel's file is open for reading only. */
	CHECK(write(ch->fd, "x", 1) < 0 && errno == EBADF);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(ch), 0);
	bench_close(&t);
}

static void async_file(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_async_event ev;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct bench t;

	bench_bare(&t);
	while (next_event(t.ctx, 0, &ev))
		;
	check_says(t.ctx->async_fd, 0);
	cq = ibv_create_cq(t.ctx, 16, NULL, NULL, 0);
	srq = ibv_create_srq(t.pd, &init);
	CHECK(cq && srq);
	qp = make_qp(&t, cq, srq, IBV_QPT_RC, 16, NULL);
	to_init(qp);
	to_state(qp, IBV_QPS_ERR);
	wait_readable(t.ctx->async_fd);
	CHECK_EQ(ibv_get_async_event(t.ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	ibv_ack_async_event(&ev);
	check_says(t.ctx->async_fd, 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	bench_close(&t);
}

static void cm_file(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	check_says(fd, 0);
	close(fd);
}

const struct verbs_test event_tests[] = {
	{"event_channel", completion_channel},
	{"event_async", async_file},
	{"event_cm", cm_file},
	{0},
};
