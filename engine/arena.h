/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory shared with one client: blocks out of the context's memfd, whose
 * offsets are the mmap offsets of the uverbs file. The client can map and
 * scribble over all of it at any time, also over free parts: a block's
 * content is never trusted, zero at best.
 */
#ifndef UR_DEVICE_ARENA_H
#define UR_DEVICE_ARENA_H

#include "util/bytes.h"
#include "util/list.h"

/* What is counted in: the smallest page of any system. */
#define UR_ARENA_PAGE  4096u
#define UR_ARENA_CHUNK (2u << 20)
#define UR_ARENA_KEEP  64u /* pages without a block that may stay, at most */

struct ur_arena {
	int fd;	  /* the caller's */
	u64 size; /* of the file */
	u64 page; /* the system's, 4096 to 65536: blocks are of whole ones */
	u64 next; /* never used from here on */
	u32 kept; /* pages not given back */
	u32 n_chunks;
	u64 mapped; /* bytes of all chunks */
	struct ur_list chunks;
	struct ur_list gone; /* those of large blocks that were freed */
};

struct ur_block {
	u8 *ptr;
	u64 off; /* in the file */
	u64 len; /* a multiple of the arena's page, as off is */
	void *chunk;
};

/*
 * Control calls these when it makes and destroys objects, with the control lock
 * held. The engine thread does not, since they make system calls and, where
 * memory is new, page faults.
 */

/* Makes an arena in fd, which is sparse, as large as it will ever be, and stays
 * the caller's. Returns 0 or -errno. */
int ur_arena_init(struct ur_arena *arena, int fd);
/* Unmaps everything, bit by bit. All blocks must have been freed. Needs no lock
 * either. */
void ur_arena_fini(struct ur_arena *arena);
/* Allocates bytes, more than 0 and rounded up to pages, in *block. What is in
 * them is undefined. Returns 0 or -ENOMEM. */
int ur_arena_alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block);
/*
 * Makes the pages of a block present, so that nobody meets page faults later.
 * Writes nothing. Needs no lock, and should have none: a large block takes
 * milliseconds. Returns 0, or -ENOMEM where not all of them could be had.
 */
int ur_block_populate(const struct ur_block *block);
/* Frees a block. Its pages go back to the system, but for UR_ARENA_KEEP of all,
 * and a large block as a whole: that stays, and counts, until
 * ur_arena_sweep(). Does nothing for a zeroed block. */
void ur_arena_free(struct ur_arena *arena, struct ur_block *block);
/*
 * Gives large blocks that were freed back to the system, bit by bit. Needs no
 * lock, and should have none: 64 MiB take milliseconds. Nobody may allocate or
 * free meanwhile.
 */
void ur_arena_sweep(struct ur_arena *arena);
/* Returns whether there is anything to sweep. */
static inline bool ur_arena_dirty(const struct ur_arena *arena)
{
	return !ur_list_empty(&arena->gone);
}

#endif
