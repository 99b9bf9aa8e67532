// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The part of the virtual tree that does not depend on a device, and links to the host's
 * own tree.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "device/tree/sysfs.h"
#include "device/tree/tree.h"
#include "kernel-abi/uroce-tunnel.h"

#define UVERBS_MAJOR	  231 /* the kernel's, IB_UVERBS_MAJOR */
#define UVERBS_BASE_MINOR 192
#define UVERBS_FIRST_MIXED \
	192 /* our first number if the host has real devices */
#define MISC_MAJOR	10
#define RDMA_CM_MINOR	58
#define UCMA_ABI	"4\n"
#define UVERBS_CORE_ABI "6\n"

u64 ur_sysfs_uverbs_rdev(u32 uverbs)
{
	return makedev(UVERBS_MAJOR, UVERBS_BASE_MINOR + uverbs);
}

u64 ur_sysfs_rdma_cm_rdev(void)
{
	return makedev(MISC_MAJOR, RDMA_CM_MINOR);
}

static void link_one(const struct ur_daemon *d, const char *dir,
		     const char *name)
{
	char path[PATH_MAX], target[PATH_MAX];

	if (snprintf(target, sizeof(target), "%s/%s", dir, name) >=
		    (int)sizeof(target) ||
	    snprintf(path, sizeof(path), "%s%s/%s", d->run_dir, dir, name) >=
		    (int)sizeof(path))
		return;
	if (symlink(target, path) < 0 && errno != EEXIST)
		ur_debug("cannot link %s", target);
}

/* Keeps real devices visible, by links to their entries. */
static void link_real(const struct ur_daemon *d, const char *dir)
{
	DIR *real = opendir(dir);
	struct dirent *e;

	if (!real)
		return;
	while ((e = readdir(real))) {
		if (e->d_name[0] != '.')
			link_one(d, dir, e->d_name);
	}
	closedir(real);
}

u32 ur_sysfs_first_uverbs(const struct ur_daemon *d)
{
	DIR *dir = d->only ? NULL : opendir("/sys/class/infiniband_verbs");
	struct dirent *e;
	bool real = false;

	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		real |= !strncmp(e->d_name, "uverbs", 6);
	closedir(dir);
	return real ? UVERBS_FIRST_MIXED : 0;
}

bool ur_sysfs_name_taken(const struct ur_daemon *d, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s",
		     d->run_dir, name) >= (int)sizeof(path))
		return true;
	return !lstat(path, &st);
}

static const char *const gpu_files[] = {"/sys/module",	  "nvidia_peermem",
					"/sys/module",	  "nv_peer_mem",
					"/sys/kernel/mm", "memory_peers"};

/* Links the host's peer memory files. Without the links the names do not exist
 * (preload/rewrite.h), since they are about cards that programs do not see. */
static void show_peermem(const struct ur_daemon *d)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(gpu_files); i += 2) {
		ur_tree_mkdir(d, "%s", gpu_files[i] + 1);
		link_one(d, gpu_files[i], gpu_files[i + 1]);
	}
}

static void make_dirs(const struct ur_daemon *d)
{
	ur_tree_mkdir(d, "sys/class/infiniband");
	ur_tree_mkdir(d, "sys/class/infiniband_verbs");
	if (d->umad_ops)
		ur_tree_mkdir(d, "sys/class/infiniband_mad");
	ur_tree_mkdir(d, "dev/infiniband");
	if (d->peermem || ur_sysfs_first_uverbs(d))
		show_peermem(d);
	if (d->only) {
		ur_tree_put(d, "", UROCE_TUN_ONLY);
		return;
	}
	link_real(d, "/sys/class/infiniband");
	link_real(d, "/sys/class/infiniband_verbs");
	if (d->umad_ops)
		link_real(d, "/sys/class/infiniband_mad");
	link_real(d, "/dev/infiniband");
}

static void make_files(const struct ur_daemon *d)
{
	char text[32];

	ur_tree_drop(d, "sys/class/infiniband_verbs/abi_version");
	ur_tree_put(d, UVERBS_CORE_ABI,
		    "sys/class/infiniband_verbs/abi_version");
	if (d->umad_ops)
		d->umad_ops->node_init(d);
	if (!d->file_ops[UROCE_TUN_RDMA_CM])
		return;
	ur_tree_drop(d, "dev/infiniband/rdma_cm");
	snprintf(text, sizeof(text), "%u:%u\n", MISC_MAJOR, RDMA_CM_MINOR);
	ur_tree_mkdir(d, "sys/class/misc/rdma_cm");
	ur_tree_mkdir(d, "sys/kernel/config/rdma_cm");
	ur_tree_put(d, text, "sys/class/misc/rdma_cm/dev");
	ur_tree_put(d, UCMA_ABI, "sys/class/misc/rdma_cm/abi_version");
	ur_tree_put(d, text, "dev/infiniband/rdma_cm");
}

int ur_sysfs_init(struct ur_daemon *d)
{
	ur_sysfs_fini(d);
	make_dirs(d);
	make_files(d);
	return ur_tree_error();
}

void ur_sysfs_fini(struct ur_daemon *d)
{
	ur_tree_drop_all(d, "sys");
	ur_tree_drop_all(d, "dev");
	ur_tree_drop(d, UROCE_TUN_ONLY);
}
