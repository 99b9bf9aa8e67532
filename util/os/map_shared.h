/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files in memory that two processes have mapped. */
#ifndef UR_UTIL_OS_MAP_SHARED_H
#define UR_UTIL_OS_MAP_SHARED_H

#include <stddef.h>

/* Maps a file of just so many bytes, shared, with rights of mmap(), in *map. Returns 0 or
 * -errno; -EPROTO: it has another size, as another release's may. Any thread. */
int ur_map_shared(int fd, size_t bytes, int rights, void **map);

#endif
