/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory of this process whose protection the program has changed since it was registered, as who looks for changed
 * pages does. A card has pinned the pages, and goes on. So do we where it is known that they are still the same: mprotect()
 * took the right (kernel-abi/uroce-copies.h), and what is mapped there is what was registered, as far as the kernel
 * says that.
 *
 *  - Memory of the process alone is reached through /proc/self/mem, which passes by protections.
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

/* There will be such memory. */
void ur_pinned_start(void);
/* Memory is registered, writes: to be written to. Finds where it is; *place is not known where the kernel does not
 * answer. Whoever registers. */
void ur_pinned_begin(const struct ur_user_mem *mem, u64 addr, u64 len,
		     bool writes, struct ur_pinned_place *place);
/* Copies len bytes between addr, which is off bytes into what was registered at place, and buf; out: from buf. It is for who
 * could not copy them otherwise, and does so page by page. Returns 0 or -EFAULT, and then some may have been
 * copied. */
int ur_pinned_copy(const struct ur_user_mem *mem,
		   const struct ur_pinned_place *place, u64 off, u64 addr,
		   u8 *buf, size_t len, bool out);

#endif
