/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The GID table of a port: a RoCEv2 entry for each address of the netdev, and a RoCEv1
 * entry where that is enabled. An entry keeps its index as long as its address lives; a new
 * one takes the lowest free index, as in the kernel's table.
 */
#ifndef UR_DEVICE_GID_TABLE_H
#define UR_DEVICE_GID_TABLE_H

#include "engine/engine.h"
#include "engine/ground/loop.h"

#define UR_GID_MAX 256

struct ur_gid {
	bool valid;
	enum ur_gid_type type;
	u8 gid[16];
	u32 ifindex;
	bool seen; /* set during ur_gid_sync() */
	/* the netdev has the address, but the wire failed to bind it */
	bool refused;
	bool taken; /* refused because another program has the UDP port */
};

struct ur_device;

struct ur_gid_table {
	struct ur_gid entry[UR_GID_MAX];
	struct ur_loop_timer retry; /* retries refused entries */
};

/* One address as a GID, with its rank: lower ranks get lower indices. */
struct ur_gid_addr {
	u8 gid[16];
	enum ur_gid_type type;
	u32 ifindex;
	int rank;
};

/* Returns whether all bytes are zero. */
bool ur_gid_is_zero(const u8 gid[16]);
/* Formats the GID as sysfs does: "xxxx:xxxx:...", 39 characters and the NUL. */
void ur_gid_print(char buf[40], const u8 gid[16]);

/* Makes the table equal to the n addresses, which are sorted by rank in place. Reports each
 * difference to engine, sysfs and clients. Returns the number of changes. */
u32 ur_gid_sync(struct ur_device *dev, struct ur_gid_addr *addr, u32 n);
/* Returns the valid entry with that index, or NULL. */
const struct ur_gid *ur_gid_get(const struct ur_device *dev, u32 index);
/* Returns the index of gid with that type, or -1. */
int ur_gid_find(const struct ur_device *dev, const u8 gid[16],
		enum ur_gid_type type);
/* Returns the number of valid entries. */
u32 ur_gid_count(const struct ur_device *dev);
/* Returns whether another program has the UDP port of an address of the netdev. */
bool ur_gid_any_taken(const struct ur_device *dev);

#endif
