/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses and link of the netdevs, from the kernel's rtnetlink, live. */
#ifndef UR_DEVICE_NETLINK_H
#define UR_DEVICE_NETLINK_H

#include "device/device.h"

/* Opens the two sockets. changed: called with the control lock held when any
 * link or address has changed. Returns 0 or -errno. */
int ur_netlink_open(struct ur_daemon *daemon,
		    void (*changed)(struct ur_daemon *daemon));
/* Closes them. */
void ur_netlink_close(struct ur_daemon *daemon);
/* Fills name with the netdev of the default route (IPv4, else IPv6), else
 * "lo". */
void ur_netlink_default_netdev(struct ur_daemon *daemon,
			       char name[IF_NAMESIZE]);
/* Fills link_name, ifindex, mac, up, netdev_mtu and speed of dev: of the netdev
 * whose index it follows, whatever that is called now; where that one is gone, or
 * there was none, of the one with its name, unless another device follows it.
 * Returns 0, or -ENODEV where there is no such netdev. */
int ur_netlink_link(struct ur_device *dev);
/* Fills addr with at most max addresses that can be used as GIDs. Returns how
 * many. */
u32 ur_netlink_addrs(struct ur_device *dev, struct ur_gid_addr *addr, u32 max);

#endif
