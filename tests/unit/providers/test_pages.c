// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whether the pages of a range are there: of ranges with holes, beyond the end of a file,
 * not to be read, small and large. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/uroce/pages.h"
#include "tests/check.h"
#include "tests/machine.h"

#define LARGE (2ull * UR_PAGES_ALL)

static u64 page;

static u64 map(u64 pages, int prot)
{
	void *p = mmap(NULL, pages * page, prot,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	return (uintptr_t)p;
}

static void unmap(u64 at, u64 pages)
{
	CHECK(!munmap((void *)(uintptr_t)at, pages * page));
}

static void without_holes(void)
{
	u64 at = map(LARGE, PROT_READ | PROT_WRITE);
	unsigned char there[16];

	errno = 7;
	CHECK(ur_pages_are_there(at, 16 * page));
	CHECK(ur_pages_are_there(at + page - 1, 2));
	CHECK(ur_pages_are_there(at + 5, LARGE * page - 5));
	CHECK_EQ(errno, 7);
	CHECK(!mincore((void *)(uintptr_t)at, 16 * page, there));
	for (u32 i = 0; i < 16; i++)
		CHECK(there[i] & 1);
	CHECK(!ur_pages_are_there(at, 0));
	CHECK(!ur_pages_are_there(UINT64_MAX - 5, 100));
	unmap(at, LARGE);
}

static void with_holes(void)
{
	u64 at = map(LARGE + 2, PROT_READ | PROT_WRITE);

	unmap(at + 8 * page, 1);
	CHECK(ur_pages_are_there(at, 8 * page));
	CHECK(!ur_pages_are_there(at, 8 * page + 1));
	CHECK(!ur_pages_are_there(at + 9 * page - 1, 2));
	/* The last page of a large one is always looked at. */
	unmap(at + (LARGE + 1) * page, 1);
	CHECK(!ur_pages_are_there(at + 9 * page, (LARGE - 8) * page + 1));
	unmap(at, LARGE + 2);
	at = map(4, PROT_NONE);
	CHECK(!ur_pages_are_there(at, page));
	unmap(at, 4);
}

static void short_file(void)
{
	int fd = memfd_create("short", MFD_CLOEXEC);
	void *p;

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)(2 * page)));
	p = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	CHECK(ur_pages_are_there((uintptr_t)p, 2 * page));
	CHECK(!ur_pages_are_there((uintptr_t)p, 2 * page + 1));
	unmap((uintptr_t)p, 4);
	close(fd);
}

int main(int argc, char **argv)
{
	u64 at;

	cases(&argc, argv);
	page = (u64)sysconf(_SC_PAGESIZE);
	at = map(1, PROT_READ);
	/* qemu-user says that it has, and does nothing. */
	if (is_emulated() ||
	    ur_pages_populate(at, 1, UR_POPULATE_READ) == EINVAL)
		SKIP("the kernel, or who emulates it, cannot populate");
	unmap(at, 1);
	CASE(without_holes());
	CASE(with_holes());
	CASE(short_file());
	return cases_status();
}
