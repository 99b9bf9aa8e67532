// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Blocks do not overlap, come back, and are what the client maps. */
#include <sys/mman.h>
#include <unistd.h>
#include "device/engine/arena.h"
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
		ur_arena_fini(&arena);
	}
	close(fd);
	return cases_status();
}
