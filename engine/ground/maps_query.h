/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request PROCMAP_QUERY for /proc/PID/maps (Linux 6.11): <linux/fs.h> of older systems does not have it. */
#ifndef UR_ENGINE_GROUND_MAPS_QUERY_H
#define UR_ENGINE_GROUND_MAPS_QUERY_H

#include <errno.h>
#include <sys/ioctl.h>
#include "util/bytes.h"

struct ur_maps_query {
	u64 size;
	u64 flags; /* what the mapping must have */
	u64 addr;
	u64 start, end; /* of the mapping found */
	u64 has, page_size, offset, inode;
	u32 dev_major, dev_minor;
	u32 name_size, build_id_size;
	u64 name_addr, build_id_addr;
};

#define UR_MAPS_READABLE   1u
#define UR_MAPS_WRITABLE   2u
#define UR_MAPS_EXECUTABLE 4u
#define UR_MAPS_SHARED	   8u

/* Sends the request q by maps, and fills *q. Returns 0, -ENOENT (no such mapping), -ENOTTY (an older kernel) or another
 * -errno. */
static inline int ur_maps_ask(int maps, struct ur_maps_query *q)
{
	return ioctl(maps, _IOWR('f', 17, struct ur_maps_query), q) ? -errno
								    : 0;
}

#endif
