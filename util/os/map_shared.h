/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files in memory that two processes have mapped. */
#ifndef UR_UTIL_OS_MAP_SHARED_H
#define UR_UTIL_OS_MAP_SHARED_H

#include <fcntl.h>
#include <stddef.h>

#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Makes a file of so many bytes, close-on-exec and under a high number where those are
 * wanted (high_fd.h), maps it, shared, with rights of mmap(), and then seals it: F_SEAL_*,
 * or 0. The descriptor in *fd and the memory in *map are the caller's. Returns 0 or -errno,
 * and then has made nothing. Any thread. */
int ur_make_shared(const char *name, size_t bytes, int rights, int seals,
		   int *fd, void **map);
/* Maps a file of just so many bytes, shared, with rights of mmap(), in *map. Returns 0 or
 * -errno; -EPROTO: it has another size, as another release's may. Any thread. */
int ur_map_shared(int fd, size_t bytes, int rights, void **map);
/* Returns a descriptor of the file for others who are to read it, the caller's, or -errno;
 * -EOPNOTSUPP: there is no /proc. The file is its user's alone from now on, so that
 * another user cannot open it anew to write. Any thread. */
int ur_open_to_read(int fd);

#endif
