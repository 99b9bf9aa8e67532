/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The watchers of devices' lives: netlink's listeners, rules of faults,
 * recorders. device.c calls them in the order in which they were added, and
 * includes none of them. Control lock held.
 */
#ifndef UR_DEVICE_WATCHER_H
#define UR_DEVICE_WATCHER_H

#include "device/device.h"

enum ur_device_change {
	UR_DEVICE_ADDED, /* it serves */
	UR_DEVICE_RENAMED,
	UR_DEVICE_NETDEV_RENAMED,
	UR_DEVICE_LEAVES, /* it is still on the daemon's list, and can send */
	UR_DEVICE_GONE,	  /* dev->gone; its GIDs, files and clients are there */
};

struct ur_device_watcher {
	struct ur_list node; /* of the daemon's */
	/* NULL: not interested. */
	void (*changed)(struct ur_device *dev, enum ur_device_change change);
	/* A work request of that queue pair failed. */
	void (*qp_failed)(struct ur_device *dev, u32 qpn);
};

/* Adds *watcher, which stays the caller's and must outlive the daemon's devices;
 * before the first device is made. */
void ur_device_watch(struct ur_daemon *daemon,
		     struct ur_device_watcher *watcher);

#endif
