// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The socket in the run directory. This process holds the directory's lock (run_lock.h), so
 * any socket found there belonged to a dead process and may be removed. */
#include <errno.h>
#include <grp.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "device/listen.h"
#include "device/reaper.h"
#include "device/serve.h"

/* Interval of polling the listener while accepting is paused. */
#define PAUSE_NS 10000000ull

static void on_client(void *arg, u32 events);

static int open_spare(struct ur_daemon *daemon)
{
	if (daemon->spare_fd < 0)
		daemon->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return daemon->spare_fd;
}

static void on_pause_over(void *arg)
{
	struct ur_daemon *daemon = arg;

	if (open_spare(daemon) < 0 ||
	    ur_loop_add(daemon->loop, daemon->listen_fd, EPOLLIN, on_client,
			daemon))
		ur_loop_timer_set(daemon->loop, &daemon->accept_again,
				  ur_loop_now() + PAUSE_NS);
}

static void pause_accepting(struct ur_daemon *daemon)
{
	ur_loop_del(daemon->loop, daemon->listen_fd);
	ur_loop_timer_set(daemon->loop, &daemon->accept_again,
			  ur_loop_now() + PAUSE_NS);
}

static void turn_away(struct ur_daemon *daemon, int sock, int err)
{
	struct ucred cred = {.uid = (uid_t)-1};
	socklen_t len = sizeof(cred);

	ur_session_refuse(sock, err);
	shutdown(sock, SHUT_RDWR);
	getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	if (!ur_reap(daemon->loop, cred.uid, sock))
		pause_accepting(daemon);
}

/* Out of descriptors: uses the spare one to accept and refuse the waiting client. Left
 * waiting, the client would make the loop spin. */
static void use_spare(struct ur_daemon *daemon)
{
	int sock = -1;

	if (daemon->spare_fd >= 0) {
		close(daemon->spare_fd);
		daemon->spare_fd = -1;
		sock = accept4(daemon->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	}
	if (sock >= 0)
		turn_away(daemon, sock, ENFILE);
	/* The refused socket may still be open. */
	if (open_spare(daemon) < 0 || sock < 0)
		pause_accepting(daemon);
	ur_debug("out of descriptors: a client is turned away");
}

/* Returns whether the error is temporary. */
static bool passes(int err)
{
	return err == EAGAIN || err == EINTR || err == ECONNABORTED;
}

static void on_client(void *arg, u32 events)
{
	struct ur_daemon *daemon = arg;
	int sock = accept4(daemon->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	int err;

	if (sock < 0) {
		if (errno == EMFILE || errno == ENFILE)
			use_spare(daemon);
		else if (!passes(errno))
			pause_accepting(daemon);
		return;
	}
	err = ur_session_start(daemon, sock);
	if (err)
		turn_away(daemon, sock, -err);
}

int ur_listen_address(const struct ur_daemon *daemon, const char *name,
		      struct sockaddr_un *addr)
{
	int n;

	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	n = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s",
		     daemon->run_dir, name);
	return n < (int)sizeof(addr->sun_path) ? 0 : -ENAMETOOLONG;
}

/* Writes the ACL as the kernel keeps it (include/uapi/linux/posix_acl_xattr.h),
 * little-endian: the owner, and the group. This takes no capability; changing
 * to a group that is not ours would take CAP_CHOWN, which the service does
 * without. */
static int allow_group(const char *path, gid_t gid)
{
	const struct {
		u32 version;
		struct {
			u16 tag, rights;
			u32 id;
		} entry[5];
	} acl = {2,
		 {{0x01, 6, ~0u}, /* owner */
		  {0x04, 0, ~0u}, /* the file's group */
		  {0x08, 6, gid},
		  {0x10, 6, ~0u},   /* mask */
		  {0x20, 0, ~0u}}}; /* others */

	return setxattr(path, "system.posix_acl_access", &acl, sizeof(acl), 0) <
			       0
		       ? -errno
		       : 0;
}

/* Sets access as udev does for the kernel's uverbs: root's socket is open to everybody or
 * to the configured group. A user's own directory admits nobody else. */
static int set_access(struct ur_daemon *daemon, const char *path)
{
	struct group *gr;

	if (!daemon->group)
		return chmod(path, 0666) < 0 ? -errno : 0;
	gr = getgrnam(daemon->group);
	if (!gr) {
		ur_log("group %s: no such group; make it (groupadd -r %s) or "
		       "change the setting",
		       daemon->group, daemon->group);
		return -EINVAL;
	}
	if (!chown(path, (uid_t)-1, gr->gr_gid))
		return chmod(path, 0660) < 0 ? -errno : 0;
	return errno == EPERM ? allow_group(path, gr->gr_gid) : -errno;
}

int ur_listen_bind(struct ur_daemon *daemon)
{
	struct sockaddr_un addr;
	int fd, err = ur_listen_address(daemon, UROCE_TUN_SOCKET, &addr);

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(addr.sun_path);
	err = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
	if (!err)
		err = set_access(daemon, addr.sun_path);
	if (err) {
		close(fd);
		return err;
	}
	daemon->listen_fd = fd;
	daemon->spare_fd = -1;
	return 0;
}

int ur_listen_start(struct ur_daemon *daemon)
{
	int fd = daemon->listen_fd;

	if (listen(fd, 128) < 0)
		return -errno;
	daemon->accept_again.fn = on_pause_over;
	daemon->accept_again.arg = daemon;
	open_spare(daemon);
	return ur_loop_add(daemon->loop, fd, EPOLLIN, on_client, daemon);
}

void ur_listen_stop(struct ur_daemon *daemon)
{
	struct sockaddr_un addr;

	if (daemon->listen_fd < 0)
		return;
	ur_loop_timer_clear(daemon->loop, &daemon->accept_again);
	ur_loop_del(daemon->loop, daemon->listen_fd);
	ur_reap_listener(daemon->listen_fd);
	if (daemon->spare_fd >= 0)
		close(daemon->spare_fd);
	daemon->listen_fd = -1;
	if (!ur_listen_address(daemon, UROCE_TUN_SOCKET, &addr))
		unlink(addr.sun_path);
}
