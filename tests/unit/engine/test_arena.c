// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Blocks do not overlap, come back, and are what the client maps. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/arena.h"
#include "tests/check.h"
#include "util/rng.h"

#define BLOCKS 200

static void test_random(struct ur_arena *arena, int fd)
{
	struct ur_block block[BLOCKS] = {{0}};
	struct ur_rng rng = {42};

	for (int round = 0; round < 5000; round++) {
		u32 i = ur_rng_below(&rng, BLOCKS);
		u8 *client;

		if (block[i].ptr) {
			for (u64 k = 0; k < block[i].len; k += 997)
				CHECK_EQ(block[i].ptr[k], i & 0xff);
			ur_arena_free(arena, &block[i]);
			continue;
		}
		CHECK_EQ(ur_arena_alloc(arena, 1 + ur_rng_below(&rng, 300000),
					&block[i]),
			 0);
		CHECK_EQ(block[i].off % arena->page, 0);
		CHECK_EQ(block[i].len % arena->page, 0);
		client = mmap(NULL, block[i].len, PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, (off_t)block[i].off);
		CHECK(client != MAP_FAILED);
		memset(client, (int)i, block[i].len);
		munmap(client, block[i].len);
	}
	for (u32 i = 0; i < BLOCKS; i++)
		ur_arena_free(arena, &block[i]);
	CHECK(ur_list_empty(&arena->chunks));
}

static void test_large(struct ur_arena *arena)
{
	struct ur_block a, b;

	CHECK_EQ(ur_arena_alloc(arena, 5u << 20, &a), 0);
	CHECK_EQ(ur_arena_alloc(arena, 5u << 20, &b), 0);
	CHECK(b.off >= a.off + a.len || a.off >= b.off + b.len);
	a.ptr[a.len - 1] = 1;
	ur_arena_free(arena, &a);
	ur_arena_free(arena, &b);
	ur_arena_free(arena, &b); /* freed already: nothing happens */
	CHECK_EQ(ur_arena_alloc(arena, arena->size + 1, &a), -12);
	CHECK_EQ(ur_arena_alloc(arena, 0, &a), -12);
}

static blkcnt_t blocks(int fd)
{
	struct stat st;

	CHECK_EQ(fstat(fd, &st), 0);
	return st.st_blocks;
}

/* A large block's end costs nothing at once, and counts until it is swept. */
static void test_sweep(struct ur_arena *arena, int fd)
{
	const u64 bytes = 9u << 20, page = (u64)sysconf(_SC_PAGESIZE);
	blkcnt_t before;
	u64 mapped;
	struct ur_block a, b;
	blkcnt_t used;
	u8 *ptr;

	ur_arena_sweep(arena);
	before = blocks(fd);
	mapped = arena->mapped;
	CHECK_EQ(ur_arena_alloc(arena, bytes, &a), 0);
	CHECK_EQ(ur_block_populate(&a), 0);
	memset(a.ptr, 1, bytes);
	used = blocks(fd);
	CHECK(used - before >= (blkcnt_t)(bytes / 512));
	ptr = a.ptr;
	ur_arena_free(arena, &a);
	CHECK(!a.ptr);
	CHECK_EQ(blocks(fd), used);
	CHECK(arena->mapped >= mapped + bytes);
	CHECK(ur_arena_dirty(arena));
	CHECK_EQ(ur_arena_alloc(arena, bytes, &b), 0);
	CHECK(b.ptr != ptr); /* nobody gets it meanwhile */
	ur_arena_sweep(arena);
	CHECK(!ur_arena_dirty(arena));
	CHECK_EQ(msync(ptr, page, MS_ASYNC), -1); /* not mapped */
	CHECK_EQ(blocks(fd), before);
	ur_arena_free(arena, &b);
	ur_arena_sweep(arena);
	CHECK_EQ(arena->mapped, mapped);
}

int main(int argc, char **argv)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ur_arena arena;

	cases(&argc, argv);
	CHECK(fd >= 0 && !ftruncate(fd, 1ll << 40));
	/* Larger pages than the system's are no more than a rule. */
	for (u64 page = (u64)sysconf(_SC_PAGESIZE); page <= 65536; page *= 4) {
		CHECK_EQ(ur_arena_init(&arena, fd), 0);
		CHECK_EQ(arena.page, sysconf(_SC_PAGESIZE));
		arena.page = page;
		STEP(test_random(&arena, fd));
		STEP(test_large(&arena));
		STEP(test_sweep(&arena, fd));
		ur_arena_fini(&arena);
	}
	close(fd);
	return cases_status();
}
