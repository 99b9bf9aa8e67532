/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a file's rings and regions take of the daemon's own: mappings, of which
 * the system lets a process have so many (vm.max_map_count), addresses, and for
 * rings memory. Each is half of one user's at most. The engine makes them; they
 * are counted when more are asked for, so a user may exceed his part by what
 * one command of each of his files makes. Control lock held.
 */
#ifndef UR_DEVICE_MAPS_H
#define UR_DEVICE_MAPS_H

#include "device/uverbs/ufile.h"

/* Has the user room for more rings? */
bool ur_rings_room(struct ur_ufile *file);
/* For a mapped region of as many bytes? */
bool ur_region_room(struct ur_ufile *file, u64 bytes);
/* At the end of the file. */
void ur_maps_close(struct ur_ufile *file);

#endif
