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

#define UR_ARENA_PAGE  4096u
#define UR_ARENA_CHUNK (2u << 20)
#define UR_ARENA_KEEP  64u /* pages without a block that may stay, at most */

struct ur_arena {
	int fd;	  /* the caller's */
	u64 size; /* of the file */
	u64 next; /* never used from here on */
	u32 kept; /* pages not given back */
	u32 n_chunks;
	u64 mapped; /* bytes of all chunks */
	struct ur_list chunks;
};

struct ur_block {
	u8 *ptr;
	u64 off; /* in the file */
	u64 len; /* a multiple of the page size */
	void *chunk;
};

/*
 * Who makes and destroys objects calls these, with the control lock held, and
 * not the engine: they make system calls and, where memory is new, page faults.
 */

/* fd: sparse, already as large as it will ever be. 0 or -errno. */
int ur_arena_init(struct ur_arena *arena, int fd);
/* All blocks must have been freed. */
void ur_arena_fini(struct ur_arena *arena);
/* bytes > 0, rounded up to pages. -ENOMEM. */
int ur_arena_alloc(struct ur_arena *arena, u64 bytes, struct ur_block *block);
/*
 * The pages of a block that will be written are there when this returns, so
 * that nobody meets page faults later. Writes nothing, needs no lock: it takes
 * milliseconds for what is large. 0, or -ENOMEM: not all of them.
 */
int ur_block_populate(const struct ur_block *block);
/* Gives the pages back to the system, but for UR_ARENA_KEEP of them. A zeroed
 * block is ignored. */
void ur_arena_free(struct ur_arena *arena, struct ur_block *block);

#endif
