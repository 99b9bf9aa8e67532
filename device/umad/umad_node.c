// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The umad node of a device and what sysfs says of it. There is no issmN: the
 * kernel has that only of ports with a QP0, which Ethernet's have not.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "device/tree/tree.h"
#include "device/umad/umad.h"

#define UMAD_ABI   "5\n"
#define UMAD_MAJOR 231 /* the kernel's, IB_UMAD_MAJOR; minors from 0 */
/* Our numbers where the host has real devices, out of their way. libibumad
 * looks at 64. */
#define UMAD_FIRST_MIXED 32

#define CLASS  "sys/class/infiniband_mad/umad%u"
#define DEVICE "sys/class/infiniband/%s/device/infiniband_mad/umad%u"

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

int umad_node_init(const struct ur_daemon *d)
{
	ur_tree_drop(d, "sys/class/infiniband_mad/abi_version");
	return ur_tree_put(d, UMAD_ABI, "sys/class/infiniband_mad/abi_version");
}

static int put_files(struct ur_device *dev, const char *dir, const char *devno)
{
	struct ur_daemon *d = dev->daemon;
	char name[UR_DEVICE_NAME_MAX + 1];
	int err = ur_tree_mkdir(d, "%s", dir);

	snprintf(name, sizeof(name), "%s\n", dev->name);
	if (!err)
		err = ur_tree_put(d, name, "%s/ibdev", dir);
	if (!err)
		err = ur_tree_put(d, "1\n", "%s/port", dir);
	if (!err)
		err = ur_tree_put(d, devno, "%s/dev", dir);
	return err;
}

int umad_node_add(struct ur_device *dev)
{
	char dir[128], devno[32];
	int err;

	snprintf(devno, sizeof(devno), "%u:%u\n", UMAD_MAJOR, dev->umad);
	snprintf(dir, sizeof(dir), CLASS, dev->umad);
	err = put_files(dev, dir, devno);
	snprintf(dir, sizeof(dir), DEVICE, dev->name, dev->umad);
	if (!err)
		err = put_files(dev, dir, devno);
	if (!err)
		/* A user who may write to it may open umad: access() of the
		 * preload library. */
		err = ur_tree_put_setting(dev->daemon, devno,
					  "dev/infiniband/umad%u", dev->umad);
	return err;
}

void umad_node_del(struct ur_device *dev)
{
	ur_tree_drop(dev->daemon, "dev/infiniband/umad%u", dev->umad);
	ur_tree_bury(dev->daemon, CLASS, dev->umad);
}
