/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tree of ordinary files under the run directory that programs see as
 * /sys/class/infiniband*, /sys/class/misc/rdma_cm and /dev/infiniband.
 */
#ifndef UR_DEVICE_TREE_SYSFS_H
#define UR_DEVICE_TREE_SYSFS_H

#include "device/device.h"

/* Removes whatever an earlier daemon left, and makes the part that all devices
 * share. Returns 0 or -errno. */
int ur_sysfs_init(struct ur_daemon *daemon);
/* Removes all of it. */
void ur_sysfs_fini(struct ur_daemon *daemon);

/* Returns the first uverbs number that no real device has. */
u32 ur_sysfs_first_uverbs(const struct ur_daemon *daemon);
/* Return the numbers (makedev) that the device nodes show. */
u64 ur_sysfs_uverbs_rdev(u32 uverbs);
u64 ur_sysfs_rdma_cm_rdev(void);
/* Returns whether there is a device of this name that is none of ours. */
bool ur_sysfs_name_taken(const struct ur_daemon *daemon, const char *name);
/* Makes all files of a device. Returns 0 or -errno. */
int ur_sysfs_add(struct ur_device *dev);
/* Removes them. */
void ur_sysfs_del(struct ur_device *dev);
/* Bring the files of one GID entry, or those that depend on the link, up to
 * date. They do nothing before ur_sysfs_add(). */
void ur_sysfs_gid(struct ur_device *dev, u32 index);
void ur_sysfs_port(struct ur_device *dev);
/* Makes the files that name dev->netdev; removes those that are under that
 * name, before it becomes another. */
void ur_sysfs_netdev(struct ur_device *dev);
void ur_sysfs_netdev_del(struct ur_device *dev);
/* The part of ur_sysfs_add() that is the device on its bus, with the folders of its
 * classes, still empty; that of ur_sysfs_del(), with all that was put into them. */
int ur_sysfs_bus_add(struct ur_device *dev);
void ur_sysfs_bus_del(struct ur_device *dev);
/* Makes the folder of something of the device's in a class of devices, as sysfs has
 * it: the folder in that of the device, and a link to it in the class's. To be called
 * before anything is put there. Returns 0 or -errno. */
int ur_sysfs_class_add(const struct ur_device *dev, const char *class_name,
		       const char *name);
/* Brings counters/ and hw_counters/ up to date. Returns 0 or -errno. */
int ur_sysfs_counters(struct ur_device *dev);
/* Makes them, and keeps them up to date while they move; ends that. Parts of
 * ur_sysfs_add() and ur_sysfs_del(). */
int ur_sysfs_counters_add(struct ur_device *dev);
void ur_sysfs_counters_del(struct ur_device *dev);
/* The engine has woken: counters may move from here on. */
void ur_sysfs_counters_move(struct ur_device *dev);

#endif
