/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The attributes of a device's port, for verbs, sysfs and status alike. */
#ifndef UR_DEVICE_PORT_H
#define UR_DEVICE_PORT_H

#include <rdma/ib_user_ioctl_verbs.h>
#include "device/device.h"

/* Fills *r with the attributes of the port as they are now. */
void ur_fill_port(struct ur_device *dev, struct ib_uverbs_query_port_resp *r);
/* Returns the rate that active_width and active_speed of *r make, in Gb/s times
 * ten. */
u32 ur_port_rate10(const struct ib_uverbs_query_port_resp *r);
/* Returns the speed in units of 100 Mbit/s, at least 1: what uroced's option says, or the
 * netdev, or what ur_fill_port() makes of neither. */
u32 ur_port_speed100(struct ur_device *dev);
/* Returns the enum ibv_mtu of so many bytes, or 0 where there is none. */
u32 ur_mtu_enum(u32 bytes);

#endif
