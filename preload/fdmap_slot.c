// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The slots of descriptor numbers: a file's or hidden. fdmap.c has the files. */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/fdmap.h"

_Atomic uint16_t ur_fdmap_slot[UR_FDMAP_FDS];

static _Atomic int fd_end; /* number beyond the highest ever tracked */

void ur_fdmap_set_slot(int fd, uint16_t value)
{
	int end = atomic_load(&fd_end);

	while (fd >= end &&
	       !atomic_compare_exchange_weak(&fd_end, &end, fd + 1))
		;
	atomic_store(&ur_fdmap_slot[fd], value);
}

int ur_fdmap_end(void)
{
	return atomic_load(&fd_end);
}

void ur_fdmap_closing(int fd)
{
	uint16_t value = atomic_load(&ur_fdmap_slot[fd]);

	/* Two threads may close it at once. A hidden number has all bits
	 * set. */
	while (value && !(value & UR_FDMAP_CLOSING) &&
	       !atomic_compare_exchange_weak(&ur_fdmap_slot[fd], &value,
					     value | UR_FDMAP_CLOSING))
		;
}

void ur_fdmap_hide(int fd, ino_t *ino)
{
	struct stat st;

	*ino = syscall(SYS_fstat, fd, &st) ? 0 : st.st_ino;
	/* Last, so that a hidden number always has its file. */
	if (fd < UR_FDMAP_FDS)
		ur_fdmap_set_slot(fd, UR_FDMAP_HIDDEN);
}

bool ur_fdmap_keeps(int fd, ino_t ino)
{
	struct stat st;

	return fd >= 0 && !syscall(SYS_fstat, fd, &st) && st.st_ino == ino &&
	       S_ISSOCK(st.st_mode);
}

void ur_fdmap_uncover(int fd)
{
	uint16_t hidden = UR_FDMAP_HIDDEN;

	if (fd < UR_FDMAP_FDS)
		atomic_compare_exchange_strong(&ur_fdmap_slot[fd], &hidden, 0);
}
