// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program that makes whoever touches its memory wait, and one that waits.
 *
 *	stall watch
 *
 * WRITEs one at a time between two queue pairs of this program, until SIGTERM.
 * Prints a line when it begins, and JSON: how many, and the longest.
 *
 *	stall settings
 *
 * The same with a setting of the device, which concerns all its engines, in place of
 * WRITEs.
 *
 *	stall commands
 *
 * The same with commands: a completion queue, a region and a queue pair are made, the
 * latter is modified, and all end.
 *
 *	stall page|region|ring SECONDS
 *
 * Such WRITEs too, while a thread of the lowest priority, whose processor others of
 * this program have for so long, holds what the one who touches its memory needs:
 * it changes the rights of a large mapping, so that the memory of the process waits
 * (page); or punches a hole into the file that is the target (region), or into that
 * of the rings (ring), after which completions are lost. Prints JSON: how long the
 * longest took, or the punch of the rings; and stays until SIGTERM, since its end is
 * work for whoever has its queues.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/e2e/verbs/bench.h"

#define LARGE	  (256ull << 20)
#define RING_HOLE (1ll << 39) /* of the rings' file, behind all rings */

static volatile sig_atomic_t told;
static atomic_bool over;
static uint64_t end_ns = UINT64_MAX, held_ns;
static int busy_cpu, own_cpu;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* How long it took, or has by the end. */
static uint64_t write_8(struct bench *t, uint64_t addr, uint32_t rkey)
{
	uint64_t start = now_ns();
	struct ibv_wc wc;
	int n;

	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, addr, rkey, 8), 0);
	while (!(n = ibv_poll_cq(t->a.cq, 1, &wc)) && now_ns() < end_ns)
		sched_yield();
	CHECK(n >= 0 && (!n || wc.status == IBV_WC_SUCCESS));
	return now_ns() - start;
}

/* ---- who waits ---- */

static void on_term(int sig)
{
	told = 1;
}

static uint64_t write_of_root(struct bench *t, uint64_t count)
{
	return write_8(t, (uintptr_t)t->b.buf, t->b.mr->rkey);
}

static uint64_t setting_of_root(struct bench *t, uint64_t count)
{
	uint64_t start = now_ns();
	int fd = open("/sys/class/infiniband/uroce0/tc/1/ecn", O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, count & 1 ? "1" : "0", 1), 1);
	close(fd);
	return now_ns() - start;
}

static uint64_t commands_of_root(struct bench *t, uint64_t count)
{
	uint64_t start = now_ns();
	struct ibv_cq *cq = ibv_create_cq(t->ctx, 4, NULL, NULL, 0);
	struct ibv_mr *mr = ibv_reg_mr(t->pd, t->a.buf, 4096, ALL_ACCESS);
	struct ibv_qp_cap cap;
	struct ibv_qp *qp;

	CHECK(cq && mr);
	qp = make_qp(t, cq, NULL, IBV_QPT_RC, 4, &cap);
	connect_qp(t, qp, t->a.qp->qp_num);
	CHECK(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr) && !ibv_destroy_cq(cq));
	return now_ns() - start;
}

static void watch(uint64_t (*one)(struct bench *t, uint64_t count))
{
	uint64_t count = 0, longest = 0;
	struct bench t;

	signal(SIGTERM, on_term);
	bench_open(&t, 16);
	puts("began");
	fflush(stdout);
	for (; !told; count++) {
		uint64_t ns = one(&t, count);

		longest = ns > longest ? ns : longest;
	}
	printf("{\"count\": %llu, \"longest_ns\": %llu}\n",
	       (unsigned long long)count, (unsigned long long)longest);
}

/* ---- who makes wait ---- */

static void *map(int flags, int fd)
{
	void *p = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(p != MAP_FAILED);
	madvise(p, LARGE, MADV_NOHUGEPAGE);
	memset(p, 1, LARGE);
	return p;
}

/* Memory that the device reaches by way of the process. */
static struct ibv_mr *page_target(struct bench *t, void **what)
{
	void *buf = aligned_alloc(4096, 4096);

	CHECK(buf);
	*what = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	return ibv_reg_mr(t->pd, buf, 4096, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
}

static void change_rights(void *what)
{
	for (int i = 0; !over; i++)
		mprotect(what, LARGE,
			 i & 1 ? PROT_READ | PROT_WRITE : PROT_READ);
}

static int file = -1;

static struct ibv_mr *region_target(struct bench *t, void **what)
{
	file = memfd_create("target", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(file >= 0 && !ftruncate(file, LARGE));
	CHECK(!fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK));
	munmap(map(MAP_SHARED, file), LARGE);
	return ibv_reg_dmabuf_mr(t->pd, 0, LARGE, 0, file, ALL_ACCESS);
}

static void punch_region(void *what)
{
	fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, LARGE);
}

static struct ibv_mr *ring_target(struct bench *t, void **what)
{
	void *bytes = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	/* As system calls, which the device's library does not see. */
	file = t->ctx->cmd_fd;
	CHECK(syscall(SYS_pwrite64, file, bytes, LARGE, RING_HOLE) > 0);
	munmap(bytes, LARGE);
	return ibv_reg_mr(t->pd, t->b.buf, 4096, ALL_ACCESS);
}

static void punch_rings(void *what)
{
	uint64_t start = now_ns();

	syscall(SYS_fallocate, file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		0l, RING_HOLE * 2);
	held_ns = now_ns() - start;
}

static const struct kind {
	const char *name;
	struct ibv_mr *(*target)(struct bench *t, void **what);
	void (*hold)(void *what);
	bool at_zero; /* the target's address */
} kinds[] = {
	{"page", page_target, change_rights, false},
	{"region", region_target, punch_region, true},
	{"ring", ring_target, punch_rings, false},
};

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static void find_processors(void)
{
	cpu_set_t set;

	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	CHECK(CPU_COUNT(&set) > 1);
	while (!CPU_ISSET(own_cpu, &set))
		own_cpu++;
	busy_cpu = own_cpu + 1;
	while (!CPU_ISSET(busy_cpu, &set))
		busy_cpu++;
}

static void *be_busy(void *arg)
{
	run_on(busy_cpu);
	while (!over && now_ns() < end_ns)
		;
	return NULL;
}

static const struct kind *kind;

static void *hold(void *arg)
{
	struct sched_param low = {0};

	run_on(busy_cpu);
	CHECK(!sched_setscheduler(0, SCHED_IDLE, &low));
	kind->hold(arg);
	return NULL;
}

static void stall(double seconds)
{
	uint64_t longest = 0, addr;
	pthread_t thread;
	struct ibv_mr *mr;
	struct bench t;
	void *what = NULL;

	signal(SIGTERM, on_term);
	find_processors();
	bench_open(&t, 16);
	mr = kind->target(&t, &what);
	CHECK(mr);
	addr = kind->at_zero ? 0 : (uintptr_t)mr->addr;
	end_ns = now_ns() + (uint64_t)(seconds * 1e9);
	CHECK(!pthread_create(&thread, NULL, be_busy, NULL));
	CHECK(!pthread_create(&thread, NULL, hold, what));
	run_on(own_cpu);
	while (now_ns() < end_ns) {
		uint64_t ns = write_8(&t, addr, mr->rkey);

		longest = ns > longest ? ns : longest;
		if (kind->at_zero)
			addr = (addr + (1 << 20)) % LARGE;
		usleep(200);
	}
	over = true;
	if (kind->hold == punch_rings) {
		CHECK(!pthread_join(thread, NULL));
		longest = held_ns;
	}
	printf("{\"longest_ns\": %llu}\n", (unsigned long long)longest);
	fflush(stdout);
	while (!told)
		usleep(1000);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "watch")) {
		watch(write_of_root);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "settings")) {
		watch(setting_of_root);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "commands")) {
		watch(commands_of_root);
		return 0;
	}
	for (kind = kinds; argc == 3 && kind < kinds + 3; kind++)
		if (!strcmp(argv[1], kind->name))
			stall(atof(argv[2]));
	return 2;
}
