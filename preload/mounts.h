/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of mounts, which shows configfs where the device has a part of
 * it. */
#ifndef UR_PRELOAD_MOUNTS_H
#define UR_PRELOAD_MOUNTS_H

#include <stdbool.h>

struct ur_rewritten;

/* Returns whether ur_mounts_open() must open this path. */
bool ur_mounts_is(const struct ur_rewritten *path, int flags);
/* open(2). Returns a descriptor or -errno. */
int ur_mounts_open(const struct ur_rewritten *path, int flags);

#endif
