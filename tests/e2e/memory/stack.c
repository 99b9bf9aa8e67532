// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two programs whose posting and polling threads have 16 KiB of stack, as fibers have: all services and operations, short
 * and long. Each says how deep its stack was used, and how many bytes its thread has read from files: what a turn
 * reads there takes longer in a larger program. MODE GID_INDEX GID PORT [SERVER]; MODE "file": the memory is a file in
 * memory, which neighbours may be shown.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define STACK 16384u
#define PAINT 0x5a
#define BYTES (1u << 20)
#define LONG \
	200000u /* into which a file that is shown goes as one piece or several */
#define MESSAGES 100u
#define RECEIVES 16u
#define QKEY	 0x1234u

struct side {
	uint32_t qpn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

static struct rounds_peer peer;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static struct side there;
static uint8_t *at;
static bool in_file;
static const char
	*bad; /* what went wrong on that thread, which has no stack to say it */
static uint64_t reads;
static char before[512], after[512];
static size_t used;

static uint8_t *make_memory(void)
{
	int fd = in_file ? memfd_create("stack", 0) : -1;
	uint8_t *p;

	must(!in_file || !ftruncate(fd, BYTES), "memfd_create");
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		 in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	must(p != MAP_FAILED, "mmap");
	return p;
}

static void connect_to_peer(enum ibv_qp_type type)
{
	struct ibv_qp_attr attr = pair_attr(&there.gid, there.qpn);

	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ |
			       IBV_ACCESS_REMOTE_ATOMIC;
	if (type == IBV_QPT_UC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	attr.qkey = QKEY;
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	must(!pair_to(qp, &attr, IBV_QPS_INIT), "INIT");
	must(!pair_to(qp, &attr, IBV_QPS_RTR), "RTR");
	must(!pair_to(qp, &attr, IBV_QPS_RTS), "RTS");
	if (type == IBV_QPT_UD) {
		ah = ibv_create_ah(pd, &attr.ah_attr);
		must(ah, "ibv_create_ah");
	}
}

static void begin(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = type,
	};
	struct side mine = {.gid = peer.gid};

	at = make_memory();
	mr = ibv_reg_mr(pd, at, BYTES,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_ATOMIC);
	must(mr, "ibv_reg_mr");
	qp = ibv_create_qp(pd, &init);
	must(qp, "ibv_create_qp");
	mine.qpn = qp->qp_num;
	mine.rkey = mr->rkey;
	mine.addr = (uintptr_t)at;
	rounds_swap(&peer, &mine, &there, sizeof(mine));
	connect_to_peer(type);
}

static void end(void)
{
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	must(!ah || !ibv_destroy_ah(ah), "ibv_destroy_ah");
	ah = NULL;
	must(!ibv_dereg_mr(mr) && !munmap(at, BYTES), "ibv_dereg_mr");
}

/* ---- on the small stack: nothing of the C library that needs much ---- */

static bool is_good(bool ok, const char *what)
{
	if (!ok && !bad)
		bad = what;
	return ok;
}

static bool post_receive(void)
{
	struct ibv_sge sge = {(uintptr_t)at + BYTES / 2, BYTES / 2, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *failed;

	return is_good(!ibv_post_recv(qp, &wr, &failed), "ibv_post_recv");
}

static bool post(enum ibv_wr_opcode op, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)at, len, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = op,
				 .send_flags = IBV_SEND_SIGNALED},
			   *failed;

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = there.addr;
		wr.wr.atomic.rkey = there.rkey;
	} else if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = there.qpn;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr.wr.rdma.remote_addr = there.addr;
		wr.wr.rdma.rkey = there.rkey;
	}
	return is_good(!ibv_post_send(qp, &wr, &failed), "ibv_post_send");
}

static bool run(enum ibv_wr_opcode op, uint32_t len)
{
	struct ibv_wc wc;
	int n;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (!post(op, len))
			return false;
		while (!(n = ibv_poll_cq(cq, 1, &wc)))
			;
		if (!is_good(n == 1 && !wc.status, "a completion"))
			return false;
	}
	return true;
}

static bool run_all(void)
{
	if (qp->qp_type == IBV_QPT_UD)
		return run(IBV_WR_SEND, 8) && run(IBV_WR_SEND, 1000);
	if (!run(IBV_WR_SEND, 8) || !run(IBV_WR_SEND, LONG) ||
	    !run(IBV_WR_RDMA_WRITE, 8) || !run(IBV_WR_RDMA_WRITE, LONG))
		return false;
	return qp->qp_type == IBV_QPT_UC ||
	       (run(IBV_WR_RDMA_READ, 8) && run(IBV_WR_RDMA_READ, LONG) &&
		run(IBV_WR_ATOMIC_FETCH_AND_ADD, 8));
}

/* Receives until the client says that it has done all. */
static bool serve(void)
{
	struct ibv_wc wc;
	char c;
	int n;

	while (recv(peer.sock, &c, 1, MSG_DONTWAIT) != 1) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (!is_good(!n || (n == 1 && !wc.status), "a receive"))
			return false;
		if (n && !post_receive())
			return false;
	}
	return true;
}

/* Reads the kernel's account of the calling thread's reading and writing. */
static void look_at_io(char text[512])
{
	int fd = open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 511);

	is_good(n > 0, "/proc/thread-self/io");
	text[n > 0 ? n : 0] = 0;
	close(fd);
}

static void *on_small_stack(void *arg)
{
	look_at_io(before);
	if (!peer.client) {
		serve();
	} else {
		run_all();
		is_good(send(peer.sock, "x", 1, 0) == 1, "send");
	}
	look_at_io(after);
	return NULL;
}

/* ---- its measure ---- */

static uint64_t bytes_read(const char *text)
{
	unsigned long long n;

	must(sscanf(text, "rchar: %llu", &n) == 1, "rchar");
	return n;
}

static void run_thread(void)
{
	uint8_t *stack = mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	size_t free = 0;

	must(stack != MAP_FAILED && !mprotect(stack, 4096, PROT_NONE), "mmap");
	stack += 4096;
	memset(stack, PAINT, STACK);
	pthread_attr_init(&attr);
	must(!pthread_attr_setstack(&attr, stack, STACK), "stack");
	must(!pthread_create(&thread, &attr, on_small_stack, NULL), "thread");
	pthread_join(thread, NULL);
	must(!bad, bad);
	/* The first look reads some, too. */
	reads += bytes_read(after) - bytes_read(before) - strlen(before);
	while (free < STACK && stack[free] == PAINT)
		free++;
	if (STACK - free > used)
		used = STACK - free;
	munmap(stack - 4096, STACK + 4096);
}

int main(int argc, char **argv)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC,
						 IBV_QPT_UD};

	rounds_begin(&peer, argc, argv);
	in_file = !strcmp(argv[1], "file");
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	must(pd && cq, "ibv_create_cq");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		begin(types[i]);
		for (uint32_t n = 0; !peer.client && n < RECEIVES; n++)
			must(post_receive(), "ibv_post_recv");
		rounds_both(&peer);
		run_thread();
		end();
	}
	printf("used %zu read %llu\ndone 0\n", used, (unsigned long long)reads);
	return 0;
}
