// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the device write the counter files before a program reads them, over
 * one connection that the process keeps.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/fdmap.h"
#include "preload/tunnel.h"

static int sync_over(int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int fds[UROCE_TUN_MAX_FDS], err;

	err = ur_tunnel_send(sock, &msg, -1);
	if (!err)
		err = ur_tunnel_recv(sock, &msg, fds);
	return err;
}

static struct ur_file *connect_for_sync(void)
{
	int sock = ur_tunnel_connect();
	struct ur_file *file;

	if (sock < 0)
		return NULL;
	file = ur_fdmap_new(0, sock);
	if (!file) {
		syscall(SYS_close, sock);
		return NULL;
	}
	ur_fdmap_keep(file);
	ur_fdmap_put(file);
	return file;
}

void ur_tunnel_sync(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct ur_file *cached;
	struct ur_file *file;
	int saved = errno, err;

	if (ur_fdmap_borrowed())
		return;
	/* One connection serves a process that reads many counters. A thread
	 * that finds it busy (or locked for ever, in a forked child) makes its
	 * own. */
	if (pthread_mutex_trylock(&lock)) {
		file = connect_for_sync();
		if (file) {
			sync_over(file->sock);
			ur_fdmap_unkeep(file);
		}
		errno = saved;
		return;
	}
	if (cached && cached->generation != ur_fdmap_generation()) {
		ur_fdmap_unkeep(cached);
		cached = NULL;
	}
	for (int tries = 0; tries < 2; tries++) {
		if (!cached)
			cached = connect_for_sync();
		if (!cached)
			break;
		pthread_mutex_lock(&cached->lock);
		err = sync_over(cached->sock);
		pthread_mutex_unlock(&cached->lock);
		if (!err)
			break;
		ur_fdmap_unkeep(cached);
		cached = NULL;
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
}
