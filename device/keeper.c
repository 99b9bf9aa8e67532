// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds or starts the keeper, and ends it. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "device/fork_apart.h"
#include "device/keeper.h"
#include "device/keeper_store.h"
#include "device/listen.h"
#include "device/options.h"
#include "engine/engine.h"
#include "engine/ground/keep.h"
#include "util/os/peer_user.h"

#define SOCKET_NAME "keeper"
/* Uroceds that were killed may be before us at its socket. */
#define CONNECT_S 60

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Connects to a running keeper. Returns 0, -ETIMEDOUT (there is one that does not reply), or another error: there is none. In
 * a shared directory the socket may be another user's. */
static int find(const struct sockaddr_un *sun)
{
	const struct timeval most = {.tv_sec = CONNECT_S};
	int fd = open_socket(), err = 0;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) < 0)
		err = errno == EAGAIN ? -ETIMEDOUT : -errno;
	else if (!ur_peer_is_own_user(fd))
		err = -EPERM;
	if (!err)
		return ur_keep_begin(fd);
	close(fd);
	return err;
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
	pid = ur_fork_apart();
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

int ur_keeper_start(struct ur_daemon *daemon)
{
	struct sockaddr_un sun;
	int err;

	if (ur_keeper_store_begin())
		return 0;
	err = ur_listen_address(daemon, SOCKET_NAME, &sun);
	if (!err) {
		err = find(&sun);
		if (!err)
			ur_debug("the keeper of an earlier uroced serves on");
		if (!err || err == -ETIMEDOUT)
			return err;
		err = start_keeper(daemon, &sun);
	}
	if (err)
		ur_log("no keeper: %s: connections end with this process",
		       strerror(-err));
	return 0;
}

void ur_keeper_stop(struct ur_daemon *daemon)
{
	struct sockaddr_un sun;

	ur_keep_end();
	if (daemon->lock_fd >= 0 &&
	    !ur_listen_address(daemon, SOCKET_NAME, &sun))
		unlink(sun.sun_path);
}
