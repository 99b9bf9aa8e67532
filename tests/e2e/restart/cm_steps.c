// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program with rdma_cm that does, step by step, what test_restart_cm.py writes into a
 * pipe, and prints each result and each event:
 *
 *	cm_steps server|client ADDRESS PORT PIPE
 *
 * A server listens and accepts whoever comes ("manual": by command, "make": the queue pair alone, "answer":
 * the rest). A client connects ("create" and "resolve": the two steps of its beginning; "halt": by "ask",
 * with its queue pair made before). Both print an event as
 * "event NAME STATUS". After "hold" they do nothing after an event,
 * and look at no other, before a "go" for it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"

#define IDS_MAX	 4096
#define DEPTH	 16
#define MESSAGES 100

struct peer {
	struct rdma_cm_id *id;
	uint64_t data[DEPTH];
	struct ibv_mr *mr;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of peers */
static _Atomic bool holds;
static sem_t gos;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static struct peer *peers[IDS_MAX];
static unsigned int n_peers;
static struct sockaddr_in address;
static bool server, manual, halts;
static struct rdma_cm_id *asks; /* not accepted, or not connected, yet */

static void say(const char *what, int ret)
{
	printf("%s %d\n", what, ret ? errno : 0);
	fflush(stdout);
}

static void post_receives(struct peer *p)
{
	for (int i = 0; i < DEPTH; i++) {
		struct ibv_sge sge = {(uintptr_t)&p->data[i], 8, p->mr->lkey};
		struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

		CHECK(!ibv_post_recv(p->id->qp, &wr, &bad));
	}
}

static int add_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct peer *p = calloc(1, sizeof(*p));

	CHECK(p && n_peers < IDS_MAX);
	p->id = id;
	id->context = p;
	/* It may be made in part before a kill, and in part after it. */
	if (rdma_create_qp(id, NULL, &attr))
		return -1;
	p->mr = ibv_reg_mr(id->pd, p->data, sizeof(p->data),
			   IBV_ACCESS_LOCAL_WRITE);
	CHECK(p->mr);
	if (server)
		post_receives(p);
	pthread_mutex_lock(&lock);
	peers[n_peers++] = p;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int answer(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.rnr_retry_count = 7};

	return rdma_accept(id, &param);
}

static int ask(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	return rdma_connect(id, &param);
}

static int accept_one(struct rdma_cm_id *id)
{
	int err;

	if (!add_qp(id) && !answer(id))
		return 0;
	err = errno;
	rdma_reject(id, NULL, 0);
	errno = err;
	return -1;
}

static void next_step(const struct rdma_cm_event *e)
{
	switch (e->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		say("route", rdma_resolve_route(e->id, 2000));
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (halts)
			say("queue pair", add_qp(asks = e->id));
		else
			say("connect", add_qp(e->id) || ask(e->id));
		return;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (!manual)
			say("accept", accept_one(e->id));
		return;
	default:
		return;
	}
}

static void *take_events(void *arg)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(channel, &e)) {
		struct rdma_cm_event copy = *e;

		/* Before the test reads of it and says "accept". */
		if (manual && copy.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			asks = copy.id;
		printf("event %s %d\n", rdma_event_str(e->event), e->status);
		fflush(stdout);
		CHECK(!rdma_ack_cm_event(e));
		if (holds)
			CHECK(!sem_wait(&gos));
		next_step(&copy);
	}
	say("channel ended", -1);
	return NULL;
}

static struct rdma_cm_id *fresh; /* without an address */

static int create(void)
{
	return rdma_create_id(channel, &fresh, NULL, RDMA_PS_TCP);
}

static int resolve(void)
{
	return rdma_resolve_addr(fresh, NULL, (struct sockaddr *)&address,
				 5000);
}

/* Messages of the last connection, each acknowledged. */
static int send_messages(struct peer *p)
{
	struct ibv_sge sge = {(uintptr_t)p->data, 8, p->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND},
			   *bad;
	struct ibv_wc wc;
	int n;

	for (int i = 0; i < MESSAGES; i++) {
		if (ibv_post_send(p->id->qp, &wr, &bad))
			return -1;
		do
			n = ibv_poll_cq(p->id->send_cq, 1, &wc);
		while (!n);
		if (n < 0 || wc.status) {
			errno = EPROTO;
			return -1;
		}
	}
	return 0;
}

/* The server's side: gives back what was received. */
static void *receive(void *arg)
{
	struct ibv_wc wc;

	for (;;) {
		struct timespec ms = {.tv_nsec = 1000000};

		pthread_mutex_lock(&lock);
		for (unsigned int i = 0; i < n_peers; i++) {
			struct peer *p = peers[i];
			struct ibv_sge sge = {(uintptr_t)p->data, 8,
					      p->mr->lkey};
			struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1},
					   *bad;

			/* One that is destroyed has no id. */
			while (p->id && ibv_poll_cq(p->id->recv_cq, 1, &wc) > 0)
				if (!wc.status)
					ibv_post_recv(p->id->qp, &wr, &bad);
		}
		pthread_mutex_unlock(&lock);
		nanosleep(&ms, NULL);
	}
	return NULL;
}

static int attributes(struct peer *p)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	int mask;

	return rdma_init_qp_attr(p->id, &attr, &mask);
}

static int option(struct peer *p)
{
	uint8_t tos = 32;

	return rdma_set_option(p->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
			       sizeof(tos));
}

static int migrate(struct peer *p)
{
	static struct rdma_event_channel *other;

	if (!other)
		other = rdma_create_event_channel();
	return other ? rdma_migrate_id(p->id, other) : -1;
}

/* Ids that come and go for 3 s: each command has its answer, once. */
static int churn(void)
{
	time_t end = time(NULL) + 3;
	struct rdma_cm_id *id;
	int on = 1;

	while (time(NULL) < end) {
		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
		    rdma_set_option(id, RDMA_OPTION_ID,
				    RDMA_OPTION_ID_REUSEADDR, &on,
				    sizeof(on)) ||
		    rdma_destroy_id(id))
			return -1;
	}
	return 0;
}

static int destroy(struct peer *p)
{
	struct rdma_cm_id *id = p->id;

	pthread_mutex_lock(&lock);
	p->id = NULL;
	pthread_mutex_unlock(&lock);
	rdma_destroy_qp(id);
	return rdma_destroy_id(id);
}

static struct rdma_cm_id *member; /* with a datagram queue pair */
static struct sockaddr_in group = {.sin_family = AF_INET};

static int make_member(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};
	struct sockaddr_in any_port = address;

	any_port.sin_port = 0;
	CHECK(inet_pton(AF_INET, "239.1.2.9", &group.sin_addr) == 1);
	return rdma_create_id(channel, &member, NULL, RDMA_PS_UDP) ||
			       rdma_bind_addr(member,
					      (struct sockaddr *)&any_port) ||
			       rdma_create_qp(member, NULL, &attr)
		       ? -1
		       : 0;
}

static int join(void)
{
	if (!member && make_member())
		return -1;
	return rdma_join_multicast(member, (struct sockaddr *)&group, NULL);
}

static int do_step(const char *what)
{
	struct peer *last = n_peers ? peers[n_peers - 1] : NULL;

	if (!strcmp(what, "create"))
		return create();
	if (!strcmp(what, "resolve"))
		return resolve();
	if (!strcmp(what, "connect"))
		return create() || resolve() ? -1 : 0;
	if (!strcmp(what, "manual"))
		return manual = true, 0;
	if (!strcmp(what, "halt"))
		return halts = true, 0;
	if (!strcmp(what, "hold"))
		return atomic_store(&holds, true), 0;
	if (!strcmp(what, "go"))
		return sem_post(&gos);
	if (!strcmp(what, "churn"))
		return churn();
	if (!strcmp(what, "join"))
		return join();
	if (!strcmp(what, "leave"))
		return rdma_leave_multicast(member, (struct sockaddr *)&group);
	if (!strcmp(what, "ask"))
		return asks ? ask(asks) : -1;
	if (!strcmp(what, "make"))
		return asks ? add_qp(asks) : -1;
	if (!strcmp(what, "answer"))
		return asks ? answer(asks) : -1;
	if (!strcmp(what, "accept"))
		return asks ? accept_one(asks) : -1;
	CHECK(last);
	if (!strcmp(what, "disconnect"))
		return rdma_disconnect(last->id);
	if (!strcmp(what, "destroy"))
		return destroy(last);
	if (!strcmp(what, "send"))
		return send_messages(last);
	if (!strcmp(what, "attributes"))
		return attributes(last);
	if (!strcmp(what, "option"))
		return option(last);
	if (!strcmp(what, "migrate"))
		return migrate(last);
	CHECK(false);
	return -1;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[64];
	FILE *pipe;

	CHECK(argc == 5 && !sem_init(&gos, 0, 0));
	server = !strcmp(argv[1], "server");
	address.sin_family = AF_INET;
	CHECK(inet_pton(AF_INET, argv[2], &address.sin_addr) == 1);
	address.sin_port = htons((uint16_t)atoi(argv[3]));
	pipe = fopen(argv[4], "r+");
	CHECK(pipe);
	channel = rdma_create_event_channel();
	CHECK(channel);
	say("begin", 0);
	if (server) {
		CHECK(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
		CHECK(!rdma_bind_addr(listener, (struct sockaddr *)&address));
		CHECK(!rdma_listen(listener, 1024));
		say("listen", 0);
		CHECK(!pthread_create(&thread, NULL, receive, NULL));
	}
	CHECK(!pthread_create(&thread, NULL, take_events, NULL));
	while (fgets(line, sizeof(line), pipe)) {
		struct timespec from, to;
		int ret;

		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "end"))
			break;
		clock_gettime(CLOCK_MONOTONIC, &from);
		errno = 0;
		ret = do_step(line);
		ret = ret ? errno : 0;
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("step %s %d in %ld ms\n", line, ret,
		       (to.tv_sec - from.tv_sec) * 1000 +
			       (to.tv_nsec - from.tv_nsec) / 1000000);
		fflush(stdout);
	}
	_exit(0);
}
