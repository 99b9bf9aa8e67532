/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Observers of devices: netlink listeners, fault rules, recorders. device.c calls them in
 * the order of registration, and includes none of them. Control lock held.
 */
#ifndef UR_DEVICE_WATCHER_H
#define UR_DEVICE_WATCHER_H

#include "device/device.h"

enum ur_device_change {
	UR_DEVICE_ADDED, /* it serves */
	UR_DEVICE_RENAMED,
	UR_DEVICE_NETDEV_RENAMED,
	UR_DEVICE_LEAVES, /* still on the daemon's list, can send */
	UR_DEVICE_GONE,	  /* dev->gone; GIDs, files and clients still exist */
};

struct ur_device_watcher {
	struct ur_list node; /* of the daemon's */
	void (*changed)(struct ur_device *dev, enum ur_device_change change);
};

/* Adds *watcher, which stays the caller's and must outlive the daemon's devices. Called
 * before the first device is made. */
void ur_device_watch(struct ur_daemon *daemon,
		     struct ur_device_watcher *watcher);

#endif
