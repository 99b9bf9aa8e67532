/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static rates of paths, as verbs number them. */
#ifndef UR_DEVICE_UVERBS_STATIC_RATE_H
#define UR_DEVICE_UVERBS_STATIC_RATE_H

#include "util/bytes.h"

/* Puts the bits per second of a rate (enum ibv_rate) into *bps, 0 for the
 * port's own. Returns 0, or -EINVAL where there is no such rate. Any thread. */
int ur_static_rate_bps(u8 rate, u64 *bps);

#endif
