/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tree of ordinary files under the run directory that programs see as
 * /sys/class/infiniband*, /sys/class/misc/rdma_cm and /dev/infiniband.
 */
#ifndef UR_DEVICE_SYSFS_H
#define UR_DEVICE_SYSFS_H

#include "device/device.h"

/* Remove whatever an earlier process left and make the common part. */
int ur_sysfs_init(struct ur_daemon *daemon);
void ur_sysfs_fini(struct ur_daemon *daemon);

/* The first uverbs number that no real device has. */
u32 ur_sysfs_first_uverbs(const struct ur_daemon *daemon);
/* The numbers (makedev) that the device nodes show. */
u64 ur_sysfs_uverbs_rdev(u32 uverbs);
u64 ur_sysfs_rdma_cm_rdev(void);
/* A device of this name is there that is none of ours. */
bool ur_sysfs_name_taken(const struct ur_daemon *daemon, const char *name);
/* All files of a device: made, 0 or -errno; and gone. */
int ur_sysfs_add(struct ur_device *dev);
void ur_sysfs_del(struct ur_device *dev);
/* One GID entry, or what the link decides, has changed. No-op before add. */
void ur_sysfs_gid(struct ur_device *dev, u32 index);
void ur_sysfs_port(struct ur_device *dev);
/* Bring counters/ and hw_counters/ up to date. 0 or -errno. */
int ur_sysfs_counters(struct ur_device *dev);

#endif
