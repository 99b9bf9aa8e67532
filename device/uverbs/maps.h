/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The resources that a file's regions and device memory take from the daemon: mappings, of which a
 * process can have only so many (vm.max_map_count), address space, and memory. One user
 * gets at most half of each.
 *
 * Memory is charged (device/memory.h) before it is used: the whole size of a mapped region. The region's file is the client's, but any page that is missing when
 * we touch it becomes ours, and the client can remove pages at any time. Mappings and
 * address space are counted when more is requested, so a user may exceed the quota by what
 * one command of each file makes.
 *
 * Control lock held, except in ur_maps_settle().
 */
#ifndef UR_DEVICE_UVERBS_MAPS_H
#define UR_DEVICE_UVERBS_MAPS_H

#include "device/uverbs/ufile.h"

/* Starts charging the file, whose context has just been made. */
void ur_maps_open(struct ur_ufile *file);
/* Charges the user for a mapped region of bytes. Returns false if that exceeds the quota.
 * ur_maps_settle() gives back what was not needed. */
bool ur_region_room(struct ur_ufile *file, u64 bytes);
/* Adjusts the charges, after a command, to what the context has. Lock not held. */
void ur_maps_settle(struct ur_ufile *file);
/* Gives back all charges, at the end of the file. */
void ur_maps_close(struct ur_ufile *file);

#endif
