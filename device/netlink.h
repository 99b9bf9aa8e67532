/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses and link of the netdevs, from the kernel's rtnetlink, live. */
#ifndef UR_DEVICE_NETLINK_H
#define UR_DEVICE_NETLINK_H

#include "device/device.h"

/* changed: called with the control lock held when a link or an address has
 * changed, whichever. */
int ur_netlink_open(struct ur_daemon *daemon,
		    void (*changed)(struct ur_daemon *daemon));
void ur_netlink_close(struct ur_daemon *daemon);
/* Name of the default route's netdev (IPv4, else IPv6), else "lo". */
void ur_netlink_default_netdev(struct ur_daemon *daemon,
			       char name[IF_NAMESIZE]);
/* Fill ifindex, mac, up, netdev_mtu, speed. -ENODEV. */
int ur_netlink_link(struct ur_device *dev);
/* At most max addresses that can be used as GIDs; returns how many. */
u32 ur_netlink_addrs(struct ur_device *dev, struct ur_gid_addr *addr, u32 max);

#endif
