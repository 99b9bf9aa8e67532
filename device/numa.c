// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The NUMA node of a device. */
#include <stdio.h>
#include <stdlib.h>
#include "device/numa.h"

u32 ur_numa_node(const struct ur_device *dev)
{
	char path[64 + IF_NAMESIZE], text[16] = "";
	long node;
	FILE *f;

	if (dev->numa_node >= 0)
		return (u32)dev->numa_node;
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/numa_node",
		 dev->netdev);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		*text = '\0';
	if (f)
		fclose(f);
	node = strtol(text, NULL, 10);
	return node > 0 ? (u32)node : 0;
}
