// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections by rdma_cm, each from rdma_create_id() to rdma_destroy_id(), with a queue pair:
 *
 *	connects -|ADDRESS PORT WORKERS KIND SECONDS
 *
 * KIND: "threads" or "processes". A worker has an event channel and a completion queue, and
 * OUTSTANDING connections under way; that of the other side listens on PORT and its number.
 * "-" listens until it is killed; the other side prints connections in a second.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/bench/clock.h"
#include "tests/verbs_pair.h"

#define WORKERS	    64
#define OUTSTANDING 4

struct worker {
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
	u16 port;
	u32 under_way;
	u64 connected;
};

/* Of all workers, in whatever process. */
struct shared {
	_Atomic u64 connected, ns;
};

static struct shared *all;
static struct sockaddr_in address;
static bool listens;
static u32 count;
static double seconds;

static struct sockaddr *to(const struct worker *w, struct sockaddr_in *in)
{
	*in = address;
	in->sin_port = htons(w->port);
	return (struct sockaddr *)in;
}

static void make_qp(struct worker *w, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.cap = {1, 1, 1, 1, 0},
					.qp_type = IBV_QPT_RC};

	if (!w->cq)
		w->cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	need(w->cq != NULL, "create_cq");
	attr.send_cq = attr.recv_cq = w->cq;
	need(!rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

static void begin(struct worker *w)
{
	struct sockaddr_in in;
	struct rdma_cm_id *id;

	need(!rdma_create_id(w->channel, &id, w, RDMA_PS_TCP) &&
		     !rdma_resolve_addr(id, NULL, to(w, &in), 2000),
	     "rdma_resolve_addr");
	w->under_way++;
}

static void end(struct worker *w, struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	need(!rdma_destroy_id(id), "rdma_destroy_id");
	w->under_way--;
}

static void active(struct worker *w, struct rdma_cm_id *id,
		   enum rdma_cm_event_type event)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		need(!rdma_resolve_route(id, 2000), "rdma_resolve_route");
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_qp(w, id);
		need(!rdma_connect(id, &param), "rdma_connect");
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
		w->connected++;
		need(!rdma_disconnect(id), "rdma_disconnect");
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		end(w, id);
		return;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	default:
		need(false, rdma_event_str(event));
	}
}

static void passive(struct worker *w, struct rdma_cm_id *id,
		    enum rdma_cm_event_type event)
{
	struct rdma_conn_param param = {.rnr_retry_count = 7};

	switch (event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		w->under_way++;
		make_qp(w, id);
		need(!rdma_accept(id, &param), "rdma_accept");
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		end(w, id);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	default:
		need(false, rdma_event_str(event));
	}
}

static void take_event(struct worker *w)
{
	struct rdma_cm_event *e;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	need(!rdma_get_cm_event(w->channel, &e), "rdma_get_cm_event");
	type = e->event;
	id = e->id;
	/* Before the id is destroyed. */
	need(!rdma_ack_cm_event(e), "rdma_ack_cm_event");
	if (listens)
		passive(w, id, type);
	else
		active(w, id, type);
}

static void connect_on(struct worker *w)
{
	u64 from = now_ns(), until = from + (u64)(seconds * 1e9), now;

	do {
		while (w->under_way < OUTSTANDING)
			begin(w);
		take_event(w);
		now = now_ns();
	} while (now < until);
	atomic_fetch_add(&all->ns, now - from);
	atomic_fetch_add(&all->connected, w->connected);
	while (w->under_way)
		take_event(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct sockaddr_in in;
	struct rdma_cm_id *id;

	w->channel = rdma_create_event_channel();
	need(w->channel != NULL, "rdma_create_event_channel");
	if (!listens) {
		connect_on(w);
		return NULL;
	}
	need(!rdma_create_id(w->channel, &id, w, RDMA_PS_TCP) &&
		     !rdma_bind_addr(id, to(w, &in)) && !rdma_listen(id, 64),
	     "rdma_listen");
	for (;;)
		take_event(w);
}

static void threads(struct worker *w)
{
	pthread_t thread[WORKERS];

	for (u32 i = 0; i < count; i++)
		need(!pthread_create(&thread[i], NULL, work, &w[i]), "thread");
	for (u32 i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

static void processes(struct worker *w)
{
	int status;

	for (u32 i = 0; i < count; i++) {
		pid_t child = fork();

		need(child >= 0, "fork");
		if (!child) {
			work(&w[i]);
			exit(0);
		}
	}
	for (u32 i = 0; i < count; i++)
		need(wait(&status) > 0 && !status, "a process");
}

int main(int argc, char **argv)
{
	static struct worker w[WORKERS];

	need(argc == 6, "arguments");
	address.sin_family = AF_INET;
	count = (u32)atoi(argv[3]);
	seconds = atof(argv[5]);
	need(count && count <= WORKERS && seconds > 0, "arguments");
	for (u32 i = 0; i < count; i++)
		w[i].port = (u16)(atoi(argv[2]) + (int)i);
	listens = !strcmp(argv[1], "-");
	need(listens || inet_pton(AF_INET, argv[1], &address.sin_addr) == 1,
	     "address");
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(all != MAP_FAILED, "memory");
	if (!strcmp(argv[4], "threads"))
		threads(w);
	else
		processes(w);
	printf("%.0f\n",
	       (double)all->connected * 1e9 * count / (double)all->ns);
	return 0;
}
