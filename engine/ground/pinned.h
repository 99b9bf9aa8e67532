/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Copies to registered memory whose protection the program has changed since, for example to track dirty pages. A card
 * has pinned the pages, so it goes on. So do we, if the pages are known to be the same: mprotect() took the right away
 * (kernel-abi/uroce-copies.h), and the mapping there is the registered one, as far as the kernel can tell.
 *
 *  - Private memory is reached through /proc/self/mem, which ignores protections.
 *  - A file, or anonymous memory that is shared, is mapped a second time for a moment. The kernel must say whether it
 *    is the same file (Linux 6.11).
 */
#ifndef UR_ENGINE_GROUND_PINNED_H
#define UR_ENGINE_GROUND_PINNED_H

#include "util/bytes.h"

struct ur_user_mem;

/* The mapping that memory was in when it was registered. */
struct ur_pinned_place {
	bool known, shared;
	u64 dev, ino;
	u64 offset; /* in the file */
};

/* Starts to track mprotect(). Call it before memory is registered. */
void ur_pinned_start(void);
/* Records in *place the mapping of memory that is being registered. writes: it may be written to. place->known is false if
 * the kernel does not report the mapping. On the thread that registers. */
void ur_pinned_begin(const struct ur_user_mem *mem, u64 addr, u64 len,
		     bool writes, struct ur_pinned_place *place);
/* Copies len bytes between addr and buf, page by page, after an ordinary copy has failed. addr is off bytes behind the
 * start of the registered place. out: from buf to memory. Returns 0 or -EFAULT; after an error some bytes may have been
 * copied. */
int ur_pinned_copy(const struct ur_user_mem *mem,
		   const struct ur_pinned_place *place, u64 off, u64 addr,
		   u8 *buf, size_t len, bool out);

#endif
