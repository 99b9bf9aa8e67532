/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The properties that a device takes from its netdev. device.h has the reactions to a
 * change that netlink reports. */
#ifndef UR_DEVICE_NETDEV_H
#define UR_DEVICE_NETDEV_H

#include "device/device.h"

/* Returns the active MTU, in bytes, of a port on a netdev with that MTU. */
u32 ur_netdev_mtu(u32 netdev_mtu);
/* Returns the EUI-64 of the netdev's MAC, or, without one (lo, tun), a number
 * that is stable for this machine and name. */
u64 ur_netdev_guid(const struct ur_device *dev);
/* Waits for a second at most until all addresses have their UDP port: sockets of an earlier
 * uroced are closed some time after its end. Control lock held, before uroced serves. */
void ur_netdev_wait_for_ports(struct ur_daemon *daemon);
/* Notifies files and programs if the port's state has changed. was: it was active before.
 * Control lock held. */
void ur_netdev_port_changed(struct ur_device *dev, bool was);
/* Updates all devices from their netdevs, after netlink reported a change. Control lock
 * held. */
void ur_netdevs_changed(struct ur_daemon *daemon);

#endif
