/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The kernel's RDMA paths lead into the tree that the device process keeps
 * under the run directory.
 *
 *   /sys/class/infiniband{,_verbs,_mad}   RUNDIR/sys/class/...
 *   /sys/class/misc/rdma_cm               RUNDIR/sys/class/misc/rdma_cm
 *   /sys/devices/pci7572:00               RUNDIR/sys/devices/pci7572:00
 *   /sys/bus/pci/devices/7572:*           RUNDIR/sys/bus/pci/devices/7572:*
 *   /sys/class/pci_bus/7572:*             RUNDIR/sys/class/pci_bus/7572:*
 *   /sys/kernel/config/rdma_cm            RUNDIR/sys/kernel/config/rdma_cm
 *   /sys/class/net/IF/ecn                 RUNDIR/sys/class/net/IF/ecn
 *   /dev/infiniband                       RUNDIR/dev/infiniband
 *   /sys/module/nvidia_peermem            RUNDIR/sys/module/..., also nv_peer_mem
 *   /sys/kernel/mm/memory_peers           RUNDIR/sys/kernel/mm/memory_peers
 *
 * A name that the tree does not have stays what it was, so that the kernel's
 * own devices remain in sight; where RUNDIR has a file `only` (`--only`), it is
 * one that does not exist. The last two are seen where the tree has them, and else nowhere.
 */
#ifndef UR_PRELOAD_REWRITE_H
#define UR_PRELOAD_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-abi/uroce-tunnel.h"

enum ur_path_what {
	UR_PATH_FOREIGN, /* not ours: use the name as given */
	UR_PATH_TREE,	 /* a file or directory of the tree */
	UR_PATH_NODE,	 /* a device node of ours: to be opened by tunnel */
};

struct ur_rewritten {
	/* The path for the real function, with dirfd. */
	const char *target;
	int dirfd;
	enum ur_path_what what;
	bool counter;		       /* a file of counters/ or hw_counters/ */
	uint32_t kind;		       /* node: enum uroce_tun_kind */
	char node[UROCE_TUN_NAME_MAX]; /* node: "uverbs0", "rdma_cm" */
	char buf[1024];
};

/* Does the work of ur_rewrite() for names that may be ours. */
void ur_rewrite_slow(struct ur_rewritten *path, int dirfd, const char *name);

/* Returns false for a name that cannot be ours, by its first letter. */
static inline bool ur_rewrite_maybe(const char *name)
{
	/* Ours begin with /sys /dev, the run directory, or, relative to "/" or
	 * to a directory of the tree, with s, d, u(verbs, mad) or r(dma_cm). */
	return name && (name[0] == '/' || name[0] == 's' || name[0] == 'd' ||
			name[0] == 'u' || name[0] == 'r');
}

/**
 * ur_rewrite() - what a path names
 * @dirfd: as in openat(2); AT_FDCWD where the call has none
 */
static inline void ur_rewrite(struct ur_rewritten *path, int dirfd,
			      const char *name)
{
	path->target = name;
	path->dirfd = dirfd;
	path->what = UR_PATH_FOREIGN;
	path->counter = false;
	if (ur_rewrite_maybe(name))
		ur_rewrite_slow(path, dirfd, name);
}

/* Evaluates a call in which path, a struct ur_rewritten, is what the name names. */
#define UR_REWRITTEN(dirfd, name, call)             \
	({                                          \
		struct ur_rewritten path;           \
                                                    \
		ur_rewrite(&path, (dirfd), (name)); \
		(call);                             \
	})

/* Does the same for the pattern of a glob(): where its first directory is ours,
 * the whole pattern is. */
void ur_rewrite_pattern(struct ur_rewritten *path, const char *pattern);

/* Returns the st_rdev of a node, from its placeholder file, or 0 where that
 * cannot be read. */
uint64_t ur_rewrite_node_rdev(const struct ur_rewritten *path);

/* Turns a name inside the tree back into the application's, in place: it
 * becomes shorter. Returns false for other names. */
bool ur_rewrite_back(char *name);

#endif
