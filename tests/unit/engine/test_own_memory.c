// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The memory of the process itself, copied so that what is not there is an error and
 * no signal: by system calls, and in turns by the processor. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/ground/own_memory.h"
#include "tests/check.h"

#define BYTES (3u * UR_STAGE_BYTES)

static struct ur_user_mem *self;
static u8 there[BYTES], here[BYTES];

static u64 addr_of(const void *p)
{
	return (u64)(uintptr_t)p;
}

/* More than the stage has, from and to odd places. */
static void test_copies(void)
{
	for (u32 i = 0; i < BYTES; i++)
		there[i] = (u8)(i * 7 + i / 251);
	CHECK_EQ(ur_user_read(self, addr_of(there + 3), here, BYTES - 3), 0);
	CHECK(!memcmp(here, there + 3, BYTES - 3));
	memset(there, 0, BYTES);
	CHECK_EQ(ur_user_write(self, addr_of(there + 1), here, BYTES - 5), 0);
	CHECK(!there[0] && !memcmp(there + 1, here, BYTES - 5) &&
	      !there[BYTES - 1]);
}

/* Bytes of a file that is mapped do not pass the stage: what is there stays. */
static void test_file(void)
{
	int fd = memfd_create("file", 0);
	u8 *p, *gone;

	CHECK(!ftruncate(fd, BYTES));
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	gone = mmap(NULL, UR_STAGE_BYTES, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED && gone != MAP_FAILED);
	ur_user_mem_file(self, p, BYTES, fd);
	memset(self->stage, 7, UR_STAGE_BYTES);
	memset(there, 3, BYTES);
	CHECK_EQ(ur_user_read(self, addr_of(there), p + 1, BYTES - 1), 0);
	CHECK(!p[0] && p[1] == 3 && p[BYTES - 1] == 3);
	p[5] = 9;
	CHECK_EQ(ur_user_write(self, addr_of(here), p + 5, BYTES - 5), 0);
	CHECK(here[0] == 9 && here[1] == 3 && self->stage[0] == 7);
	CHECK_EQ(ur_user_write(self, addr_of(gone), p, 8), -EFAULT);
	CHECK_EQ(ur_user_read(self, addr_of(gone), p, 8), -EFAULT);
	ur_user_mem_forget(self, p);
	CHECK_EQ(ur_user_read(self, addr_of(here), p, 8), 0);
	CHECK(p[0] == 9 && self->stage[0] == (self->direct ? 7 : 9));
	munmap(p, BYTES);
	munmap(gone, UR_STAGE_BYTES);
	close(fd);
}

/* Two pages, of which the second loses its rights and then goes. */
static void test_gone(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	u8 *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 across;

	CHECK(p != MAP_FAILED);
	across = addr_of(p + page - 4);
	CHECK_EQ(ur_user_write(self, across, here, 8), 0);
	CHECK(!mprotect(p + page, page, PROT_READ));
	CHECK_EQ(ur_user_write(self, across, here, 8), -EFAULT);
	CHECK_EQ(ur_user_read(self, across, here, 8), 0);
	CHECK(!mprotect(p + page, page, PROT_NONE));
	CHECK_EQ(ur_user_read(self, across, here, 8), -EFAULT);
	CHECK(!munmap(p + page, page));
	CHECK_EQ(ur_user_write(self, across, here, 8), -EFAULT);
	CHECK_EQ(ur_user_read(self, across, here, 8), -EFAULT);
	CHECK_EQ(ur_user_read(self, across, here, 4), 0);
	munmap(p, page);
}

/* Three of 100 bytes that lie 130 bytes apart, and one behind them that cannot be
 * reached. */
static void test_pieces(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	u8 *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u8 apart[4 * 130] = {0};
	u64 end;

	CHECK(p != MAP_FAILED && !munmap(p + page, page));
	end = addr_of(p) + page;
	for (u32 i = 0; i < 300; i++)
		p[page - 300 + i] = (u8)(i + 1);
	CHECK_EQ(ur_own_memory_pieces(self, end - 300, apart, 130, 100, 3,
				      false),
		 0);
	for (u32 i = 0; i < 3; i++)
		CHECK(!memcmp(apart + i * 130, p + page - 300 + i * 100, 100) &&
		      !apart[i * 130 + 100] && !apart[i * 130 + 129]);
	CHECK_EQ(ur_own_memory_pieces(self, end - 300, apart, 130, 100, 4,
				      false),
		 -EFAULT);
	memset(p, 0, page);
	CHECK_EQ(
		ur_own_memory_pieces(self, end - 300, apart, 130, 100, 3, true),
		0);
	for (u32 i = 0; i < 300; i++)
		CHECK_EQ(p[page - 300 + i], (u8)(i + 1));
	CHECK_EQ(
		ur_own_memory_pieces(self, end - 300, apart, 130, 100, 4, true),
		-EFAULT);
	munmap(p, page);
}

static void test_swap(void)
{
	static u64 word;
	u64 old = 3;

	word = 4;
	CHECK_EQ(ur_own_memory_swap(self, addr_of(&word), &old, 5), 1);
	CHECK(old == 4 && word == 4);
	CHECK_EQ(ur_own_memory_swap(self, addr_of(&word), &old, 5), 0);
	CHECK_EQ(word, 5);
	CHECK_EQ(ur_own_memory_swap(self, addr_of(&word) + 1, &old, 5),
		 -EAGAIN);
}

static void test_all(void)
{
	test_copies();
	test_gone();
	test_file();
}

int main(void)
{
	u64 word = 0, old = 0;

	CHECK_EQ(ur_user_mem_own(&self), 0);
	test_all();
	CHECK_EQ(ur_own_memory_swap(self, addr_of(&word), &old, 5), -EAGAIN);
	CHECK_EQ(ur_own_memory_pieces(self, addr_of(here), there, 8, 8, 1,
				      false),
		 -EOPNOTSUPP);
	if (!self->copies)
		SKIP("no copies by this processor");
	ur_own_memory_turn_begins(self, 1);
	CHECK(self->direct);
	test_all();
	test_swap();
	test_pieces();
	ur_own_memory_turn_ends(self);
	test_copies();
	ur_user_mem_put(self);
	return 0;
}
