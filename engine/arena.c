// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chunks of 2 MiB are mapped once and handed out by the page, so that a ring
 * costs no system call; larger blocks have a chunk of their own. File offsets
 * of chunks that go are not used again: the file is sparse and huge.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/arena.h"

#define PAGES	      (UR_ARENA_CHUNK / UR_ARENA_PAGE)
#define POPULATE_STEP (256u << 10)
/* Of one system call: page faults of others, and whoever maps something, wait
 * for it. */
#define DROP_STEP UR_ARENA_CHUNK

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct chunk {
	struct ur_list node;
	u64 off, len;
	u8 *ptr;
	u32 used;	      /* pages */
	u64 map[PAGES / 64];  /* pages in use; unused for a large one */
	u64 kept[PAGES / 64]; /* not in use, with what was left in them */
};

int ur_arena_init(struct ur_arena *arena, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	arena->fd = fd;
	arena->size = (u64)st.st_size;
	arena->page = (u64)sysconf(_SC_PAGESIZE);
	arena->next = 0;
	arena->kept = 0;
	arena->n_chunks = 0;
	arena->mapped = 0;
	ur_list_init(&arena->chunks);
	ur_list_init(&arena->gone);
	return 0;
}

static void drop_chunk(struct ur_arena *arena, struct chunk *c)
{
	for (u32 i = 0; i < PAGES / 64; i++)
		arena->kept -= (u32)__builtin_popcountll(c->kept[i]);
	arena->n_chunks--;
	arena->mapped -= c->len;
	ur_list_del(&c->node);
	for (u64 at = 0; at < c->len; at += DROP_STEP) {
		munmap(c->ptr + at, DROP_STEP);
		fallocate(arena->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(c->off + at), DROP_STEP);
	}
	free(c);
}

void ur_arena_sweep(struct ur_arena *arena)
{
	ur_list_for_each_safe(it, &arena->gone)
		drop_chunk(arena, ur_list_entry(it, struct chunk, node));
}

void ur_arena_fini(struct ur_arena *arena)
{
	ur_arena_sweep(arena);
	ur_list_for_each_safe(it, &arena->chunks)
		drop_chunk(arena, ur_list_entry(it, struct chunk, node));
}

static struct chunk *add_chunk(struct ur_arena *arena, u64 len)
{
	struct chunk *c;

	if (len > arena->size || arena->next > arena->size - len)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->off = arena->next;
	c->len = len;
	c->ptr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd,
		      (off_t)c->off);
	if (c->ptr == MAP_FAILED) {
		free(c);
		return NULL;
	}
	arena->next += len;
	arena->n_chunks++;
	arena->mapped += len;
	ur_list_add_head(&arena->chunks, &c->node);
	return c;
}

static bool page_used(const struct chunk *c, u32 i)
{
	return c->map[i / 64] >> (i % 64) & 1;
}

/* First fit; returns the first page or PAGES. */
static u32 find_run(const struct chunk *c, u32 pages)
{
	u32 run = 0;

	for (u32 i = 0; i < PAGES; i++) {
		if (c->map[i / 64] == ~0ull) {
			run = 0;
			i |= 63;
			continue;
		}
		run = page_used(c, i) ? 0 : run + 1;
		if (run == pages)
			return i + 1 - pages;
	}
	return PAGES;
}

static void mark(struct chunk *c, u32 first, u32 pages, bool used)
{
	for (u32 i = first; i < first + pages; i++) {
		if (used)
			c->map[i / 64] |= 1ull << (i % 64);
		else
			c->map[i / 64] &= ~(1ull << (i % 64));
	}
	c->used = used ? c->used + pages : c->used - pages;
}

static void clear_kept(struct ur_arena *arena, struct chunk *c, u32 first,
		       u32 pages)
{
	for (u32 i = first; i < first + pages; i++) {
		u64 bit = 1ull << (i % 64);

		if (!(c->kept[i / 64] & bit))
			continue;
		memset(c->ptr + (u64)i * UR_ARENA_PAGE, 0, UR_ARENA_PAGE);
		c->kept[i / 64] &= ~bit;
		arena->kept--;
	}
}

/* A few are kept for the next block: giving pages back costs as much as making
 * a queue pair. */
static void give_back(struct ur_arena *arena, struct chunk *c, u32 first,
		      u32 pages)
{
	if (arena->kept + pages > UR_ARENA_KEEP) {
		fallocate(arena->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(c->off + (u64)first * UR_ARENA_PAGE),
			  (off_t)pages * UR_ARENA_PAGE);
		return;
	}
	for (u32 i = first; i < first + pages; i++)
		c->kept[i / 64] |= 1ull << (i % 64);
	arena->kept += pages;
}

static void fill_block(struct ur_block *block, struct chunk *c, u64 at, u64 len)
{
	block->ptr = c->ptr + at;
	block->off = c->off + at;
	block->len = len;
	block->chunk = c;
}

int ur_arena_alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block)
{
	u32 pages, at;
	struct chunk *c;

	if (!bytes || bytes > arena->size)
		return -ENOMEM;
	/* All that is in use is of whole pages, so what is free begins at one. */
	bytes = ur_align_up(bytes, arena->page);
	if (bytes > UR_ARENA_CHUNK / 2) {
		c = add_chunk(arena, ur_align_up(bytes, UR_ARENA_CHUNK));
		if (!c)
			return -ENOMEM;
		c->used = PAGES;
		memset(c->map, 0xff, sizeof(c->map));
		fill_block(block, c, 0, bytes);
		return 0;
	}
	pages = (u32)(bytes / UR_ARENA_PAGE);
	ur_list_for_each(it, &arena->chunks) {
		c = ur_list_entry(it, struct chunk, node);
		if (c->used + pages > PAGES)
			continue;
		at = find_run(c, pages);
		if (at == PAGES)
			continue;
		mark(c, at, pages, true);
		clear_kept(arena, c, at, pages);
		fill_block(block, c, (u64)at * UR_ARENA_PAGE, bytes);
		return 0;
	}
	c = add_chunk(arena, UR_ARENA_CHUNK);
	if (!c)
		return -ENOMEM;
	mark(c, 0, pages, true);
	fill_block(block, c, 0, bytes);
	return 0;
}

int ur_block_populate(const struct ur_block *block)
{
	/* Bit by bit: page faults of others may wait for each. */
	for (u64 at = 0; at < block->len; at += POPULATE_STEP) {
		u64 n = ur_min_u64(block->len - at, POPULATE_STEP);

		if (madvise(block->ptr + at, n, MADV_POPULATE_WRITE) == 0)
			continue;
		if (errno == EINVAL) /* kernels before 5.14 */
			return 0;
		if (errno != EINTR && errno != EAGAIN)
			return -ENOMEM;
		at -= POPULATE_STEP;
	}
	return 0;
}

void ur_arena_free(struct ur_arena *arena, struct ur_block *block)
{
	struct chunk *c = block->chunk;

	if (!c)
		return;
	if (block->len > UR_ARENA_CHUNK / 2) {
		ur_list_del(&c->node);
		ur_list_add_tail(&arena->gone, &c->node);
	} else {
		u32 first = (u32)((block->off - c->off) / UR_ARENA_PAGE);
		u32 pages = (u32)(block->len / UR_ARENA_PAGE);

		give_back(arena, c, first, pages);
		mark(c, first, pages, false);
		if (!c->used)
			drop_chunk(arena, c);
	}
	memset(block, 0, sizeof(*block));
}
