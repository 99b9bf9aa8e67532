/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static rates of paths, as verbs number them. */
#ifndef UR_DEVICE_UVERBS_STATIC_RATE_H
#define UR_DEVICE_UVERBS_STATIC_RATE_H

#include "util/bytes.h"

/* Converts a rate (enum ibv_rate) to bits per second, in *bps; 0: the port's rate. Returns
 * 0, or -EINVAL for an unknown rate. Any thread. */
int ur_static_rate_bps(u8 rate, u64 *bps);

#endif
