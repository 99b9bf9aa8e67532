/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts the processors that the daemon may use, and chooses how many engines a
 * device has by default. */
#ifndef UR_DEVICE_PROCESSORS_H
#define UR_DEVICE_PROCESSORS_H

#include "util/bytes.h"

/*
 * Returns the CPU quota of this process's control groups, in whole processors, at least 1;
 * UINT32_MAX if there is none or it cannot be read. root: prefix of /proc and /sys, ""
 * outside tests.
 */
u32 ur_processors_quota(const char *root);
/* Returns how many processors this process can use at once: its affinity mask, limited by
 * the quota of its control groups. */
u32 ur_processors(void);
/* Returns the default number of engines of a device: 1 for up to three processors, since
 * programs need some too, else a quarter of them, at most 8. */
u32 ur_processors_engines(u32 processors);

#endif
