// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion channels that no queue uses when uroced is killed, or ends:
 *
 *	events MODE GID
 *
 *	fresh	channels that no queue has used yet
 *	used	that a queue has used, which is gone
 *	ends	waits for the end of all of them, and of the asynchronous events
 *	used_ends	the same, of such that a queue has used
 *
 * It waits for them by an epoll that has them from the beginning. Prints "made" and waits for SIGUSR1.
 * Then queues use them, and each has its event for a message whose every byte is looked at.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define CHANNELS 3
#define BYTES	 3000

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel[CHANNELS];
static struct ibv_cq *cq[CHANNELS];
static struct ibv_mr *mr;
static union ibv_gid gid;
static uint8_t memory[CHANNELS][2][BYTES];
static int events;

static void wait_by_epoll(int fd, uint32_t data)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = data};

	must(!epoll_ctl(events, EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
}

static void make_channels(void)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		channel[i] = ibv_create_comp_channel(context);
		must(channel[i], "ibv_create_comp_channel");
		wait_by_epoll(channel[i]->fd, i);
	}
}

static void make_queues(void)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		cq[i] = ibv_create_cq(context, 8, NULL, channel[i], 0);
		must(cq[i], "ibv_create_cq");
		must(!ibv_req_notify_cq(cq[i], 0), "ibv_req_notify_cq");
	}
}

static void end_queues(void)
{
	for (uint32_t i = 0; i < CHANNELS; i++)
		must(!ibv_destroy_cq(cq[i]), "ibv_destroy_cq");
}

static struct ibv_qp *make_pair(uint32_t i)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.send_cq = cq[i],
		.recv_cq = cq[i],
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr;

	must(qp, "ibv_create_qp");
	attr = pair_attr(&gid, qp->qp_num);
	must(!pair_connect(qp, &attr), "its own peer");
	return qp;
}

static void send_message(struct ibv_qp *qp, uint32_t i)
{
	struct ibv_sge from = {(uintptr_t)memory[i][0], BYTES, mr->lkey},
		       to = {(uintptr_t)memory[i][1], BYTES, mr->lkey};
	struct ibv_send_wr send = {.sg_list = &from,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND},
			   *bad_send;
	struct ibv_recv_wr receive = {.sg_list = &to, .num_sge = 1},
			   *bad_receive;

	for (uint32_t n = 0; n < BYTES; n++)
		memory[i][0][n] = (uint8_t)(n * 7 + i + 1);
	must(!ibv_post_recv(qp, &receive, &bad_receive), "ibv_post_recv");
	must(!ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
}

static int take_completions(uint32_t i)
{
	struct ibv_wc wc;
	int n, all = 0;

	while ((n = ibv_poll_cq(cq[i], 1, &wc))) {
		must(n == 1 && !wc.status, "a completion");
		all++;
	}
	return all;
}

static void wait_for_message(uint32_t i)
{
	int left = 2 - take_completions(i);

	while (left) {
		struct epoll_event e;
		struct ibv_cq *of;
		void *user;

		must(epoll_wait(events, &e, 1, 10000) == 1, "an event");
		must(e.data.u32 == i && !(e.events & EPOLLHUP), "the channel");
		must(!ibv_get_cq_event(channel[i], &of, &user) && of == cq[i],
		     "ibv_get_cq_event");
		ibv_ack_cq_events(of, 1);
		must(!ibv_req_notify_cq(cq[i], 0), "ibv_req_notify_cq");
		left -= take_completions(i);
	}
	must(!memcmp(memory[i][0], memory[i][1], BYTES), "the bytes");
}

static void use_channels(void)
{
	struct ibv_qp *qp;

	make_queues();
	for (uint32_t i = 0; i < CHANNELS; i++) {
		qp = make_pair(i);
		send_message(qp, i);
		wait_for_message(i);
		must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	}
	end_queues();
	for (uint32_t i = 0; i < CHANNELS; i++)
		must(!ibv_destroy_comp_channel(channel[i]), "its end");
}

static void wait_for_ends(void)
{
	uint32_t seen = 0;

	wait_by_epoll(context->async_fd, CHANNELS);
	while (seen != (1u << (CHANNELS + 1)) - 1) {
		struct epoll_event e;

		must(epoll_wait(events, &e, 1, 20000) == 1, "an end");
		if (e.events & EPOLLHUP)
			seen |= 1u << e.data.u32;
		must(!epoll_ctl(events, EPOLL_CTL_DEL,
				e.data.u32 < CHANNELS ? channel[e.data.u32]->fd
						      : context->async_fd,
				NULL),
		     "epoll_ctl");
	}
}

int main(int argc, char **argv)
{
	must(argc == 3 && inet_pton(AF_INET6, argv[2], &gid) == 1, "arguments");
	rounds_will_wait();
	events = epoll_create1(EPOLL_CLOEXEC);
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	must(pd, "ibv_alloc_pd");
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	must(mr, "ibv_reg_mr");
	make_channels();
	if (!strncmp(argv[1], "used", 4)) {
		make_queues();
		end_queues();
	}
	rounds_wait(1);
	if (strstr(argv[1], "ends"))
		wait_for_ends();
	else
		use_channels();
	printf("done 0\n");
	return 0;
}
