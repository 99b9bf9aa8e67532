/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses and link state of the netdevs, from rtnetlink. */
#ifndef UR_DEVICE_NETLINK_H
#define UR_DEVICE_NETLINK_H

#include "device/device.h"

/* Opens the sockets for events and queries. changed is called, with the control lock held,
 * after any change of a link or address. Returns 0 or -errno. */
int ur_netlink_open(struct ur_daemon *daemon,
		    void (*changed)(struct ur_daemon *daemon));
/* Closes them. */
void ur_netlink_close(struct ur_daemon *daemon);
/* Fills name with the netdev of the default route (IPv4, else IPv6), else
 * "lo". */
void ur_netlink_default_netdev(struct ur_daemon *daemon,
			       char name[IF_NAMESIZE]);
/* Fills link_name, ifindex, mac, up, netdev_mtu and speed of dev. The netdev is the one
 * with index dev->follows, whatever its name; if there is none, the one named dev->netdev,
 * unless another device follows it. Returns 0, or -ENODEV without such a netdev. */
int ur_netlink_link(struct ur_device *dev);
/* Fills addr with at most max addresses that can be GIDs. Returns their number. */
u32 ur_netlink_addrs(struct ur_device *dev, struct ur_gid_addr *addr, u32 max);

#endif
