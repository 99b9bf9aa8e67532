// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The umad node of a device and its sysfs files. There is no issmN: in the kernel only
 * ports with a QP0 have one, which Ethernet ports lack.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "device/tree/sysfs.h"
#include "device/tree/tree.h"
#include "device/umad/umad.h"

#define UMAD_ABI   "5\n"
#define UMAD_MAJOR 231 /* the kernel's, IB_UMAD_MAJOR; minors from 0 */
/* Our first number if the host has real devices, beyond theirs. libibumad scans 64. */
#define UMAD_FIRST_MIXED 32

#define CLASS "sys/class/infiniband_mad/umad%u"

u64 umad_rdev(u32 umad)
{
	return makedev(UMAD_MAJOR, umad);
}

u32 umad_first(const struct ur_daemon *d)
{
	DIR *dir = d->only ? NULL : opendir("/sys/class/infiniband_mad");
	struct dirent *e;
	bool real = false;

	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		real |= !strncmp(e->d_name, "umad", 4);
	closedir(dir);
	return real ? UMAD_FIRST_MIXED : 0;
}

void umad_node_init(const struct ur_daemon *d)
{
	ur_tree_drop(d, "sys/class/infiniband_mad/abi_version");
	ur_tree_put(d, UMAD_ABI, "sys/class/infiniband_mad/abi_version");
}

void umad_node_add(struct ur_device *dev)
{
	struct ur_daemon *d = dev->daemon;
	char path[128], name[UR_DEVICE_NAME_MAX + 1], devno[32];

	snprintf(name, sizeof(name), "%s\n", dev->name);
	snprintf(devno, sizeof(devno), "%u:%u\n", UMAD_MAJOR, dev->umad);
	snprintf(path, sizeof(path), "umad%u", dev->umad);
	ur_sysfs_class_add(dev, "infiniband_mad", path);
	ur_tree_put(d, name, CLASS "/ibdev", dev->umad);
	ur_tree_put(d, "1\n", CLASS "/port", dev->umad);
	ur_tree_put(d, devno, CLASS "/dev", dev->umad);
	/* The preload library's access() lets a user open umad if the user may
	 * write this file. */
	ur_tree_put_setting(d, devno, "dev/infiniband/umad%u", dev->umad);
}

void umad_node_del(struct ur_device *dev)
{
	ur_tree_drop(dev->daemon, "dev/infiniband/umad%u", dev->umad);
	ur_tree_drop(dev->daemon, CLASS, dev->umad);
}
