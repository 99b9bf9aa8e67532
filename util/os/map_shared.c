// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/high_fd.h"
#include "util/os/map_shared.h"

int ur_make_shared(const char *name, size_t bytes, int rights, int seals,
		   int *fd, void **map)
{
	int made = ur_high_fd(memfd_create(
		name, MFD_CLOEXEC | (seals ? MFD_ALLOW_SEALING : 0u)));
	void *p = MAP_FAILED;
	int err;

	if (made < 0)
		return -errno;
	if (!ftruncate(made, (off_t)bytes))
		p = mmap(NULL, bytes, rights, MAP_SHARED, made, 0);
	if (p != MAP_FAILED && (!seals || !fcntl(made, F_ADD_SEALS, seals))) {
		*fd = made;
		*map = p;
		return 0;
	}
	err = -errno;
	if (p != MAP_FAILED)
		munmap(p, bytes);
	close(made);
	return err;
}

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

int ur_open_to_read(int fd)
{
	char path[40];
	int ro;

	if (fchmod(fd, S_IRUSR | S_IWUSR) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY | O_CLOEXEC);
	return ro < 0 ? -EOPNOTSUPP : ro;
}
