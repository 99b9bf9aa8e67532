/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the port of a device says of itself, to verbs, sysfs and status alike. */
#ifndef UR_DEVICE_PORT_H
#define UR_DEVICE_PORT_H

#include <rdma/ib_user_ioctl_verbs.h>
#include "device/device.h"

void ur_fill_port(struct ur_device *dev, struct ib_uverbs_query_port_resp *r);
/* Rate in Gb/s times ten, of active_width and active_speed. */
u32 ur_port_rate10(const struct ib_uverbs_query_port_resp *r);
/* enum ibv_mtu of as many bytes; 0: none is. */
u32 ur_mtu_enum(u32 bytes);

#endif
