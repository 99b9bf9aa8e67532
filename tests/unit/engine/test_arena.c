// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Blocks do not overlap, come back, and are what the client maps. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/core/arena.h"
#include "tests/check.h"
#include "util/rng.h"

#define BLOCKS 200

/* As the engine does. */
static int alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block)
{
	struct ur_arena_chunk *more;
	int err = ur_arena_alloc(arena, bytes, block);

	if (err != -EAGAIN)
		return err;
	more = ur_arena_map(arena, bytes);
	CHECK(more);
	ur_arena_add(arena, more);
	CHECK_EQ(ur_arena_alloc(arena, bytes, block), 0);
	return 0;
}

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
		CHECK_EQ(
			alloc(arena, 1 + ur_rng_below(&rng, 300000), &block[i]),
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

	CHECK_EQ(alloc(arena, 5u << 20, &a), 0);
	CHECK_EQ(alloc(arena, 5u << 20, &b), 0);
	CHECK(b.off >= a.off + a.len || a.off >= b.off + b.len);
	a.ptr[a.len - 1] = 1;
	ur_arena_free(arena, &a);
	ur_arena_free(arena, &b);
	ur_arena_free(arena, &b); /* freed already: nothing happens */
	CHECK_EQ(ur_arena_alloc(arena, arena->size + 1, &a), -ENOMEM);
	CHECK_EQ(ur_arena_alloc(arena, 0, &a), -ENOMEM);
	CHECK(!ur_arena_map(arena, arena->size + 1));
	CHECK(!ur_arena_map(arena, 0));
}

static blkcnt_t blocks(int fd)
{
	struct stat st;

	CHECK_EQ(fstat(fd, &st), 0);
	return st.st_blocks;
}

/* Freed blocks stay, since to give them back takes locks that the client can
 * hold, and the next blocks are made of them: of fewer bytes, and of neighbours
 * that are free together. */
static void test_stays(struct ur_arena *arena, int fd)
{
	const u64 mib = 1u << 20;
	struct ur_block whole, part[5] = {{0}};
	blkcnt_t used;
	u64 mapped;
	u32 n_maps;
	u8 *ptr;

	CHECK_EQ(alloc(arena, 64 * mib, &whole), 0);
	CHECK_EQ(ur_block_populate(&whole), 0);
	memset(whole.ptr, 1, whole.len);
	used = blocks(fd);
	mapped = arena->next;
	n_maps = arena->n_maps;
	ptr = whole.ptr;
	for (int round = 0; round < 3; round++) {
		ur_arena_free(arena, &whole);
		CHECK(!whole.ptr);
		CHECK_EQ(blocks(fd), used);
		for (int i = 0; i < 5; i++) {
			CHECK_EQ(ur_arena_alloc(arena, i ? 9 * mib : 5000,
						&part[i]),
				 0);
			CHECK(part[i].dirty);
		}
		/* The middle first, and its neighbours on both sides later. */
		for (int i = 0; i < 5; i++)
			ur_arena_free(arena, &part[(i * 3 + round) % 5]);
		CHECK_EQ(ur_arena_alloc(arena, 64 * mib, &whole), 0);
		/* It is where the mappings begin, of which the kernel may have
		 * put several side by side. */
		CHECK(whole.ptr == ptr || n_maps > 1);
		CHECK(whole.dirty);
		CHECK_EQ(arena->next, mapped);
		CHECK_EQ(arena->n_maps, n_maps);
	}
	ur_arena_free(arena, &whole);
}

/* The first to have pages is notified of that, page by page. */
static void test_dirty(struct ur_arena *arena)
{
	struct ur_block a, b, c;
	u64 page = arena->page;

	CHECK_EQ(ur_arena_alloc(arena, page, &a), -EAGAIN);
	CHECK_EQ(alloc(arena, page, &a), 0);
	CHECK(!a.dirty);
	CHECK_EQ(ur_arena_alloc(arena, page, &b), 0);
	CHECK(!b.dirty);
	ur_arena_free(arena, &a);
	CHECK_EQ(ur_arena_alloc(arena, page, &a), 0);
	CHECK(a.dirty);
	CHECK_EQ(ur_arena_alloc(arena, page, &c), 0);
	CHECK(!c.dirty);
	ur_arena_free(arena, &a);
	ur_arena_free(arena, &b);
	/* One of the two has been had. */
	CHECK_EQ(ur_arena_alloc(arena, 2 * page, &a), 0);
	CHECK(a.dirty);
	ur_arena_free(arena, &a);
	ur_arena_free(arena, &c);
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
		STEP(test_dirty(&arena));
		STEP(test_random(&arena, fd));
		STEP(test_large(&arena));
		STEP(test_stays(&arena, fd));
		ur_arena_fini(&arena);
		/* And of one mapping, which has no neighbours. */
		CHECK_EQ(ur_arena_init(&arena, fd), 0);
		arena.page = page;
		STEP(test_stays(&arena, fd));
		CHECK_EQ(arena.n_maps, 1);
		ur_arena_fini(&arena);
	}
	close(fd);
	return cases_status();
}
