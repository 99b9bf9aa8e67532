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

/* Is called for each mapping, in the order of addresses. Returns 0 to go on. */
typedef int (*ur_vma_fn)(const struct ur_vma *vma, void *arg);

/*
 * Walks the mappings of this process. Returns what fn returned last, or -errno
 * where the file cannot be read. Uses one static buffer, so the caller
 * serializes. The walk may or may not see what fn maps or unmaps.
 */
int ur_maps_walk(ur_vma_fn fn, void *arg);

#endif
