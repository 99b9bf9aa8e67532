/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the device says of itself. */
#ifndef UR_DEVICE_QUERY_H
#define UR_DEVICE_QUERY_H

#include "util/bytes.h"

u32 ur_num_comp_vectors(void);

#endif
