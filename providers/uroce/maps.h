/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* /proc/self/maps without allocation: usable in a fork handler. */
#ifndef UR_PROVIDER_MAPS_H
#define UR_PROVIDER_MAPS_H

#include "util/bytes.h"

struct ur_vma {
	u64 start, end;
	u64 file_off;
	u64 inode;     /* 0: no file */
	u64 dev;       /* major << 32 | minor */
	char perms[5]; /* "rw-p" */
	char name[32]; /* cut off; "" for plain anonymous memory */
};

/* Called for each mapping, in address order; nonzero stops the walk. */
typedef int (*ur_vma_fn)(const struct ur_vma *vma, void *arg);

/*
 * Walks the mappings of this process. Returns what 'fn' returned last, or
 * -errno where the file cannot be read. Uses one static buffer: the caller
 * serializes. What 'fn' maps or unmaps may or may not be seen.
 */
int ur_maps_walk(ur_vma_fn fn, void *arg);

#endif
