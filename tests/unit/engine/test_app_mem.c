// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory of an application: atomics on what is copied, against bits counted one
 * by one; and which ranges of files and of device memory are mapped, and where.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "tests/check.h"
#include "transport/mem.h"
#include "util/rng.h"

/* The system's, and then larger ones that it could have. */
#define PAGE ectx.arena.page

static struct ur_engine engine;
static struct ur_ectx ectx = {.engine = &engine};
static struct ur_user_mem *self;
static struct ur_rng rng = {7};

static struct ur_emr region(u64 addr, u64 length)
{
	return (struct ur_emr){.ectx = &ectx,
			       .attr = {.addr = addr,
					.length = length,
					.mem = self,
					.dmabuf_fd = -1}};
}

static int look(const struct ur_emr *mr)
{
	return ur_user_look(mr->attr.mem, mr->attr.addr, mr->attr.length,
			    PROT_READ, false);
}

/* ---- atomics ---- */

static u64 add_bits(u64 a, u64 b, u64 boundary)
{
	u64 sum = 0, carry = 0;

	for (int i = 0; i < 64; i++) {
		u64 s = (a >> i & 1) + (b >> i & 1) + carry;

		sum |= (s & 1) << i;
		carry = boundary >> i & 1 ? 0 : s >> 1;
	}
	return sum;
}

static u64 swap_bits(u64 v, u64 compare, u64 compare_mask, u64 swap,
		     u64 swap_mask)
{
	u64 out = v;

	for (int i = 0; i < 64; i++) {
		if ((compare_mask >> i & 1) && (v ^ compare) >> i & 1)
			return v;
		if (swap_mask >> i & 1)
			out = (out & ~(1ull << i)) | (swap & 1ull << i);
	}
	return out;
}

/* Edges more often than anything else. */
static u64 draw(void)
{
	switch (ur_rng_below(&rng, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return 1ull << ur_rng_below(&rng, 64);
	case 3:
		return ~(1ull << ur_rng_below(&rng, 64));
	case 4:
		return UINT32_MAX;
	default:
		return ur_rng_u64(&rng);
	}
}

static void test_atomics(void)
{
	u64 word[3], before[3], old, v;
	struct ur_emr mr = region((uintptr_t)word, sizeof(word));
	struct ur_mr_attr a;

	CHECK_EQ(ur_app_mem_attach(&mr), 0);
	ur_app_mem_describe(&mr, &a);
	CHECK(!a.direct && a.mem == &mr);
	for (int i = 0; i < 20000; i++) {
		u64 x = draw(), x_mask = draw(), y = draw(), y_mask = draw();

		for (int w = 0; w < 3; w++)
			before[w] = word[w] = draw();
		/* As often equal as not. */
		if (ur_rng_below(&rng, 2))
			x = (word[1] & x_mask) | (x & ~x_mask);
		old = ~word[1];
		v = swap_bits(word[1], x, x_mask, y, y_mask);
		CHECK_EQ(a.ops->cas(a.mem, 8, x, x_mask, y, y_mask, &old), 0);
		CHECK_EQ(old, before[1]);
		CHECK_EQ(word[1], v);
		before[1] = v;
		v = add_bits(v, x, x_mask);
		CHECK_EQ(a.ops->faa(a.mem, 8, x, x_mask, &old), 0);
		CHECK_EQ(old, before[1]);
		CHECK_EQ(word[1], v);
		CHECK(word[0] == before[0] && word[2] == before[2]);
	}
	CHECK_EQ(a.ops->flush(a.mem, 0, 8, 1), 0);
	ur_app_mem_detach(&mr);
}

static u8 *map_pages(u64 pages)
{
	void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Nothing is at that page any more: it is behind the end of an empty file.
 * Where it is unmapped instead, another thread (a sanitizer's) may map there. */
static void remove_page(u8 *page)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		   fd, 0) == page);
	close(fd);
}

/* Memory that is not there is not reported, and it does no harm. */
static void test_gone(void)
{
	u8 *area = map_pages(3), *p = area + PAGE;
	struct ur_emr mr = region((uintptr_t)p, 2 * PAGE);
	struct ur_mr_attr a;
	u64 old = 1;

	CHECK_EQ(ur_app_mem_attach(&mr), 0);
	ur_app_mem_describe(&mr, &a);
	remove_page(area);
	remove_page(p + PAGE);
	CHECK_EQ(a.ops->faa(a.mem, PAGE, 1, 0, &old), -EFAULT);
	CHECK_EQ(a.ops->cas(a.mem, PAGE, 0, 0, 1, 1, &old), -EFAULT);
	CHECK_EQ(a.ops->read(a.mem, PAGE - 8, &old, 8), 0);
	CHECK_EQ(old, 0);
	CHECK_EQ(a.ops->write(a.mem, PAGE - 4, &old, 8), -EFAULT);
	CHECK_EQ(look(&mr), -EFAULT);
	mr.attr.length = PAGE;
	CHECK_EQ(look(&mr), 0);
	mr.attr.length = PAGE + 1;
	CHECK_EQ(look(&mr), -EFAULT);
	mr.attr.addr = (uintptr_t)p - 1;
	CHECK_EQ(look(&mr), -EFAULT);
	mr.attr.addr = UINT64_MAX - 1;
	CHECK_EQ(look(&mr), -EFAULT);
	ur_app_mem_detach(&mr);
	munmap(area, 3 * PAGE);
}

/* A hole between two pages that are there. */
static void test_hole(void)
{
	u8 *p = map_pages(3);
	struct ur_emr mr = region((uintptr_t)p + 100, 3 * PAGE - 200);

	CHECK_EQ(look(&mr), 0);
	remove_page(p + PAGE);
	CHECK_EQ(look(&mr), -EFAULT);
	munmap(p, 3 * PAGE);
}

/* Some of very many pages are looked at, and always the last. */
static void test_many(void)
{
	const u64 pages = 2 * 4096 + 2;
	u8 *p = map_pages(pages);
	struct ur_emr mr = region((uintptr_t)p, pages * PAGE);

	CHECK_EQ(look(&mr), 0);
	remove_page(p + (pages - 1) * PAGE);
	CHECK_EQ(look(&mr), -EFAULT);
	munmap(p, pages * PAGE);
}

/* ---- files ---- */

static int make_file(u32 pages, int seals)
{
	int fd = memfd_create("app", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, (off_t)(pages * PAGE)));
	for (u32 i = 0; i < pages; i++)
		CHECK_EQ(pwrite(fd, &i, 4, (off_t)(i * PAGE + 16)), 4);
	CHECK(!fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

/* The place in the page is the file's; copying is no way out. */
static int64_t dmabuf(int fd, u64 off, u64 length)
{
	struct ur_emr mr = region(0, length);
	int64_t ret;
	u32 w;

	mr.attr.dmabuf_fd = fd;
	mr.attr.dmabuf_off = off;
	ret = ur_app_mem_attach(&mr);
	if (ret)
		return ret;
	memcpy(&w, mr.direct, 4);
	ur_app_mem_detach(&mr);
	return w;
}

static void test_dmabuf(void)
{
	int fd = make_file(4, F_SEAL_SHRINK), bare = make_file(4, F_SEAL_GROW);

	CHECK_EQ(dmabuf(fd, 16, 4), 0);
	CHECK_EQ(dmabuf(bare, 16, 4), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, 3 * PAGE + 16, PAGE - 16), 3);
	CHECK_EQ(dmabuf(fd, 3 * PAGE + 16, PAGE - 15), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, 2 * PAGE + 16, 2 * PAGE - 16), 2);
	CHECK_EQ(dmabuf(fd, 4 * PAGE + 16, 4), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, 16, UINT64_MAX), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, (u64)-8, 64), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, INT64_MAX, 64), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, 16, 0), -EOPNOTSUPP);
	/* Sums that wrap. */
	CHECK_EQ(dmabuf(fd, 16, INT64_MAX), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, -PAGE, PAGE), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, INT64_MAX & ~(PAGE - 1), PAGE), -EOPNOTSUPP);
	CHECK_EQ(dmabuf(fd, 3 * PAGE, UINT64_MAX - 2 * PAGE), -EOPNOTSUPP);
	close(fd);
	close(bare);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(!ur_user_mem_create(open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				  getpid(), &self));
	PAGE = (u64)sysconf(_SC_PAGESIZE);
	STEP(test_atomics());
	STEP(test_gone());
	STEP(test_hole());
	STEP(test_many());
	for (; PAGE <= 65536; PAGE *= 4)
		STEP(test_dmabuf());
	CHECK_EQ(self->refs, 1);
	ur_user_mem_put(self);
	return cases_status();
}
