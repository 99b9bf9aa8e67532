/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tree of ordinary files under the run directory that programs see as
 * /sys/class/infiniband*, /sys/class/misc/rdma_cm and /dev/infiniband.
 */
#ifndef UR_DEVICE_TREE_SYSFS_H
#define UR_DEVICE_TREE_SYSFS_H

#include "device/device.h"

/* Removes what an earlier daemon left, and makes the part that all devices share. Returns 0
 * or -errno. */
int ur_sysfs_init(struct ur_daemon *daemon);
/* Removes the whole tree. */
void ur_sysfs_fini(struct ur_daemon *daemon);

/* Returns the first uverbs number that no real device has. */
u32 ur_sysfs_first_uverbs(const struct ur_daemon *daemon);
/* Return the device numbers (makedev) of the nodes. */
u64 ur_sysfs_uverbs_rdev(u32 uverbs);
u64 ur_sysfs_rdma_cm_rdev(void);
/* Returns whether a device of another owner has this name. */
bool ur_sysfs_name_taken(const struct ur_daemon *daemon, const char *name);
/* Makes all files of a device. Returns 0 or -errno. */
int ur_sysfs_add(struct ur_device *dev);
/* Removes all files of the device. */
void ur_sysfs_del(struct ur_device *dev);
/* Update the files of one GID entry, or those that depend on the link. They do nothing
 * before ur_sysfs_add(). */
void ur_sysfs_gid(struct ur_device *dev, u32 index);
void ur_sysfs_port(struct ur_device *dev);
/* Make and remove the files that name dev->netdev. Removal comes before a rename. */
void ur_sysfs_netdev(struct ur_device *dev);
void ur_sysfs_netdev_del(struct ur_device *dev);
/* Parts of ur_sysfs_add() and ur_sysfs_del(); errors as in tree.h. ur_sysfs_bus_add() makes the device on its
 * bus, with the empty folders of its classes; ur_sysfs_bus_del() removes the folders with
 * all that was put into them. */
void ur_sysfs_bus_add(struct ur_device *dev);
void ur_sysfs_bus_del(struct ur_device *dev);
/* Makes the folder of a class device: the folder itself below the device, and a link to it
 * in the class. Called before anything is put there. */
void ur_sysfs_class_add(const struct ur_device *dev, const char *class_name,
			const char *name);
/* Updates counters/ and hw_counters/. Returns 0 or -errno. */
int ur_sysfs_counters(struct ur_device *dev);
/* Make the counters' files and update them while counters change; end the updates. Parts of
 * ur_sysfs_add() and ur_sysfs_del(). */
int ur_sysfs_counters_add(struct ur_device *dev);
void ur_sysfs_counters_del(struct ur_device *dev);
/* Resumes the updates, after the engine has woken: counters may change. */
void ur_sysfs_counters_move(struct ur_device *dev);

#endif
