// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Mappings and pages of registered memory, of every kind that a program may
 * have, are the same before a registration, meanwhile, with the device writing
 * to it and reading it, and after.
 */
#include <alloca.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "undisturbed.h"

#define BYTES 65536u
#define PAGE  4096u /* the smallest: more entries than pages do no harm */

static struct bench t;

struct view {
	char maps[8192];		  /* the lines that have the range */
	uint64_t entry[BYTES / PAGE + 1]; /* of /proc/self/pagemap */
	size_t entries;
};

static void see_maps(struct view *v, uintptr_t from, uintptr_t to)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[4096];
	size_t n = 0;

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		CHECK_EQ(sscanf(line, "%lx-%lx", &start, &end), 2);
		if (end <= from || start >= to)
			continue;
		/* The heap may grow and a stack too: where they end is not
		 * ours. */
		if (start < from)
			start = from;
		if (end > to)
			end = to;
		n += (size_t)snprintf(v->maps + n, sizeof(v->maps) - n,
				      "%lx-%lx%s", start, end,
				      strchr(line, ' '));
		CHECK(n < sizeof(v->maps));
	}
	CHECK(n);
	fclose(f);
}

/* A root sees page frames too, and a page that moved is another. */
static void see_pages(struct view *v, uintptr_t from, uintptr_t to)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	v->entries = (to - 1) / page - from / page + 1;
	CHECK(v->entries <= BYTES / PAGE + 1);
	CHECK_EQ(pread(fd, v->entry, v->entries * 8, (off_t)(from / page * 8)),
		 v->entries * 8);
	close(fd);
}

static struct view see(const uint8_t *p)
{
	struct view v = {0};

	see_maps(&v, (uintptr_t)p, (uintptr_t)p + BYTES);
	see_pages(&v, (uintptr_t)p, (uintptr_t)p + BYTES);
	for (size_t i = 0; i < v.entries; i++)
		CHECK(v.entry[i] >> 63); /* it is there */
	return v;
}

/* The bit of a page that was written to since somebody asked is the kernel's. */
#define SOFT_DIRTY (1ull << 55)

static bool same(const struct view *a, const struct view *b)
{
	if (strcmp(a->maps, b->maps) || a->entries != b->entries)
		return false;
	for (size_t i = 0; i < a->entries; i++)
		if ((a->entry[i] ^ b->entry[i]) & ~SOFT_DIRTY)
			return false;
	return true;
}

static void fill(uint8_t *p, uint8_t salt)
{
	for (size_t i = 0; i < BYTES; i++)
		p[i] = (uint8_t)(i * 131 + (i >> 9) + salt);
}

static void use(uint8_t *p, struct ibv_mr *mr)
{
	fill(p, 1);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_READ, (uintptr_t)p, mr->rkey,
			   BYTES),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK(!memcmp(p, t.a.buf, BYTES));
	fill(t.a.buf, 2);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)p, mr->rkey,
			   BYTES),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK(!memcmp(p, t.a.buf, BYTES));
}

/* The kernel moves a page of its own accord now and then (compaction): a
 * registration that moves does so each time. */
static void stays(const char *kind, uint8_t *p)
{
	struct view before, now[2];
	struct ibv_mr *mr;
	bool fine = false;

	for (int i = 0; i < 5 && !fine; i++) {
		fill(p, 0);
		before = see(p);
		mr = ibv_reg_mr(t.pd, p, BYTES, ALL_ACCESS);
		CHECK(mr);
		use(p, mr);
		now[0] = see(p);
		CHECK(!ibv_dereg_mr(mr));
		now[1] = see(p);
		fine = same(&before, &now[0]) && same(&before, &now[1]);
	}
	if (!fine)
		printf("%s: before\n%smeanwhile\n%safter\n%s", kind,
		       before.maps, now[0].maps, now[1].maps);
	CHECK(fine);
}

static uint8_t *map(int flags, int fd)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static uint8_t *of_memfd(int flags)
{
	int fd = memfd_create("undisturbed", MFD_CLOEXEC);
	uint8_t *p;

	CHECK(fd >= 0 && !ftruncate(fd, BYTES));
	p = map(flags, fd);
	close(fd);
	return p;
}

static uint8_t *of_sysv(void)
{
	int id = shmget(IPC_PRIVATE, BYTES, 0600);
	void *p;

	CHECK(id >= 0);
	p = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	CHECK(p != (void *)-1);
	return p;
}

void case_pages(void)
{
	uint8_t *stack = alloca(BYTES), *heap;

	bench_open(&t, 16);
	stays("private", map(MAP_PRIVATE | MAP_ANONYMOUS, -1));
	stays("shared", map(MAP_SHARED | MAP_ANONYMOUS, -1));
	stays("memfd", of_memfd(MAP_SHARED));
	stays("private memfd", of_memfd(MAP_PRIVATE));
	stays("System V", of_sysv());
	heap = malloc(BYTES);
	CHECK(heap);
	stays("heap", heap);
	stays("stack", stack);
}
