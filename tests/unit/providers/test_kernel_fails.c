// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each system call of a registration's moves fails once, in each way a kernel,
 * or a supervisor in front of it, can: an error, an error after what was at
 * the address is gone, a mapping elsewhere, a success that did nothing. The
 * memory's contents survive all of them, also the writes of other threads, and
 * afterwards registering works as ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/uroce/kernel.h"
#include "providers/uroce/maps.h"
#include "providers/uroce/migrate.h"
#include "providers/uroce/page_share.h"
#include "tests/check.h"

#define PAGE  4096ull
#define PAGES 24ull
#define BYTES (PAGES * PAGE)

enum way {
	FAILS,	   /* ENOMEM, nothing done */
	UNMAPS,	   /* ENOMEM, and a fixed address has lost its mapping */
	ELSEWHERE, /* a fixed address is not kept */
	LIES,	   /* 0, nothing done: only where no 0 is believable */
	WAYS,
};

enum then {
	ONCE,
	SAME,  /* the same call fails from then on */
	MOVES, /* all that moves pages and writes to the file */
	ALL,   /* and all that could put them back */
};

static struct {
	enum way way;
	enum then then;
	long n;	    /* which call fails; counts down */
	long nr;    /* what it was; -1: not reached */
	pid_t here; /* thread whose calls count */
} sim = {.nr = -1};

static s64 ask(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret == -1 ? -errno : ret;
}

static bool is_fixed(long nr, u64 d)
{
	return (nr == SYS_mmap && (d & MAP_FIXED)) ||
	       (nr == SYS_mremap && (d & MREMAP_FIXED));
}

static s64 fail(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	u64 to = nr == SYS_mmap ? a : e;

	/* One that fails has closed it all the same. */
	if (nr == SYS_close) {
		ask(nr, a, 0, 0, 0, 0, 0);
		return -EIO;
	}
	switch (sim.way) {
	case UNMAPS:
		if (is_fixed(nr, d))
			munmap((void *)(uintptr_t)to, b);
		return -ENOMEM;
	case ELSEWHERE:
		if (is_fixed(nr, d) && nr == SYS_mmap)
			return ask(nr, 0, b, c, d & ~(u64)MAP_FIXED, e, f);
		if (is_fixed(nr, d))
			return ask(nr, a, b, c,
				   (d & ~(u64)MREMAP_FIXED) | MREMAP_MAYMOVE |
					   4 /* MREMAP_DONTUNMAP */,
				   0, 0);
		return -ENOMEM;
	case LIES:
		if (nr == SYS_mmap || nr == SYS_mremap || nr == SYS_pread64 ||
		    nr == SYS_pwrite64)
			return 0;
		return -ENOMEM;
	default:
		return -ENOMEM;
	}
}

static bool fails_then(long nr)
{
	switch (sim.then) {
	case SAME:
		return nr == sim.nr;
	case MOVES:
		return nr == SYS_mremap || nr == SYS_pwrite64;
	case ALL:
		return nr == SYS_mremap || nr == SYS_pwrite64 ||
		       nr == SYS_mmap || nr == SYS_ioctl;
	default:
		return false;
	}
}

/* In the place of the provider's own. */
s64 ur_kernel(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	bool fails = false;

	if (gettid() == sim.here && nr != SYS_write && nr != SYS_sched_yield) {
		if (sim.nr < 0) {
			fails = !--sim.n;
			if (fails)
				sim.nr = nr;
		} else {
			fails = fails_then(nr);
		}
	}
	return fails ? fail(nr, a, b, c, d, e, f) : ask(nr, a, b, c, d, e, f);
}

static void arm(enum way way, long n, enum then then)
{
	sim.way = way;
	sim.n = n;
	sim.then = then;
	sim.nr = -1;
	sim.here = gettid();
}

static void disarm(void)
{
	sim.here = 0;
}

struct find {
	u64 at;
	struct ur_vma vma;
};

static int find_vma(const struct ur_vma *v, void *arg)
{
	struct find *f = arg;

	if (f->at < v->start || f->at >= v->end)
		return 0;
	f->vma = *v;
	return 1;
}

static bool is_shared(const void *p)
{
	struct find f = {.at = (uintptr_t)p};

	CHECK_EQ(ur_maps_walk(find_vma, &f), 1);
	return f.vma.perms[3] == 's';
}

static u8 *new_pages(void)
{
	u8 *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Every third page was never touched. */
static void fill(u8 *p, u8 salt)
{
	for (u64 i = 0; i < BYTES; i++)
		if (i / PAGE % 3)
			p[i] = (u8)(i * 7 >> 4) ^ salt;
}

static void check(const u8 *p, u8 salt)
{
	for (u64 i = 0; i < BYTES; i++)
		CHECK_EQ(p[i],
			 i / PAGE % 3 ? (u8)((u8)(i * 7 >> 4) ^ salt) : 0);
}

/* Registered is what the application has, also where the device looks. */
static void check_view(const struct uroce_reg_mr_req *req, const u8 *p)
{
	u8 *view;

	if (!(req->flags & UROCE_MR_F_SHARED))
		return;
	view = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, req->shm_fd,
		    (off_t)req->shm_off);
	CHECK(view != MAP_FAILED);
	CHECK(!memcmp(view, p, BYTES));
	munmap(view, BYTES);
}

/* Registers and gives back; whether the n-th call was reached. */
static bool once(enum way way, long n, enum then then)
{
	struct uroce_reg_mr_req req = {.shm_fd = -1};
	struct ur_page_share *r;
	u8 *p = new_pages();

	fill(p, 0);
	arm(way, n, then);
	r = ur_share_pages(p, BYTES, &req);
	check(p, 0);
	check_view(&req, p);
	fill(p, (u8)n);
	check_view(&req, p);
	ur_page_share_put(r);
	disarm();
	check(p, (u8)n);
	/* And again, with nothing in the way: it is shared, and it goes. */
	memset(&req, 0, sizeof(req));
	r = ur_share_pages(p, BYTES, &req);
	CHECK_EQ(req.flags, UROCE_MR_F_SHARED);
	check_view(&req, p);
	check(p, (u8)n);
	ur_page_share_put(r);
	check(p, (u8)n);
	CHECK(!is_shared(p) && !is_shared(p + BYTES - 1));
	munmap(p, BYTES);
	return sim.nr >= 0;
}

static void test_each(void)
{
	for (enum way way = 0; way < WAYS; way++) {
		for (enum then then = ONCE; then <= MOVES; then++) {
			long n = 1;

			while (once(way, n, then))
				n++;
			printf("way %d, then %d: %ld calls\n", way, then,
			       n - 1);
			CHECK(n > 20);
		}
	}
}

/* ---- writers ---- */

static u64 *words;
static u64 total;
static int stop;

static void *hammer(void *arg)
{
	u64 n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		__atomic_fetch_add(&words[n++ * 521 % (BYTES / 8)], 1,
				   __ATOMIC_RELAXED);
	total = n;
	return NULL;
}

static void test_no_write_lost(void)
{
	u64 sum = 0;
	pthread_t t;
	long n = 1;

	words = (u64 *)(void *)new_pages();
	CHECK(!pthread_create(&t, NULL, hammer, NULL));
	do {
		struct uroce_reg_mr_req req = {.shm_fd = -1};

		arm(FAILS, n++, ONCE);
		ur_page_share_put(ur_share_pages(words, BYTES, &req));
		disarm();
	} while (sim.nr >= 0);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	for (u64 i = 0; i < BYTES / 8; i++)
		sum += words[i];
	CHECK_EQ(sum, total);
	CHECK(n > 20);
	munmap(words, BYTES);
}

/* ---- another userfaultfd, as libfabric's monitor has ---- */

static void test_watched(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uroce_reg_mr_req req = {.shm_fd = -1};
	u8 *p = new_pages(), *q = new_pages();
	struct uffdio_register watch = {
		.range = {.start = (uintptr_t)p, .len = BYTES},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);
	struct ur_page_share *r;

	CHECK(fd >= 0 && !ioctl(fd, UFFDIO_API, &api));
	memset(p, 1, BYTES);
	fill(p, 9);
	memset(q, 1, BYTES);
	/* Before: it stays where it is. */
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &watch));
	r = ur_share_pages(p, BYTES, &req);
	CHECK(r && !req.flags && !is_shared(p));
	ur_page_share_put(r);
	CHECK(!ioctl(fd, UFFDIO_UNREGISTER, &watch.range));
	/* Between: it stays in the file until the other lets go. */
	r = ur_share_pages(p, BYTES, &req);
	CHECK(is_shared(p));
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &watch));
	p[PAGE] = 77;
	ur_page_share_put(r);
	CHECK(is_shared(p));
	CHECK_EQ(p[PAGE], 77);
	r = ur_share_pages(p, BYTES, &req); /* and can be had again */
	CHECK_EQ(req.flags, UROCE_MR_F_SHARED);
	ur_page_share_put(r);
	close(fd);
	ur_page_share_put(ur_share_pages(q, BYTES, &req));
	CHECK(!is_shared(p) && !is_shared(q));
	CHECK_EQ(p[PAGE], 77);
	CHECK_EQ(p[3 * PAGE], 1);
	munmap(p, BYTES);
	munmap(q, BYTES);
}

/* ---- the end of the ways back ---- */

/* If neither the pages nor copies of them can be put back, the program does not
 * go on without its memory. Returns whether the n-th call was reached. */
static bool dies(long n, bool *died)
{
	char text[200] = "";
	u8 *p = new_pages();
	int st, told[2];
	pid_t pid;

	fill(p, 0);
	CHECK(!pipe(told));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		struct uroce_reg_mr_req req = {.shm_fd = -1};

		dup2(told[1], 2);
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		arm(FAILS, n, ALL);
		ur_page_share_put(ur_share_pages(p, BYTES, &req));
		disarm();
		check(p, 0);
		_exit(sim.nr < 0);
	}
	close(told[1]);
	CHECK(read(told[0], text, sizeof(text) - 1) >= 0);
	close(told[0]);
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	munmap(p, BYTES);
	if (WIFEXITED(st))
		return !WEXITSTATUS(st);
	CHECK(WIFSIGNALED(st) && WTERMSIG(st) == SIGABRT);
	CHECK(strstr(text, "cannot be put back"));
	*died = true;
	return true;
}

static void test_death(void)
{
	bool died = false;
	long n = 1;

	while (dies(n, &died))
		n++;
	CHECK(died && n > 20);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	/* Each time, however short the last ones were. */
	setenv("UROCE_MR_SHARED", "1", 1);
#ifdef __SANITIZE_THREAD__
	SKIP("to TSan a mapping put in place is a write that races");
#endif
	if (!ur_migrate_supported())
		SKIP("no userfaultfd with write protection of shared memory");
	CASE(test_each());
	CASE(test_no_write_lost());
	CASE(test_watched());
	CASE(test_death());
	return cases_status();
}
