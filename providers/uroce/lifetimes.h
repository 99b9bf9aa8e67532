/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether it pays to move the pages of a registration: by how long earlier
 * registrations of the same pages have lived, measured against what moving
 * them has cost. A program that registers for each message is over before the
 * move has paid.
 *
 * The last few hundred ranges are remembered. The caller holds the registry's
 * lock. Times are nanoseconds.
 */
#ifndef UR_PROVIDER_LIFETIMES_H
#define UR_PROVIDER_LIFETIMES_H

#include "util/bytes.h"

/* Returns whether a registration of [start, end) is worth the move. */
bool ur_lifetimes_pay(u64 start, u64 end);
/* One of [start, end) has ended. lived: without the moves; moved: what moving
 * in and out took, or 0 where nothing was moved. */
void ur_lifetimes_add(u64 start, u64 end, u64 lived, u64 moved);

#endif
