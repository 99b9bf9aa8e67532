// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory moved under the shared file and back, under threads that write to
 * it all the time: no write may be lost, and what the application does with
 * its memory before, during and after must not notice.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "providers/uroce/maps.h"
#include "providers/uroce/migrate.h"
#include "providers/uroce/page_share.h"
#include "tests/check.h"

#define PAGE 4096ull

static u8 *new_pages(size_t n)
{
	u8 *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
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

static struct ur_page_share *share(void *p, size_t len, bool want)
{
	struct uroce_reg_mr_req req = {.shm_fd = -1};
	struct ur_page_share *r = ur_share_pages(p, len, &req);

	CHECK_EQ(!!(req.flags & UROCE_MR_F_SHARED), want);
	CHECK_EQ(is_shared(p) && req.shm_fd >= 0, want);
	return r;
}

/* The file and the memory have the same contents, both ways. */
static void test_contents(void)
{
	struct uroce_reg_mr_req req = {.shm_fd = -1};
	u8 *p = new_pages(256), *view;
	struct ur_page_share *r;

	for (u64 i = 0; i < 200 * PAGE; i++)
		p[i] = (u8)(i * 31 >> 3);
	r = ur_share_pages(p + 100, 255 * PAGE, &req);
	CHECK(r && req.flags == UROCE_MR_F_SHARED);
	view = mmap(NULL, 256 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		    req.shm_fd, (off_t)req.shm_off);
	CHECK(view != MAP_FAILED);
	CHECK(!memcmp(p, view, 256 * PAGE));
	view[7 * PAGE] = 99;
	view[255 * PAGE] = 98;
	CHECK_EQ(p[7 * PAGE], 99);
	p[8 * PAGE] = 97;
	CHECK_EQ(view[8 * PAGE], 97);
	CHECK_EQ(ftruncate(req.shm_fd, 0), -1);
	ur_page_share_put(r);
	CHECK(!is_shared(p) && !is_shared(p + 255 * PAGE));
	CHECK_EQ(p[7 * PAGE], 99);
	CHECK_EQ(p[255 * PAGE], 98);
	CHECK_EQ(p[8 * PAGE], 97);
	for (u64 i = 9 * PAGE; i < 200 * PAGE; i++)
		CHECK(p[i] == (u8)(i * 31 >> 3));
	/* The file's pages are freed. */
	CHECK(lseek(req.shm_fd, (off_t)req.shm_off, SEEK_DATA) < 0);
	munmap(view, 256 * PAGE);
	munmap(p, 256 * PAGE);
}

/* More than one step, touched here and there; the rest stays untouched. */
static void test_large(void)
{
	const size_t n = (80 << 20) / PAGE;
	u8 *p = new_pages(n);
	struct ur_page_share *r;
	unsigned char seen[16];

	for (size_t i = 0; i < n; i += 1000)
		p[i * PAGE] = (u8)(i / 1000 + 1);
	r = share(p, n * PAGE, true);
	CHECK(is_shared(p + n * PAGE - 1));
	for (size_t i = 0; i < n; i += 1000)
		CHECK_EQ(p[i * PAGE], (u8)(i / 1000 + 1));
	ur_page_share_put(r);
	CHECK(!is_shared(p) && !is_shared(p + n * PAGE - 1));
	for (size_t i = 0; i < n; i += 1000)
		CHECK_EQ(p[i * PAGE], (u8)(i / 1000 + 1));
	CHECK(!mincore(p + 500 * PAGE, 16 * PAGE, seen));
	CHECK(!(seen[0] & 1) && !(seen[15] & 1));
	munmap(p, n * PAGE);
}

/* ---- writers ---- */

enum { THREADS = 4, ROUNDS = 150, HAMMER_PAGES = 64 };

static u64 *words;
static u64 done[THREADS];
static int stop;

static void *hammer(void *arg)
{
	u64 me = (uintptr_t)arg, n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		u64 at = (n * 521 + me * 64) % (HAMMER_PAGES * PAGE / 8);

		/* All threads at the same words, and a private one. */
		__atomic_fetch_add(&words[at], 1, __ATOMIC_RELAXED);
		n++;
	}
	done[me] = n;
	return NULL;
}

static void test_no_write_lost(void)
{
	pthread_t t[THREADS];
	u64 sum = 0, want = 0;

	words = (u64 *)(void *)new_pages(HAMMER_PAGES);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&t[i], NULL, hammer, (void *)i));
	for (int i = 0; i < ROUNDS; i++) {
		u8 *at = (u8 *)words + (i % 7) * PAGE;
		size_t len = (HAMMER_PAGES - 7) * PAGE;

		ur_page_share_put(share(at, len, true));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		want += done[i];
	}
	for (u64 i = 0; i < HAMMER_PAGES * PAGE / 8; i++)
		sum += words[i];
	CHECK_EQ(sum, want);
	printf("%d moves there and back under %llu writes\n", ROUNDS,
	       (unsigned long long)want);
	munmap(words, HAMMER_PAGES * PAGE);
}

/* The heap, with an allocator at work in it. */
static void *churn(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	u8 *p[64] = {0};

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		unsigned int i = (seed = seed * 1103515245 + 12345) >> 16 & 63;

		if (p[i]) {
			CHECK_EQ(p[i][0], i);
			free(p[i]);
			p[i] = NULL;
		} else {
			p[i] = malloc(16 + (seed >> 8) % 3000);
			CHECK(p[i]);
			p[i][0] = (u8)i;
		}
	}
	for (int i = 0; i < 64; i++)
		free(p[i]);
	return NULL;
}

static void test_heap(void)
{
	struct ur_page_share *r[8];
	pthread_t t[2];
	u8 *buf[8];

	stop = 0;
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(!pthread_create(&t[i], NULL, churn, (void *)(i + 1)));
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 8; i++) {
			buf[i] = malloc(5000);
			CHECK(buf[i]);
			memset(buf[i], i, 5000);
			r[i] = share(buf[i], 5000, true);
		}
		for (int i = 0; i < 8; i++) {
			ur_page_share_put(r[i]);
			for (int k = 0; k < 5000; k++)
				CHECK(buf[i][k] == i);
			free(buf[i]);
		}
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void test_overlap(void)
{
	u8 *p = new_pages(8);
	struct ur_page_share *a = share(p, 4 * PAGE, true);
	struct ur_page_share *b = share(p + 2 * PAGE, 4 * PAGE, true);
	struct ur_page_share *c = share(p + 3 * PAGE, PAGE, true);

	memset(p, 5, 8 * PAGE);
	ur_page_share_put(a);
	CHECK(!is_shared(p) && !is_shared(p + PAGE));
	CHECK(is_shared(p + 2 * PAGE) && is_shared(p + 5 * PAGE));
	ur_page_share_put(b);
	CHECK(!is_shared(p + 2 * PAGE) && is_shared(p + 3 * PAGE));
	CHECK(!is_shared(p + 4 * PAGE));
	ur_page_share_put(c);
	CHECK(!is_shared(p + 3 * PAGE));
	for (u64 i = 0; i < 8 * PAGE; i++)
		CHECK(p[i] == 5);
	munmap(p, 8 * PAGE);
}

/* Memory that went away under its registration, and new memory there. */
static void test_unmapped(void)
{
	u8 *p = new_pages(8), *q;
	struct ur_page_share *a = share(p, 8 * PAGE, true), *b;

	memset(p, 1, 8 * PAGE);
	munmap(p, 8 * PAGE);
	q = mmap(p, 8 * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(q == p);
	memset(q, 2, 4 * PAGE);
	b = share(q, 8 * PAGE, true);
	CHECK_EQ(q[0], 2);
	CHECK_EQ(q[7 * PAGE], 0); /* nothing of the old */
	ur_page_share_put(a);
	CHECK(is_shared(q));
	ur_page_share_put(b);
	CHECK(!is_shared(q));
	CHECK_EQ(q[0], 2);
	/* Moved elsewhere while registered: its pages are not given twice. */
	a = share(q, 8 * PAGE, true);
	p = mremap(q, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   new_pages(8));
	CHECK(p != MAP_FAILED);
	CHECK(mmap(q, 8 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == q);
	b = share(q, 8 * PAGE, false);
	memset(q, 3, 8 * PAGE);
	CHECK_EQ(p[0], 2);
	ur_page_share_put(b);
	ur_page_share_put(a);
	CHECK_EQ(p[0], 2);
	munmap(p, 8 * PAGE);
	munmap(q, 8 * PAGE);
}

static void test_realloc(void)
{
	u8 *p = malloc(300000);

	CHECK(p);
	memset(p, 6, 300000);
	ur_page_share_put(share(p, 300000, true));
	p = realloc(p, 3000000);
	CHECK(p);
	memset(p + 300000, 6, 2700000);
	for (int i = 0; i < 3000000; i++)
		CHECK(p[i] == 6);
	free(p);
}

static void test_fork(void)
{
	u8 *p = new_pages(64);
	struct ur_page_share *a = share(p, 64 * PAGE, true);
	int to_child[2], st;
	pid_t pid;
	char c = 0;

	memset(p, 1, 64 * PAGE);
	CHECK(!pipe(to_child));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(to_child[1]);
		/* After the parent wrote on. */
		CHECK_EQ(read(to_child[0], &c, 1), 1);
		CHECK(!is_shared(p));
		for (u64 i = 0; i < 64 * PAGE; i++)
			CHECK(p[i] == 1);
		memset(p, 3, 64 * PAGE);
		/* The child can register for itself. */
		ur_page_share_put(a);
		ur_page_share_put(share(p, 64 * PAGE, true));
		CHECK_EQ(p[5], 3);
		_exit(0);
	}
	memset(p, 2, 64 * PAGE);
	CHECK_EQ(write(to_child[1], &c, 1), 1);
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(WIFEXITED(st) && !WEXITSTATUS(st));
	for (u64 i = 0; i < 64 * PAGE; i++)
		CHECK(p[i] == 2);
	CHECK(is_shared(p));
	ur_page_share_put(a);
	munmap(p, 64 * PAGE);
}

/* Memory that is left as it is. */
static void test_refused(void)
{
	struct uroce_reg_mr_req req = {.shm_fd = -1};
	u8 on_stack[8 * PAGE], *p = new_pages(4), *q;
	struct ur_page_share *r;

	on_stack[0] = 1;
	r = ur_share_pages(on_stack, sizeof(on_stack), &req);
	CHECK(!req.flags);
	ur_page_share_put(r);

	mprotect(p, 4 * PAGE, PROT_READ);
	ur_page_share_put(share(p, 4 * PAGE, false));
	mprotect(p, 4 * PAGE, PROT_READ | PROT_WRITE);
	munmap(p + PAGE, PAGE);
	ur_page_share_put(share(p, 4 * PAGE, false)); /* a gap */
	munmap(p, 4 * PAGE);

	q = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(q != MAP_FAILED);
	r = ur_share_pages(q, 4 * PAGE, &req);
	CHECK(!req.flags);
	ur_page_share_put(r);
	munmap(q, 4 * PAGE);

	p = new_pages(4);
	/* A small registration stays, and holds its page for itself. */
	r = share(p + 100, 100, false);
	ur_page_share_put(share(p, 2 * PAGE, false));
	ur_page_share_put(share(p + PAGE, 2 * PAGE, true));
	ur_page_share_put(r);
	ur_page_share_put(share(p, 2 * PAGE, true));
	munmap(p, 4 * PAGE);
	CHECK(!ur_share_pages(NULL, SIZE_MAX, &req));
	CHECK(!ur_share_pages(p, 0, &req));
}

/* ---- unasked ---- */

/* Nothing moves then. By a process each, which looks once. */
static void test_default(void)
{
	struct uroce_reg_mr_req req = {.shm_fd = -1};
	const char *values[] = {NULL, "", "0", "yes"};
	u8 *p = new_pages(16);

	for (u64 i = 0; i < UR_ARRAY_SIZE(values); i++) {
		pid_t child = fork();
		int status;

		CHECK(child >= 0);
		if (!child) {
			unsetenv("UROCE_MR_SHARED");
			if (values[i])
				setenv("UROCE_MR_SHARED", values[i], 1);
			memset(p, 7, 16 * PAGE);
			CHECK(!ur_share_pages(p, 16 * PAGE, &req));
			CHECK(!req.flags && req.shm_fd == -1 && !is_shared(p));
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && !status);
	}
	munmap(p, 16 * PAGE);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_default());
	setenv("UROCE_MR_SHARED", "1", 1);
#ifdef __SANITIZE_THREAD__
	SKIP("to TSan a mapping put in place is a write that races");
#endif
	if (!ur_migrate_supported())
		SKIP("no userfaultfd with write protection of shared memory");
	CASE(test_contents());
	CASE(test_refused());
	CASE(test_large());
	CASE(test_overlap());
	CASE(test_unmapped());
	CASE(test_realloc());
	CASE(test_fork());
	CASE(test_no_write_lost());
	CASE(test_heap());
	return cases_status();
}
