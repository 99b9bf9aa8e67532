/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files in memory that two processes map. */
#ifndef UR_UTIL_OS_MAP_SHARED_H
#define UR_UTIL_OS_MAP_SHARED_H

#include <fcntl.h>
#include <stddef.h>

#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Creates a file of that many bytes, close-on-exec and under a high number if those are in use
 * (high_fd.h), maps it shared with rights of mmap(), and seals it with seals (F_SEAL_*, or 0). The
 * caller owns *fd and *map. Returns 0, or -errno with nothing created. Any thread. */
int ur_make_shared(const char *name, size_t bytes, int rights, int seals,
		   int *fd, void **map);
/* Maps a file of exactly that many bytes, shared, with rights of mmap(), as *map. Returns 0 or
 * -errno; -EPROTO for another size, as of another release. Any thread. */
int ur_map_shared(int fd, size_t bytes, int rights, void **map);
/* Returns a descriptor for processes that may only read the file, or -errno; -EOPNOTSUPP without
 * /proc. The file becomes private to its user, so that no other user can reopen it for writing. The
 * caller owns the descriptor. Any thread. */
int ur_open_to_read(int fd);

#endif
