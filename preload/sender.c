// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The sending end of a completion channel, which an engine in the program takes while a queue uses
 * the channel. Here it is hidden like the twin of a file. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sender.h"
#include "preload/tunnel.h"

static void set_sender(struct ur_file *file, int fd)
{
	file->sender = fd;
	ur_fdmap_hide(fd, &file->sender_ino);
}

void ur_sender_set(struct ur_file *file, int fd)
{
	int up = ur_tunnel_raise(fd);

	set_sender(file, up < 0 ? fd : up);
}

int ur_sender_take(struct ur_file *file)
{
	int fd = -ENOENT;

	pthread_mutex_lock(&file->lock);
	if (ur_fdmap_keeps(file->sender, file->sender_ino)) {
		fd = file->sender;
		file->sender = -1;
		if (fd < UR_FDMAP_FDS)
			ur_fdmap_set_slot(fd, 0);
	}
	pthread_mutex_unlock(&file->lock);
	return fd;
}

void ur_sender_keep(struct ur_file *file, int rx, int tx, const void *engine)
{
	struct stat st;
	int fd;

	if (file->kind != UROCE_TUN_COMP || syscall(SYS_fstat, rx, &st) ||
	    st.st_dev != file->dev || st.st_ino != file->ino)
		return;
	pthread_mutex_lock(&file->lock);
	fd = file->sender < 0 ? (int)syscall(SYS_fcntl, tx, F_DUPFD_CLOEXEC, tx)
			      : -1;
	if (fd >= 0) {
		atomic_store(&file->engine_name, engine);
		set_sender(file, fd);
	}
	pthread_mutex_unlock(&file->lock);
}

static void end_sender(struct ur_file *file)
{
	pthread_mutex_lock(&file->lock);
	if (ur_fdmap_keeps(file->sender, file->sender_ino))
		syscall(SYS_shutdown, file->sender, SHUT_WR);
	pthread_mutex_unlock(&file->lock);
}

void ur_sender_end_all(const void *engine)
{
	uint32_t at = 0;
	struct ur_file *file;

	while ((file = ur_fdmap_next(&at))) {
		if (file->kind == UROCE_TUN_COMP &&
		    atomic_load(&file->engine_name) == engine)
			end_sender(file);
		ur_fdmap_put(file);
	}
}
