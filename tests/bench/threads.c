// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What several workers carry together. A worker has a completion queue and an RC queue
 * pair, and writes to one worker of the other side:
 *
 *	threads -|ADDRESS PORT WORKERS KIND SIZE SECONDS
 *
 * KIND: "threads", all of one context and protection domain, or "processes", each of one
 * thread. The two sides may differ. "-" waits for the other side, and polls until that has
 * ended; the other one prints messages in a second. PORT 0: nobody is on the other side, and the
 * queue pairs are UC; what they send to ADDRESS is lost.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/bench/clock.h"
#include "tests/verbs_pair.h"

#define WORKERS 64
#define DEPTH	256
#define BATCH	16

struct end {
	union ibv_gid gid;
	u64 addr;
	u32 qpn, rkey;
};

struct worker {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct end peer;
	int socket;
};

/* Of all workers, in whatever process. */
struct shared {
	_Atomic u32 ready;
	_Atomic u64 messages, ns;
};

static struct shared *all;

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct sockaddr_in address;
static int listener = -1;
static bool alone;
static u32 count, size;
static double seconds;

static void open_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	need(list && list[0], "a device");
	ctx = ibv_open_device(list[0]);
	need(ctx != NULL, "open");
	pd = ibv_alloc_pd(ctx);
	need(pd != NULL, "alloc_pd");
}

static int meet(void)
{
	int s;

	if (listener >= 0)
		return accept(listener, NULL, NULL);
	for (int i = 0; i < 100; i++) {
		s = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(s, (void *)&address, sizeof(address)))
			return s;
		close(s);
		usleep(100000);
	}
	return -1;
}

static void make(struct worker *w)
{
	size_t bytes = size < 4096 ? 4096 : size;
	struct ibv_qp_init_attr init = {
		.cap = {DEPTH, 1, 1, 1, 0},
		.qp_type = alone ? IBV_QPT_UC : IBV_QPT_RC,
	};
	void *buf = aligned_alloc(4096, bytes);
	struct ibv_qp_attr attr;
	struct end me = {0};

	need(buf != NULL, "memory");
	memset(buf, 1, bytes);
	w->cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0);
	need(w->cq != NULL, "create_cq");
	init.send_cq = init.recv_cq = w->cq;
	w->qp = ibv_create_qp(pd, &init);
	w->mr = ibv_reg_mr(pd, buf, bytes,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(w->qp && w->mr && !ibv_query_gid(ctx, 1, 0, &me.gid), "objects");
	me.addr = (uintptr_t)buf;
	me.qpn = w->qp->qp_num;
	me.rkey = w->mr->rkey;
	w->peer = me;
	if (alone)
		memcpy(&w->peer.gid.raw[12], &address.sin_addr, 4);
	else
		w->socket = meet();
	need(alone ||
		     (w->socket >= 0 && write(w->socket, &me, sizeof(me)) > 0 &&
		      recv(w->socket, &w->peer, sizeof(me), MSG_WAITALL) ==
			      sizeof(me)),
	     "the other side");
	attr = pair_attr(&w->peer.gid, w->peer.qpn);
	need(!pair_connect(w->qp, &attr), "connect");
}

/* Posts BATCH small messages, or one large one. Returns how many. */
static u32 post(struct worker *w)
{
	struct ibv_sge sge = {(uintptr_t)w->mr->addr, size, w->mr->lkey};
	struct ibv_send_wr wr[BATCH], *bad;
	u32 n = size < 4096 ? BATCH : 1;

	for (u32 i = 0; i < n; i++)
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = i + 1 < n ? 0 : IBV_SEND_SIGNALED,
			.wr.rdma = {w->peer.addr, w->peer.rkey},
		};
	need(!ibv_post_send(w->qp, wr, &bad), "post_send");
	return n;
}

/* Returns how many posts have completed. */
static u32 poll(struct worker *w)
{
	struct ibv_wc wc[32];
	int n = ibv_poll_cq(w->cq, 32, wc);

	need(n >= 0, "poll_cq");
	for (int i = 0; i < n; i++)
		need(!wc[i].status, ibv_wc_status_str(wc[i].status));
	return (u32)n;
}

static void wait_for_all(void)
{
	atomic_fetch_add(&all->ready, 1);
	while (atomic_load(&all->ready) < count)
		usleep(1000);
}

static void write_on(struct worker *w)
{
	u32 most = size < 4096 ? 128 : 16, a_post = size < 4096 ? BATCH : 1;
	u32 out = 0, n;
	u64 done = 0, begin, end;

	wait_for_all();
	begin = now_ns();
	end = begin + (u64)(seconds * 1e9);
	while (now_ns() < end) {
		while (out + a_post <= most)
			out += post(w);
		n = poll(w) * a_post;
		out -= n;
		done += n;
	}
	atomic_fetch_add(&all->ns, now_ns() - begin);
	atomic_fetch_add(&all->messages, done);
	while (out)
		out -= poll(w) * a_post;
}

/* The other side hangs up at the end. */
static void poll_on(struct worker *w)
{
	char c;
	u32 i = 0;

	do
		poll(w);
	while (++i % 1024 || recv(w->socket, &c, 1, MSG_DONTWAIT) < 0);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	if (listener < 0)
		write_on(w);
	else
		poll_on(w);
	return NULL;
}

static void threads(void)
{
	static struct worker w[WORKERS];
	pthread_t thread[WORKERS];

	open_context();
	for (u32 i = 0; i < count; i++)
		make(&w[i]);
	for (u32 i = 0; i < count; i++)
		need(!pthread_create(&thread[i], NULL, work, &w[i]), "thread");
	for (u32 i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

static void process(void)
{
	struct worker w;

	open_context();
	make(&w);
	work(&w);
	exit(0);
}

static void processes(void)
{
	int status;

	for (u32 i = 0; i < count; i++) {
		pid_t child = fork();

		need(child >= 0, "fork");
		if (!child)
			process();
	}
	for (u32 i = 0; i < count; i++)
		need(wait(&status) > 0 && !status, "a process");
}

static void listen_there(void)
{
	int one = 1;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	need(!bind(listener, (void *)&address, sizeof(address)) &&
		     !listen(listener, WORKERS),
	     "listen");
}

int main(int argc, char **argv)
{
	need(argc == 7, "arguments");
	address.sin_family = AF_INET;
	address.sin_port = htons((u16)atoi(argv[2]));
	alone = !address.sin_port;
	count = (u32)atoi(argv[3]);
	size = (u32)atoi(argv[5]);
	seconds = atof(argv[6]);
	need(count && count <= WORKERS && size && seconds > 0, "arguments");
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(all != MAP_FAILED, "memory");
	if (!strcmp(argv[1], "-"))
		listen_there();
	else
		need(inet_pton(AF_INET, argv[1], &address.sin_addr) == 1,
		     "address");
	if (!strcmp(argv[4], "threads"))
		threads();
	else
		processes();
	if (listener < 0)
		printf("%.0f\n",
		       (double)all->messages * 1e9 * count / (double)all->ns);
	return 0;
}
