/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The attributes of a device's port, for verbs, sysfs and status alike. */
#ifndef UR_DEVICE_PORT_H
#define UR_DEVICE_PORT_H

#include <rdma/ib_user_ioctl_verbs.h>
#include "device/device.h"

/* Fills *r with the current attributes of the port. */
void ur_fill_port(struct ur_device *dev, struct ib_uverbs_query_port_resp *r);
/* Returns the rate, in units of 0.1 Gb/s, that active_width and active_speed of *r stand
 * for. */
u32 ur_port_rate10(const struct ib_uverbs_query_port_resp *r);
/* Returns the speed in units of 100 Mbit/s, at least 1: from uroced's option, else from the
 * netdev, else the default of ur_fill_port(). */
u32 ur_port_speed100(struct ur_device *dev);
/* Returns the enum ibv_mtu for bytes, or 0 if there is none. */
u32 ur_mtu_enum(u32 bytes);

#endif
