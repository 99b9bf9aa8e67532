// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The keeper is found, or started, and ended. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "device/keeper.h"
#include "device/options.h"
#include "engine/engine.h"
#include "engine/ground/keep.h"

#define SOCKET_NAME "keeper"

static int address_of(const struct ur_daemon *daemon, struct sockaddr_un *sun)
{
	int n;

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	n = snprintf(sun->sun_path, sizeof(sun->sun_path), "%s/%s",
		     daemon->run_dir, SOCKET_NAME);
	return n < (int)sizeof(sun->sun_path) ? 0 : -ENAMETOOLONG;
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Another user's may lie there where a directory is not ours alone. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       peer.uid == geteuid();
}

/* Returns whether there is one, and it serves us now. */
static bool find(const struct sockaddr_un *sun)
{
	int fd = open_socket();

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) < 0 ||
	    !is_ours(fd)) {
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
		ur_keeper_serve(pair[1], listener, daemon->run_dir);
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
	int err = address_of(daemon, &sun);

	if (!err && find(&sun)) {
		ur_debug("the keeper of an earlier uroced serves on");
		return;
	}
	if (!ur_engine_may_lend(daemon->engine_options))
		return;
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
	if (daemon->lock_fd >= 0 && !address_of(daemon, &sun))
		unlink(sun.sun_path);
}
