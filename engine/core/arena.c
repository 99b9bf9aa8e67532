// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chunks of 2 MiB are mapped once and allocated in pages, so that a ring costs no
 * system call; larger blocks have a chunk of their own. A freed block stays mapped,
 * with its pages, until the arena ends. Returning pages would take the file's inode
 * lock, and mapping or unmapping takes the lock of its mappings: the client has the
 * same file, and can hold both for as long as it likes.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/core/arena.h"
#include "util/assert.h"

#define PAGES	      (UR_ARENA_CHUNK / UR_ARENA_PAGE)
#define POPULATE_STEP (256u << 10)
/* Bytes unmapped by one system call: page faults and mappings of other threads wait
 * for it. */
#define UNMAP_STEP UR_ARENA_CHUNK

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct ur_arena_chunk {
	struct ur_list node;
	u64 off, len;
	u8 *ptr;
	bool dirty;	      /* was used before, as a large block */
	u32 used;	      /* pages in use */
	u64 map[PAGES / 64];  /* pages in use; unused for a large one */
	u64 dirt[PAGES / 64]; /* pages that were used before */
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
	arena->n_maps = 0;
	ur_list_init(&arena->chunks);
	ur_list_init(&arena->free);
	return 0;
}

static void unmap_all(struct ur_list *chunks)
{
	ur_list_for_each_safe(it, chunks) {
		struct ur_arena_chunk *c =
			ur_list_entry(it, struct ur_arena_chunk, node);

		for (u64 at = 0; at < c->len; at += UNMAP_STEP)
			munmap(c->ptr + at, UNMAP_STEP);
		ur_list_del(&c->node);
		free(c);
	}
}

void ur_arena_fini(struct ur_arena *arena)
{
	unmap_all(&arena->chunks);
	unmap_all(&arena->free);
}

/* Rounds bytes up to whole chunks. Returns 0 if the file has no room. */
static u64 chunk_bytes(const struct ur_arena *arena, u64 bytes)
{
	if (!bytes || bytes > arena->size)
		return 0;
	return ur_align_up(ur_align_up(bytes, arena->page), UR_ARENA_CHUNK);
}

struct ur_arena_chunk *ur_arena_map(struct ur_arena *arena, u64 bytes)
{
	u64 len = chunk_bytes(arena, bytes);
	struct ur_arena_chunk *c;

	if (!len || len > arena->size || arena->next > arena->size - len)
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
	return c;
}

void ur_arena_add(struct ur_arena *arena, struct ur_arena_chunk *chunk)
{
	ur_assert(chunk->ptr && chunk->len);
	arena->n_maps++;
	ur_list_add_head(&arena->free, &chunk->node);
}

/* ---- free chunks ---- */

static bool follows(const struct ur_arena_chunk *a,
		    const struct ur_arena_chunk *b)
{
	return a->off + a->len == b->off && a->ptr + a->len == b->ptr;
}

/* Merges the chunk with free neighbours. */
static void free_chunk(struct ur_arena *arena, struct ur_arena_chunk *c)
{
	ur_list_del(&c->node);
	c->dirty = true;
	ur_list_for_each_safe(it, &arena->free) {
		struct ur_arena_chunk *f =
			ur_list_entry(it, struct ur_arena_chunk, node);

		if (!follows(f, c) && !follows(c, f))
			continue;
		if (follows(f, c)) {
			c->off = f->off;
			c->ptr = f->ptr;
		}
		c->len += f->len;
		ur_list_del(&f->node);
		free(f);
	}
	ur_list_add_head(&arena->free, &c->node);
}

/* Returns the smallest free chunk of at least len bytes. */
static struct ur_arena_chunk *best_fit(const struct ur_arena *arena, u64 len)
{
	struct ur_arena_chunk *best = NULL;

	ur_list_for_each(it, &arena->free) {
		struct ur_arena_chunk *f =
			ur_list_entry(it, struct ur_arena_chunk, node);

		if (f->len >= len && (!best || f->len < best->len))
			best = f;
	}
	return best;
}

/* Takes a chunk of exactly len bytes, a multiple of UR_ARENA_CHUNK. Any error but
 * -EAGAIN is permanent. */
static int take_chunk(struct ur_arena *arena, u64 len,
		      struct ur_arena_chunk **ret)
{
	struct ur_arena_chunk *f = best_fit(arena, len), *c = f;

	if (!f)
		return arena->next > arena->size - len ? -ENOMEM : -EAGAIN;
	if (f->len > len) {
		c = malloc(sizeof(*c));
		if (!c)
			return -ENOMEM;
		*c = *f;
		c->len = len;
		f->off += len;
		f->ptr += len;
		f->len -= len;
	} else {
		ur_list_del(&c->node);
	}
	c->used = 0;
	memset(c->map, 0, sizeof(c->map));
	memset(c->dirt, c->dirty ? 0xff : 0, sizeof(c->dirt));
	ur_list_add_head(&arena->chunks, &c->node);
	*ret = c;
	return 0;
}

/* ---- blocks ---- */

static bool page_used(const struct ur_arena_chunk *c, u32 i)
{
	return c->map[i / 64] >> (i % 64) & 1;
}

/* First fit; returns the first page or PAGES. */
static u32 find_run(const struct ur_arena_chunk *c, u32 pages)
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

static void mark(struct ur_arena_chunk *c, u32 first, u32 pages, bool used)
{
	for (u32 i = first; i < first + pages; i++) {
		if (used)
			c->map[i / 64] |= 1ull << (i % 64);
		else
			c->map[i / 64] &= ~(1ull << (i % 64));
	}
	c->used = used ? c->used + pages : c->used - pages;
}

/* Marks the pages as used. Returns whether any of them was used before. */
static bool soil(struct ur_arena_chunk *c, u32 first, u32 pages)
{
	bool dirty = false;

	for (u32 i = first; i < first + pages; i++) {
		dirty |= c->dirt[i / 64] >> (i % 64) & 1;
		c->dirt[i / 64] |= 1ull << (i % 64);
	}
	return dirty;
}

static void fill_block(struct ur_block *block, struct ur_arena_chunk *c, u64 at,
		       u64 len, bool dirty)
{
	block->ptr = c->ptr + at;
	block->off = c->off + at;
	block->len = len;
	block->dirty = dirty;
	block->chunk = c;
}

static int alloc_large(struct ur_arena *arena, u64 bytes,
		       struct ur_block *block)
{
	struct ur_arena_chunk *c;
	int err = take_chunk(arena, chunk_bytes(arena, bytes), &c);

	if (err)
		return err;
	c->used = PAGES;
	fill_block(block, c, 0, bytes, c->dirty);
	return 0;
}

static void take_pages(struct ur_arena_chunk *c, u32 first, u64 bytes,
		       struct ur_block *block)
{
	u32 pages = (u32)(bytes / UR_ARENA_PAGE);

	mark(c, first, pages, true);
	fill_block(block, c, (u64)first * UR_ARENA_PAGE, bytes,
		   soil(c, first, pages));
}

int ur_arena_alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block)
{
	u32 pages, at;
	struct ur_arena_chunk *c;
	int err;

	if (!chunk_bytes(arena, bytes))
		return -ENOMEM;
	/* Blocks consist of whole pages, so free space begins at a page boundary. */
	bytes = ur_align_up(bytes, arena->page);
	if (bytes > UR_ARENA_CHUNK / 2)
		return alloc_large(arena, bytes, block);
	pages = (u32)(bytes / UR_ARENA_PAGE);
	ur_list_for_each(it, &arena->chunks) {
		c = ur_list_entry(it, struct ur_arena_chunk, node);
		if (c->used + pages > PAGES)
			continue;
		at = find_run(c, pages);
		if (at == PAGES)
			continue;
		take_pages(c, at, bytes, block);
		return 0;
	}
	err = take_chunk(arena, UR_ARENA_CHUNK, &c);
	if (!err)
		take_pages(c, 0, bytes, block);
	return err;
}

int ur_block_populate(const struct ur_block *block)
{
	/* In steps: page faults of other threads may wait for each. */
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
	struct ur_arena_chunk *c = block->chunk;

	if (!c)
		return;
	ur_assert(c->used && arena->n_maps);
	if (block->len > UR_ARENA_CHUNK / 2)
		c->used = 0;
	else
		mark(c, (u32)((block->off - c->off) / UR_ARENA_PAGE),
		     (u32)(block->len / UR_ARENA_PAGE), false);
	if (!c->used)
		free_chunk(arena, c);
	memset(block, 0, sizeof(*block));
}
