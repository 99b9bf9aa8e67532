// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two programs with registered memory that is a file in memory: what one writes to the other, reads from
 * it or sends is exact, also where the file is cut, punched, registered anew, and its bytes change
 * after a request that failed. MODE GID_INDEX GID PORT [SERVER].
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/guest/rounds.h"

#define BYTES  (1u << 20)
#define ENOUGH 60 /* messages, until memory is looked at */
#define TRIES  20000
#define SHORT \
	(BYTES - (128 << 10)) /* all that is behind there is sent at once */
#define ACCESS                                             \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_WRITE)

struct named {
	uint64_t addr;
	uint32_t rkey;
};

static struct rounds r;
static struct rounds_peer peer;
static struct ibv_mr *mr;
static uint32_t *at;
static int fd;
static const char *other; /* how the peer's file is called */
static struct named there;

static void make_file(void)
{
	fd = memfd_create(peer.client ? "shown-client" : "shown-server", 0);
	must(fd >= 0 && !ftruncate(fd, BYTES), "memfd_create");
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(at != MAP_FAILED, "mmap");
}

static void end_file(void)
{
	must(!munmap(at, BYTES) && !close(fd), "munmap");
}

static void name(void)
{
	struct named mine = {(uintptr_t)at, mr->rkey};

	rounds_swap(&peer, &mine, &there, sizeof(mine));
}

static void fill(uint32_t seed)
{
	for (uint32_t i = 0; i < BYTES / 4; i++)
		at[i] = seed * 0x9e3779b1u + i * 0x85ebca6bu;
}

static bool is_filled(uint32_t seed, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (at[i] != seed * 0x9e3779b1u + i * 0x85ebca6bu)
			return false;
	return true;
}

/* Returns whether the peer's file is mapped here. */
static bool sees(void)
{
	char line[512];
	bool any = false;
	FILE *f = fopen("/proc/self/maps", "r");

	must(f, "maps");
	while (fgets(line, sizeof(line), f))
		any |= strstr(line, other) && strstr(line, "r--s");
	fclose(f);
	return any;
}

static int post(enum ibv_wr_opcode op, uint32_t skip)
{
	struct ibv_sge sge = {(uintptr_t)at + skip, BYTES - skip, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = op,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {there.addr + skip, there.rkey}},
			   *bad;

	return ibv_post_send(r.qp, &wr, &bad);
}

static int poll_one(void)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(r.cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return (int)wc.status;
}

static int run_one(enum ibv_wr_opcode op, uint32_t skip)
{
	must(!post(op, skip), "ibv_post_send");
	return poll_one();
}

/* The client's file has seed, the server's seed + 1; the client runs op. */
static void exchange(enum ibv_wr_opcode op, uint32_t seed, uint32_t skip)
{
	bool target = peer.client == (op == IBV_WR_RDMA_READ);

	fill(seed + !peer.client);
	rounds_both(&peer);
	if (peer.client)
		must(!run_one(op, skip), "the status");
	rounds_both(&peer);
	if (target)
		must(is_filled(seed + !peer.client, 0, skip / 4) &&
			     is_filled(seed + peer.client, skip / 4, BYTES / 4),
		     "the bytes");
	rounds_both(&peer);
}

static void exchange_all(uint32_t seed)
{
	exchange(IBV_WR_RDMA_WRITE, seed, 0);
	exchange(IBV_WR_RDMA_READ, seed + 2, 0);
	exchange(IBV_WR_RDMA_WRITE, seed + 4, 12340);
	exchange(IBV_WR_RDMA_READ, seed + 6, 12340);
}

/* Messages until both have the other's file mapped, or many. */
static bool warm(void)
{
	uint8_t mine = 0, theirs = 0;

	for (int i = 0; i < TRIES && !(mine && theirs); i += ENOUGH) {
		for (int k = 0; peer.client && k < ENOUGH; k++)
			must(!run_one(IBV_WR_RDMA_WRITE, 0) &&
				     !run_one(IBV_WR_RDMA_READ, 0),
			     "the status");
		mine = sees();
		rounds_swap(&peer, &mine, &theirs, 1);
		if (i > 20 * ENOUGH && !getenv("SHOWN_WAIT"))
			break;
	}
	return mine && theirs;
}

static void wait_unseen(void)
{
	while (sees())
		usleep(1000);
	rounds_both(&peer);
}

static void punch(uint32_t seed)
{
	bool client = peer.client;

	fill(seed);
	if (client)
		must(!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				BYTES / 4, BYTES / 2),
		     "fallocate");
	rounds_both(&peer);
	if (client)
		must(!run_one(IBV_WR_RDMA_WRITE, 0), "the status");
	rounds_both(&peer);
	must(is_filled(seed, 0, BYTES / 16) &&
		     is_filled(seed, BYTES / 4 * 3 / 4, BYTES / 4),
	     "the bytes");
	for (uint32_t i = BYTES / 16; i < BYTES / 4 * 3 / 4; i++)
		must(!at[i], "the hole");
	rounds_both(&peer);
}

/* Registers what is at that address now, and uses it until it is seen and after that. */
static void use_anew(uint32_t seed)
{
	mr = ibv_reg_mr(r.pd, at, BYTES, ACCESS);
	must(mr, "ibv_reg_mr");
	name();
	exchange_all(seed);
	must(warm(), "it is seen");
	exchange_all(seed + 10);
}

/* Registered again, as the same file and as another. */
static void again(uint32_t seed)
{
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	rounds_both(&peer);
	wait_unseen();
	use_anew(seed);
	end_file();
	make_file();
	must(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at, BYTES,
			   0),
	     "ibv_rereg_mr");
	name();
	exchange_all(seed + 20);
	must(warm(), "the new one is seen");
	exchange_all(seed + 30);
}

/* A region whose memory has gone is still there, and another one has its address. */
static void stale(uint32_t seed)
{
	struct ibv_mr *old = mr;

	must(!close(fd), "close");
	fd = memfd_create(peer.client ? "shown-client" : "shown-server", 0);
	must(fd >= 0 && !ftruncate(fd, BYTES), "memfd_create");
	must(mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		  0) == at,
	     "mmap");
	use_anew(seed);
	must(!ibv_dereg_mr(old), "ibv_dereg_mr");
	exchange_all(seed + 20);
}

/* Others run beside it, and end. */
static void forks(uint32_t seed)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
	rounds_both(&peer);
	exchange_all(seed);
}

static void test_exact(bool seen)
{
	exchange_all(100);
	must(warm() == seen, "whether it is seen");
	for (uint32_t i = 0; i < 10; i++)
		exchange_all(200 + 10 * i);
	punch(400);
	if (seen)
		again(500);
	if (seen)
		stale(550);
	forks(600);
}

static pid_t others(void)
{
	pid_t mine = getpid(), theirs;

	rounds_swap(&peer, &mine, &theirs, sizeof(mine));
	return theirs;
}

static bool is_stopped(pid_t pid)
{
	char name[300], state = 0;
	struct dirent *e;
	bool all = true;
	DIR *tasks;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	tasks = opendir(name);
	must(tasks, name);
	while ((e = readdir(tasks))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "/proc/%d/task/%s/stat", pid,
			 e->d_name);
		f = fopen(name, "r");
		must(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1, name);
		fclose(f);
		all &= state == 'T';
	}
	closedir(tasks);
	return all;
}

/* The server is stopped, and goes on when the client's request has failed and its bytes are others: it
 * has none of those. */
static void test_stopped(void)
{
	struct ibv_recv_wr wr = {0}, *bad;
	struct ibv_wc wc;
	pid_t server;

	must(warm(), "it is seen");
	fill(700);
	must(!ibv_post_recv(r.qp, &wr, &bad), "ibv_post_recv");
	server = others();
	if (!peer.client) {
		rounds_both(&peer);
		for (int i = 0; i < 1000; i++)
			must(!ibv_poll_cq(r.cq, 1, &wc) ||
				     is_filled(701, SHORT / 4, BYTES / 4),
			     "bytes of a request that failed");
		return;
	}
	must(!kill(server, SIGSTOP), "SIGSTOP");
	while (!is_stopped(server))
		usleep(1000);
	fill(701);
	must(!post(IBV_WR_RDMA_WRITE_WITH_IMM, SHORT), "ibv_post_send");
	must(poll_one() == IBV_WC_RETRY_EXC_ERR, "the status");
	fill(702);
	must(!kill(server, SIGCONT), "SIGCONT");
	rounds_both(&peer);
}

/* The server is no more, amid messages. */
static void test_killed(void)
{
	int status = 0;
	pid_t server;

	must(warm(), "it is seen");
	server = others();
	while (!peer.client)
		pause();
	for (int i = 0; i < 4; i++)
		must(!post(i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0),
		     "ibv_post_send");
	must(!kill(server, SIGKILL), "SIGKILL");
	for (int i = 0; i < 4; i++)
		status = poll_one();
	while (!status)
		status = run_one(IBV_WR_RDMA_WRITE, 0);
	must(status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR,
	     "the status");
	/* Its memory is free, though we live. */
	while (sees())
		usleep(1000);
}

int main(int argc, char **argv)
{
	struct ibv_context *context;
	struct ibv_qp_attr attr = {.qp_access_flags = ACCESS};
	bool stopped = !strcmp(argv[1], "stopped"),
	     killed = !strcmp(argv[1], "killed");

	rounds_begin(&peer, argc, argv);
	other = peer.client ? "shown-server" : "shown-client";
	context = rounds_open();
	rounds_connect(&r, context, &peer, false);
	must(!ibv_modify_qp(r.qp, &attr, IBV_QP_ACCESS_FLAGS), "rights");
	make_file();
	mr = ibv_reg_mr(r.pd, at, BYTES, ACCESS);
	must(mr, "ibv_reg_mr");
	name();
	if (stopped)
		test_stopped();
	else if (killed)
		test_killed();
	else
		test_exact(!strcmp(argv[1], "seen"));
	must(!ibv_destroy_qp(r.qp), "ibv_destroy_qp");
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	if (!killed)
		wait_unseen();
	printf("done 0\n");
	return 0;
}
