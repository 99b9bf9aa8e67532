// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds or starts the keeper, and ends it. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "device/keeper.h"
#include "device/keeper_store.h"
#include "device/listen.h"
#include "device/options.h"
#include "engine/engine.h"
#include "engine/ground/keep.h"
#include "util/os/peer_user.h"

#define SOCKET_NAME "keeper"

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Connects to a running keeper. Returns false if there is none. In a shared directory the
 * socket may be another user's. */
static bool find(const struct sockaddr_un *sun)
{
	int fd = open_socket();

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) < 0 ||
	    !ur_peer_is_own_user(fd)) {
		close(fd);
		return false;
	}
	return !ur_keep_begin(fd);
}

static int listen_at(const struct sockaddr_un *sun)
{
	int fd = open_socket(), err;

	if (fd < 0)
		return fd;
	unlink(sun->sun_path);
	if (!bind(fd, (const struct sockaddr *)sun, sizeof(*sun)) &&
	    !chmod(sun->sun_path, S_IRUSR | S_IWUSR) && !listen(fd, 1))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int start_keeper(const struct ur_daemon *daemon,
			const struct sockaddr_un *sun)
{
	int pair[2], err = 0, listener = listen_at(sun);
	pid_t pid;

	if (listener < 0)
		return listener;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		err = -errno;
		close(listener);
		return err;
	}
	pid = fork();
	if (!pid)
		ur_keeper_serve(pair[1], listener, daemon);
	if (pid < 0)
		err = -errno;
	close(pair[1]);
	close(listener);
	if (!err)
		return ur_keep_begin(pair[0]);
	close(pair[0]);
	return err;
}

void ur_keeper_start(struct ur_daemon *daemon)
{
	struct sockaddr_un sun;
	int err;

	if (ur_keeper_store_begin())
		return;
	err = ur_listen_address(daemon, SOCKET_NAME, &sun);
	if (!err && find(&sun)) {
		ur_debug("the keeper of an earlier uroced serves on");
		return;
	}
	if (!err)
		err = start_keeper(daemon, &sun);
	if (err)
		ur_log("no keeper: %s: connections end with this process",
		       strerror(-err));
}

void ur_keeper_stop(struct ur_daemon *daemon)
{
	struct sockaddr_un sun;

	ur_keep_end();
	if (daemon->lock_fd >= 0 &&
	    !ur_listen_address(daemon, SOCKET_NAME, &sun))
		unlink(sun.sun_path);
}
