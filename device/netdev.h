/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What its netdev makes of a device. device.h has the rest: what follows when
 * netlink brings news.
 */
#ifndef UR_DEVICE_NETDEV_H
#define UR_DEVICE_NETDEV_H

#include "device/device.h"

/* The active MTU of a port on a netdev with that MTU. */
u32 ur_netdev_mtu(u32 netdev_mtu);
/* EUI-64 of its MAC; without one (lo, tun) stable for this machine and name. */
u64 ur_netdev_guid(const struct ur_device *dev);
/* Netlink has news: all devices follow their netdevs. Control lock held. */
void ur_netdevs_changed(struct ur_daemon *daemon);

#endif
