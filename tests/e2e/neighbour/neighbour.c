// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The time that one program waits while another has large commands done.
 *
 *	neighbour watch SECONDS PID
 *
 * WRITEs one at a time between two queue pairs of this program. From each that takes
 * long, the time is taken off that this thread and its engine, in the engine process
 * PID, waited for a processor: what is left is of the engine's making, on a busy
 * machine too. Prints JSON: how many, the longest,
 * and the most that is left of one.
 *
 *	neighbour latency SECONDS
 *
 * Such WRITEs again. Prints JSON: how many, and the time that half of them and 99.9 %
 * of them took at most.
 *
 *	neighbour spin SECONDS
 *
 * Has a processor busy, to compare with. Prints a line when it begins.
 *
 *	neighbour ask SECONDS PID
 *
 * The same for commands, one at a time, of which the device, PID, carries out each
 * in the thread of this program's connection.
 *
 *	neighbour cq|qps|reg ROUNDS
 *
 * Makes and destroys a completion queue of 2^20 entries, 10,000 queue pairs, or a
 * memory region of 4 GiB, so often. Prints a line when it begins, and JSON: the
 * shortest round.
 *
 *	neighbour unmap|uncq ROUNDS
 *
 * The same for a memory region of 512 MiB that the device has written to all over,
 * or such a completion queue; of a round only the end counts.
 *
 *	neighbour small|beside ROUNDS
 *
 * Registers and deregisters 4 KiB, alone or beside 10,000 queue pairs of its own.
 *
 *	neighbour keep qps
 *
 * Makes 10,000 queue pairs, prints a line and waits.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/e2e/verbs/bench.h"

#define LONG_NS	   1000000 /* worth to be looked into */
#define QPS	   10000
#define CQ_LARGE   (1 << 20)
#define REG_BYTES  (4ull << 30)
#define USED_BYTES (512ull << 20)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds that a thread could have run and did not. */
static uint64_t waited_ns(int schedstat)
{
	unsigned long long waited;
	char text[96];
	ssize_t n = pread(schedstat, text, sizeof(text) - 1, 0);

	CHECK(n > 0);
	text[n] = 0;
	CHECK_EQ(sscanf(text, "%*u %llu", &waited), 1);
	return waited;
}

static void write_once(struct bench *t, uint64_t addr, uint32_t rkey,
		       uint32_t len)
{
	struct ibv_wc wc;
	int n;

	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, addr, rkey, len), 0);
	do {
		n = ibv_poll_cq(t->a.cq, 1, &wc);
	} while (!n);
	CHECK_EQ(n, 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void write_64(struct bench *t)
{
	write_once(t, (uintptr_t)t->b.mr->addr, t->b.mr->rkey, 64);
}

static void ask(struct bench *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->ctx);

	CHECK(pd);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

static void watch(struct bench *t, void (*once)(struct bench *t),
		  double seconds, const char *schedstat)
{
	int me = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	int other = open(schedstat, O_RDONLY | O_CLOEXEC);
	uint64_t end, count = 0, longest = 0, left = 0;
	uint64_t known = 0, looked = 0;

	CHECK(me >= 0 && other >= 0);
	end = now_ns() + (uint64_t)(seconds * 1e9);
	for (uint64_t start; (start = now_ns()) < end; count++) {
		uint64_t took, waited;

		/* Not around each: it takes longer than a WRITE. */
		if (start - looked > LONG_NS) {
			known = waited_ns(me) + waited_ns(other);
			looked = start = now_ns();
		}
		once(t);
		took = now_ns() - start;
		longest = took > longest ? took : longest;
		if (took < LONG_NS)
			continue;
		waited = waited_ns(me) + waited_ns(other) - known;
		if (took > waited && took - waited > left)
			left = took - waited;
		looked = 0;
	}
	printf("{\"count\": %llu, \"longest_ns\": %llu, \"left_ns\": %llu}\n",
	       (unsigned long long)count, (unsigned long long)longest,
	       (unsigned long long)left);
}

#define TIMES 8000000u

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void latency(double seconds)
{
	uint32_t *took = malloc(TIMES * sizeof(*took)), n = 0;
	struct bench t;
	uint64_t end;

	CHECK(took);
	bench_open(&t, 16);
	end = now_ns() + (uint64_t)(seconds * 1e9);
	for (uint64_t start; n < TIMES && (start = now_ns()) < end; n++) {
		write_64(&t);
		took[n] = (uint32_t)(now_ns() - start);
	}
	bench_close(&t);
	CHECK(n > 1000);
	qsort(took, n, sizeof(*took), compare);
	printf("{\"count\": %u, \"p50_ns\": %u, \"p999_ns\": %u}\n", n,
	       took[n / 2], took[(uint64_t)n * 999 / 1000]);
	free(took);
}

static void spin(double seconds)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);

	puts("began");
	fflush(stdout);
	while (now_ns() < end)
		;
}

/* Reads the first line of a thread's file. */
static bool read_line(const char *pid, int tid, const char *name, char *line,
		      int bytes)
{
	char path[96];
	FILE *f;
	bool any;

	snprintf(path, sizeof(path), "/proc/%s/task/%d/%s", pid, tid, name);
	f = fopen(path, "re");
	any = f && fgets(line, bytes, f);
	if (f)
		fclose(f);
	return any;
}

/* Calls each(arg, number, nanoseconds that it has run) for the threads of a process, all or those of a name, in
 * the order in which they started; their numbers may have begun anew. */
static void each_thread(const char *pid, const char *name,
			void (*each)(void *arg, int tid, uint64_t ran),
			void *arg)
{
	char path[96], line[96];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	d = opendir(path);
	CHECK(d);
	while ((e = readdir(d))) {
		int tid = atoi(e->d_name);

		if (!tid || !read_line(pid, tid, "comm", line, sizeof(line)) ||
		    (name && strcmp(line, name)))
			continue;
		if (read_line(pid, tid, "schedstat", line, sizeof(line)))
			each(arg, tid, strtoull(line, NULL, 10));
	}
	closedir(d);
}

static void note_last(void *arg, int tid, uint64_t ran)
{
	int *last = arg;

	(void)ran;
	*last = tid;
}

#define MOST_THREADS 64
/* The name of the threads that run engines. */
#define TURNS "uroce-turns\n"

struct threads {
	int tid[MOST_THREADS], n, busiest;
	uint64_t ran[MOST_THREADS], most;
};

static void note_ran(void *arg, int tid, uint64_t ran)
{
	struct threads *t = arg;

	if (t->n == MOST_THREADS)
		return;
	t->tid[t->n] = tid;
	t->ran[t->n++] = ran;
}

static void note_busiest(void *arg, int tid, uint64_t ran)
{
	struct threads *t = arg;

	for (int i = 0; i < t->n; i++) {
		if (t->tid[i] != tid || ran - t->ran[i] <= t->most)
			continue;
		t->most = ran - t->ran[i];
		t->busiest = tid;
	}
}

/* The thread that runs the engine: WRITEs keep it busiest. */
static int engine_thread(struct bench *t, const char *pid)
{
	struct threads all = {0};

	each_thread(pid, TURNS, note_ran, &all);
	for (int i = 0; i < 1000; i++)
		write_64(t);
	each_thread(pid, TURNS, note_busiest, &all);
	CHECK(all.busiest);
	return all.busiest;
}

static void watch_thread(double seconds, const char *pid, bool engine,
			 void (*once)(struct bench *t))
{
	char schedstat[96];
	struct bench t;
	int tid = 0;

	bench_open(&t, 16);
	if (engine)
		tid = engine_thread(&t, pid);
	else /* the last one serves the last client's commands */
		each_thread(pid, NULL, note_last, &tid);
	snprintf(schedstat, sizeof(schedstat), "/proc/%s/task/%d/schedstat",
		 pid, tid);
	watch(&t, once, seconds, schedstat);
	bench_close(&t);
}

/* Each of these makes something and ends it, and returns what that took. */

static uint64_t make_cq(struct bench *t)
{
	uint64_t start = now_ns();
	struct ibv_cq *cq = ibv_create_cq(t->ctx, CQ_LARGE, NULL, NULL, 0);

	CHECK(cq);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	return now_ns() - start;
}

static uint64_t end_cq(struct bench *t)
{
	struct ibv_cq *cq = ibv_create_cq(t->ctx, CQ_LARGE, NULL, NULL, 0);
	uint64_t start = now_ns();

	CHECK(cq);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	return now_ns() - start;
}

static struct ibv_qp *qp[QPS];

static void keep_qps(struct bench *t)
{
	for (int i = 0; i < QPS; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = t->a.cq,
			.recv_cq = t->a.cq,
			.cap = {4, 4, 1, 1, 0},
			.qp_type = IBV_QPT_RC,
		};

		qp[i] = ibv_create_qp(t->pd, &init);
		CHECK(qp[i]);
	}
}

static void end_qps(void)
{
	for (int i = 0; i < QPS; i++)
		CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
}

static uint64_t make_qps(struct bench *t)
{
	uint64_t start = now_ns();

	keep_qps(t);
	end_qps();
	return now_ns() - start;
}

static uint64_t make_small(struct bench *t)
{
	static char buf[4096];
	uint64_t start = now_ns();
	struct ibv_mr *mr = ibv_reg_mr(t->pd, buf, sizeof(buf), ALL_ACCESS);

	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	return now_ns() - start;
}

static uint64_t make_region(struct bench *t)
{
	uint64_t start = now_ns();
	void *p = mmap(NULL, REG_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ibv_mr *mr;

	CHECK(p != MAP_FAILED);
	mr = ibv_reg_mr(t->pd, p, REG_BYTES, ALL_ACCESS);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(munmap(p, REG_BYTES), 0);
	return now_ns() - start;
}

/* Makes one and has the device write to all of it. */
static struct ibv_mr *used_region(struct bench *t)
{
	static int fd = -1;
	struct ibv_mr *mr;

	if (fd < 0) {
		fd = memfd_create("used", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		CHECK(fd >= 0 && !ftruncate(fd, USED_BYTES));
		CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	}
	mr = ibv_reg_dmabuf_mr(t->pd, 0, USED_BYTES, 0, fd, ALL_ACCESS);
	CHECK(mr);
	for (uint64_t at = 0; at < USED_BYTES; at += BUF_BYTES)
		write_once(t, at, mr->rkey, BUF_BYTES);
	return mr;
}

static uint64_t end_region(struct bench *t)
{
	struct ibv_mr *mr = used_region(t);
	uint64_t start = now_ns();

	CHECK_EQ(ibv_dereg_mr(mr), 0);
	return now_ns() - start;
}

/* Waits to be killed, with all that it has. */
static void keep(const char *what)
{
	struct bench t;

	bench_open(&t, 16);
	CHECK(!strcmp(what, "qps"));
	keep_qps(&t);
	puts("began");
	fflush(stdout);
	pause();
}

static const struct kind {
	const char *name;
	uint64_t (*round)(struct bench *t);
	int qps; /* of its own, beside it */
} kinds[] = {
	{"cq", make_cq, 0},	     {"qps", make_qps, 0},
	{"reg", make_region, 0},     {"unmap", end_region, 0},
	{"uncq", end_cq, 0},	     {"small", make_small, 0},
	{"beside", make_small, QPS},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void large(const struct kind *kind, int rounds)
{
	uint64_t least = UINT64_MAX;
	struct bench t;

	bench_open(&t, 16);
	if (kind->qps)
		keep_qps(&t);
	puts("began");
	fflush(stdout);
	for (int i = 0; i < rounds; i++) {
		uint64_t took = kind->round(&t);

		least = took < least ? took : least;
	}
	if (kind->qps)
		end_qps();
	bench_close(&t);
	printf("{\"rounds\": %d, \"least_ns\": %llu}\n", rounds,
	       (unsigned long long)least);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	size_t i = 0;

	if (!strcmp(what, "watch") && argc == 4)
		watch_thread(atof(argv[2]), argv[3], true, write_64);
	else if (!strcmp(what, "ask") && argc == 4)
		watch_thread(atof(argv[2]), argv[3], false, ask);
	else if (!strcmp(what, "latency"))
		latency(atof(argv[2]));
	else if (!strcmp(what, "spin"))
		spin(atof(argv[2]));
	else if (!strcmp(what, "keep"))
		keep(argv[2]);
	else {
		while (i < KINDS && strcmp(what, kinds[i].name))
			i++;
		if (i == KINDS)
			return 2;
		large(&kinds[i], atoi(argv[2]));
	}
	return 0;
}
