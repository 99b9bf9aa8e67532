/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device's own attributes. */
#ifndef UR_DEVICE_UVERBS_QUERY_H
#define UR_DEVICE_UVERBS_QUERY_H

#include "util/bytes.h"

/* Returns the number of completion vectors: one per processor, from 2 to 64. */
u32 ur_num_comp_vectors(void);
/* Returns enum ib_uverbs_device_cap_flags of the device. */
u64 ur_device_cap_flags(void);

#endif
