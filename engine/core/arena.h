/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory shared with one client: blocks out of the context's memfd, whose
 * offsets are the mmap offsets of the uverbs file. The client can map and
 * scribble over all of it at any time, also over free parts: a block's
 * content is never trusted, zero at best.
 *
 * The arena never shrinks: what was freed is there for the next block. So a
 * context holds, and its user is charged for, the most rings that it ever had at
 * a time.
 */
#ifndef UR_ENGINE_CORE_ARENA_H
#define UR_ENGINE_CORE_ARENA_H

#include "util/bytes.h"
#include "util/list.h"

/* The unit of the arena: the smallest page of any system. */
#define UR_ARENA_PAGE  4096u
#define UR_ARENA_CHUNK (2u << 20)

struct ur_arena {
	int fd;	  /* the caller's */
	u64 size; /* of the file */
	u64 page; /* the system's, 4096 to 65536: blocks are of whole ones */
	u64 next; /* never used from here on */
	u32 n_maps;
	u64 mapped; /* bytes of all chunks */
	struct ur_list chunks;
	struct ur_list free; /* mapped, and nobody's */
};

struct ur_arena_chunk;

struct ur_block {
	u8 *ptr;
	u64 off;    /* in the file */
	u64 len;    /* a multiple of the arena's page, as off is */
	bool dirty; /* another block has been there: it may be anything but zero */
	void *chunk;
};

/*
 * Control calls these when it makes and destroys objects, with the control lock
 * held but where it says otherwise. The engine thread does not, since memory
 * may be new, and page faults.
 */

/* Makes an arena in fd, which is sparse, as large as it will ever be, and stays
 * the caller's. Returns 0 or -errno. */
int ur_arena_init(struct ur_arena *arena, int fd);
/* Unmaps everything, bit by bit. All blocks must have been freed. Needs no lock,
 * and must have none: the client can make it wait. */
void ur_arena_fini(struct ur_arena *arena);
/* Allocates bytes, more than 0 and rounded up to pages, in *block. Their
 * content is undefined. Makes no system call. Returns 0, -ENOMEM, or -EAGAIN
 * where more of the file has to be mapped first, by the two that follow. */
int ur_arena_alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block);
/* Maps more of the file, for a block of so many bytes. Without the lock: the
 * client can make it wait. Nobody else may do so, or allocate, meanwhile. Returns
 * it, for ur_arena_add(), or NULL. */
struct ur_arena_chunk *ur_arena_map(struct ur_arena *arena, u64 bytes);
/* The arena has the chunk from now on. */
void ur_arena_add(struct ur_arena *arena, struct ur_arena_chunk *chunk);
/*
 * Makes the pages of a block present, so that nobody meets page faults later.
 * Writes nothing. Needs no lock, and should have none: a large block takes
 * milliseconds. Returns 0, or -ENOMEM where not all of them could be had.
 */
int ur_block_populate(const struct ur_block *block);
/* Frees a block, whose memory stays with the arena. Makes no system call. Does
 * nothing for a zeroed block. */
void ur_arena_free(struct ur_arena *arena, struct ur_block *block);

#endif
