// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The sending end of a completion channel, which an engine in the program needs with the channel's first queue. It is
 * as hidden as the twin of a file. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sender.h"
#include "preload/tunnel.h"

void ur_sender_set(struct ur_file *file, int fd)
{
	int up = ur_tunnel_raise(fd);
	struct stat st;

	file->sender = up < 0 ? fd : up;
	if (!syscall(SYS_fstat, file->sender, &st))
		file->sender_ino = st.st_ino;
	if (file->sender < UR_FDMAP_FDS)
		ur_fdmap_set_slot(file->sender, UR_FDMAP_HIDDEN);
}

int ur_sender_copy(struct ur_file *file)
{
	int fd = -ENOENT;

	pthread_mutex_lock(&file->lock);
	if (ur_sender_is_there(file)) {
		fd = (int)syscall(SYS_fcntl, file->sender, F_DUPFD_CLOEXEC,
				  file->sender);
		if (fd < 0)
			fd = (int)syscall(SYS_fcntl, file->sender,
					  F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			fd = -errno;
	}
	pthread_mutex_unlock(&file->lock);
	return fd;
}
