// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "util/os/map_shared.h"

int ur_map_shared(int fd, size_t bytes, int rights, void **map)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size != (off_t)bytes)
		return -EPROTO;
	p = mmap(NULL, bytes, rights, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*map = p;
	return 0;
}
