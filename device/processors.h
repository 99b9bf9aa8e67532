/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts the processors that the daemon may use, and chooses how many engines a
 * device has by default. */
#ifndef UR_DEVICE_PROCESSORS_H
#define UR_DEVICE_PROCESSORS_H

#include "util/bytes.h"

/*
 * Returns the whole processors that the control groups of this process leave it,
 * 1 at least; UINT32_MAX where they set no limit or cannot be read. root: before
 * /proc and /sys, "" but in tests.
 */
u32 ur_processors_quota(const char *root);
/* Returns how many processors this process may run on at once: those that it may
 * be put on, and no more than its control groups leave it. */
u32 ur_processors(void);
/* Returns the engines of a device for so many processors: one up to three, since
 * programs need some too, else a quarter, and 8 at most. */
u32 ur_processors_engines(u32 processors);

#endif
