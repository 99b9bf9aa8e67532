/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The specification of a device in options and commands. */
#ifndef UR_DEVICE_SPEC_H
#define UR_DEVICE_SPEC_H

#include <net/if.h>
#include "device/options.h"

/* The kernel has no more NUMA nodes (MAX_NUMNODES). */
#define UR_NODE_MAX 1023

struct ur_device_spec {
	char netdev[IF_NAMESIZE];
	char name[UR_DEVICE_NAME_MAX]; /* empty: the default */
	int node;		       /* NUMA; -1: the default */
};

/* Parses "NETDEV [NAME] [node=N]". Returns 0, -ENODEV (not a name for a netdev) or -EINVAL. */
int ur_device_spec_read(const char *words, struct ur_device_spec *ret);
/* Parses the number of a NUMA node. Returns it, or -EINVAL. */
int ur_device_spec_node(const char *text);

#endif
