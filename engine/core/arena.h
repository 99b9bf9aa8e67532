/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory shared with one client: blocks of the context's memfd. Their offsets
 * are the mmap offsets of the uverbs file. The client can write to all of it at
 * any time, free parts too: a block's content is never trusted.
 *
 * The arena never shrinks: later blocks reuse freed memory. So a context holds,
 * and its user is charged for, the peak size of its rings.
 */
#ifndef UR_ENGINE_CORE_ARENA_H
#define UR_ENGINE_CORE_ARENA_H

#include "util/bytes.h"
#include "util/list.h"

/* The unit of the arena: the smallest page of any system. */
#define UR_ARENA_PAGE  4096u
#define UR_ARENA_CHUNK (2u << 20)

struct ur_arena {
	int fd;	  /* the memfd; stays the caller's */
	u64 size; /* bytes of the file */
	u64 page; /* system page size, 4096 to 65536 bytes */
	u64 next; /* first offset that was never used */
	u32 n_maps;
	struct ur_list chunks;
	struct ur_list free; /* free blocks, still mapped */
};

struct ur_arena_chunk;

struct ur_block {
	u8 *ptr;
	u64 off;    /* in the file; a multiple of the arena's page */
	u64 len;    /* likewise */
	bool dirty; /* an earlier block used this memory: it may not be zero */
	void *chunk;
};

/*
 * Control calls these when it makes and destroys objects, with the control lock
 * held unless a comment says otherwise. The engine thread does not call them,
 * since new memory may cause page faults.
 */

/* Makes an arena in fd, a sparse file of its final size. fd stays the caller's.
 * Returns 0 or -errno. */
int ur_arena_init(struct ur_arena *arena, int fd);
/* Unmaps everything, in steps. All blocks must have been freed. Call it without
 * the control lock: the client can make it wait. */
void ur_arena_fini(struct ur_arena *arena);
/* Allocates bytes (more than 0, rounded up to pages) in *block. The content is
 * undefined. Makes no system call. Returns 0, -ENOMEM, or -EAGAIN if
 * ur_arena_map() and ur_arena_add() must map more of the file first. */
int ur_arena_alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block);
/* Maps a chunk of the file for a block of so many bytes. Call it without the
 * control lock: the client can make it wait. No other thread may map or allocate
 * meanwhile. Returns the chunk, for ur_arena_add(), or NULL. */
struct ur_arena_chunk *ur_arena_map(struct ur_arena *arena, u64 bytes);
/* Adds a mapped chunk. The arena owns it from now on. */
void ur_arena_add(struct ur_arena *arena, struct ur_arena_chunk *chunk);
/*
 * Makes all pages of a block present, so that later accesses cause no page
 * faults. Writes nothing. Call it without the control lock: a large block takes
 * milliseconds. Returns 0 or -ENOMEM.
 */
int ur_block_populate(const struct ur_block *block);
/* Frees a block; the arena keeps its memory. Makes no system call. Does nothing
 * for a zeroed block. */
void ur_arena_free(struct ur_arena *arena, struct ur_block *block);

#endif
