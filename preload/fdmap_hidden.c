// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The numbers of hidden twins, which the application does not know and may
 * request or close. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/fdmap.h"
#include "preload/tunnel.h"

int ur_fdmap_evict(int fd)
{
	struct ur_file *file = ur_fdmap_find_hidden(fd);
	int moved, err = 0;

	if (!file)
		return 0;
	pthread_mutex_lock(&file->lock);
	moved = ur_tunnel_raise(fd);
	if (moved < 0) {
		err = moved;
	} else {
		if (file->sock == fd)
			file->sock = moved;
		else
			file->sender = moved;
		if (moved < UR_FDMAP_FDS)
			ur_fdmap_set_slot(moved, UR_FDMAP_HIDDEN);
		ur_fdmap_uncover(fd);
	}
	pthread_mutex_unlock(&file->lock);
	ur_fdmap_put(file);
	return err;
}

void ur_fdmap_replace(struct ur_file *file, int sock)
{
	int old = file->sock;
	ino_t old_ino = file->sock_ino;

	file->sock = sock;
	ur_fdmap_hide(sock, &file->sock_ino);
	ur_fdmap_close_hidden(old, old_ino);
}

static int close_but_hidden(unsigned int first, unsigned int last,
			    unsigned int end, int flags)
{
	unsigned int start = first;

	for (unsigned int fd = first; fd < end && fd <= last; fd++) {
		if (!ur_fdmap_is_kept((int)fd))
			continue;
		if (fd > start &&
		    syscall(SYS_close_range, start, fd - 1, flags))
			return -1;
		start = fd + 1;
	}
	if (start > last)
		return 0;
	return (int)syscall(SYS_close_range, start, last, flags);
}

int ur_fdmap_close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int end = (unsigned int)ur_fdmap_end(), fd;
	int ret;

	for (fd = first; fd < end && fd <= last; fd++)
		ur_fdmap_closing((int)fd);
	ret = close_but_hidden(first, last, end, flags);
	for (fd = first; !ret && fd < end && fd <= last; fd++)
		ur_fdmap_closed((int)fd);
	return ret;
}
