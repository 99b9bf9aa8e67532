/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a file's rings and regions take from the daemon: mappings, of which a
 * process can have only so many (vm.max_map_count), addresses, and, for rings,
 * memory. One user has half of each at most. The engine makes them, and they
 * are counted when more are asked for, so a user may exceed his part by what
 * one command of each of his files makes. Control lock held.
 */
#ifndef UR_DEVICE_MAPS_H
#define UR_DEVICE_MAPS_H

#include "device/uverbs/ufile.h"

/* Returns whether the user has room for more rings. */
bool ur_rings_room(struct ur_ufile *file);
/* Returns whether the user has room for a mapped region of so many bytes. */
bool ur_region_room(struct ur_ufile *file, u64 bytes);
/* Gives back what was counted, at the end of the file. */
void ur_maps_close(struct ur_ufile *file);

#endif
