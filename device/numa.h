/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The NUMA node that a device reports. */
#ifndef UR_DEVICE_NUMA_H
#define UR_DEVICE_NUMA_H

#include "device/device.h"

/* Returns the requested node, else that of the netdev's hardware, else the first. Control
 * lock held. */
u32 ur_numa_node(const struct ur_device *dev);

#endif
