/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A device as options and commands ask for it. */
#ifndef UR_DEVICE_SPEC_H
#define UR_DEVICE_SPEC_H

#include <net/if.h>
#include "device/options.h"

/* The kernel has no more NUMA nodes (MAX_NUMNODES). */
#define UR_NODE_MAX 1023

struct ur_device_spec {
	char netdev[IF_NAMESIZE];
	char name[UR_DEVICE_NAME_MAX]; /* empty: as it comes */
	int node;		       /* NUMA; -1: as it comes */
};

/* Reads "NETDEV [NAME] [node=N]". Returns 0, -ENODEV (no netdev can be called that)
 * or -EINVAL. */
int ur_device_spec_read(const char *words, struct ur_device_spec *ret);
/* Reads the number of a NUMA node. Returns it, or -EINVAL. */
int ur_device_spec_node(const char *text);

#endif
