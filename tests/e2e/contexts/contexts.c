// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two contexts of one program, connected to each other, of which its only thread polls one:
 *
 *	contexts GID_INDEX GID [end]
 *
 * Prints "ready" and waits for SIGUSR1; then the first context sends messages, one after the
 * other's end. Prints "sent", waits for the signal again, and ends. With "end" the first context
 * sends one message, waits for the signal when the other one has it, and moves its queue pair to
 * ERR before it polls: the message has arrived. It prints "polled", and waits for the signal.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/verbs_pair.h"

#define MESSAGES 200
#define BYTES	 64

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char bytes[BYTES];
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("failed: %s\n", what);
	exit(1);
}

static void say_and_wait(const char *what)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts(what);
	fflush(stdout);
	must(!sigwait(&set, &signal), "sigwait");
}

static void make(struct side *s, struct ibv_device *device)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 1,
						.max_recv_wr = MESSAGES,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	s->context = ibv_open_device(device);
	must(s->context, "ibv_open_device");
	s->pd = ibv_alloc_pd(s->context);
	s->cq = ibv_create_cq(s->context, MESSAGES + 1, NULL, NULL, 0);
	must(s->pd && s->cq, "objects");
	init.send_cq = init.recv_cq = s->cq;
	s->qp = ibv_create_qp(s->pd, &init);
	s->mr = ibv_reg_mr(s->pd, s->bytes, BYTES, IBV_ACCESS_LOCAL_WRITE);
	must(s->qp && s->mr, "objects");
}

static void connect_to(struct side *s, const struct side *other, int gid_index,
		       const union ibv_gid *gid)
{
	struct ibv_qp_attr attr = pair_attr(gid, other->qp->qp_num);

	attr.ah_attr.grh.sgid_index = (uint8_t)gid_index;
	must(!pair_connect(s->qp, &attr), "ibv_modify_qp");
}

static struct ibv_sge bytes_of(const struct side *s)
{
	return (struct ibv_sge){(uintptr_t)s->bytes, BYTES, s->mr->lkey};
}

static void give_buffers(struct side *s)
{
	struct ibv_sge sge = bytes_of(s);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (int i = 0; i < MESSAGES; i++)
		must(!ibv_post_recv(s->qp, &wr, &bad), "ibv_post_recv");
}

static void post_one(struct side *s)
{
	struct ibv_sge sge = bytes_of(s);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	must(!ibv_post_send(s->qp, &wr, &bad), "ibv_post_send");
}

static void poll_one(struct side *s)
{
	struct ibv_wc wc;
	int n = 0;

	while (!n)
		n = ibv_poll_cq(s->cq, 1, &wc);
	must(n == 1, "a completion");
	if (wc.status)
		puts(ibv_wc_status_str(wc.status));
	must(!wc.status, "a completion without error");
}

static int count(struct side *s)
{
	struct ibv_wc wc;
	int n = 0;

	while (ibv_poll_cq(s->cq, 1, &wc) == 1)
		n += !wc.status;
	return n;
}

static void send_and_end(struct side *a, const struct side *b)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	const volatile char *there = b->bytes;

	a->bytes[0] = 1;
	post_one(a);
	while (!*there)
		;
	say_and_wait("sent");
	must(!ibv_modify_qp(a->qp, &error, IBV_QP_STATE), "ERR");
	poll_one(a);
	say_and_wait("polled");
}

static void send_all(struct side *a, struct side *b)
{
	for (int i = 0; i < MESSAGES; i++) {
		post_one(a);
		poll_one(a);
	}
	say_and_wait("sent");
	must(count(b) == MESSAGES, "all messages");
}

static void end(struct side *s)
{
	must(!ibv_destroy_qp(s->qp) && !ibv_destroy_cq(s->cq) &&
		     !ibv_dereg_mr(s->mr) && !ibv_dealloc_pd(s->pd) &&
		     !ibv_close_device(s->context),
	     "to destroy all");
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct side a = {0}, b = {0};
	union ibv_gid gid;

	must(argc == 3 || (argc == 4 && !strcmp(argv[3], "end")), "arguments");
	must(inet_pton(AF_INET6, argv[2], &gid) == 1, "a GID");
	must(list && list[0], "a device");
	make(&a, list[0]);
	make(&b, list[0]);
	connect_to(&a, &b, atoi(argv[1]), &gid);
	connect_to(&b, &a, atoi(argv[1]), &gid);
	give_buffers(&b);
	say_and_wait("ready");
	if (argc == 3)
		send_all(&a, &b);
	else
		send_and_end(&a, &b);
	end(&a);
	end(&b);
	puts("done");
	return 0;
}
