/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file's rings and regions take from the daemon: mappings, of which a process
 * can have only so many (vm.max_map_count), addresses, and memory. One user has
 * half of each at most.
 *
 * Memory is charged (device/memory.h) before it is taken: a ring's, and all of
 * a region that is mapped here. Its file is the client's, but any page that is
 * not there when we touch it becomes ours, and the client can take pages out at
 * any time. The rest is counted when more is asked for, so that a user may
 * exceed his part of it by what one command of each of his files makes.
 *
 * Control lock held, but for ur_maps_settle().
 */
#ifndef UR_DEVICE_UVERBS_MAPS_H
#define UR_DEVICE_UVERBS_MAPS_H

#include "device/uverbs/ufile.h"

/* Begins to charge the file, whose context has just been made. */
void ur_maps_open(struct ur_ufile *file);
/* Returns whether the user has room for more rings. Their memory is asked for
 * when it is taken. */
bool ur_rings_room(struct ur_ufile *file);
/* Returns whether the user has room for a mapped region of so many bytes, and
 * charges it. ur_maps_settle() gives back what was not needed. */
bool ur_region_room(struct ur_ufile *file, u64 bytes);
/* Charges, after a command, what there is. Lock not held. */
void ur_maps_settle(struct ur_ufile *file);
/* Gives back what was counted, at the end of the file. */
void ur_maps_close(struct ur_ufile *file);

#endif
