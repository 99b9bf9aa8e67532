// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Settings of a device that are written through files of the tree. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/rundir_choice.h"
#include "preload/setting.h"
#include "preload/tunnel.h"

bool ur_setting_file_is(const struct ur_rewritten *path, int flags)
{
	return path->what == UR_PATH_TREE && !(flags & O_PATH) &&
	       (flags & O_ACCMODE) != O_RDONLY;
}

/* Checks the file's mode, which the device has set, as the kernel would. *rel:
 * the name below the run directory. */
static int check(const struct ur_rewritten *path, const char **rel)
{
	size_t len = strlen(ur_chosen_rundir());
	struct stat st;
	int fd;

	fd = (int)syscall(SYS_openat, path->dirfd, path->target,
			  O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0) /* no files can be created there */
		return errno == ENOENT ? -EACCES : -errno;
	if (syscall(SYS_fstat, fd, &st))
		st.st_mode = 0;
	syscall(SYS_close, fd);
	if (!(st.st_mode & 0222))
		return -EACCES;
	if (strncmp(path->target, ur_chosen_rundir(), len))
		return -EACCES;
	*rel = path->target + len;
	while (**rel == '/')
		++*rel;
	return 0;
}

static int introduce(int sock, const char *rel)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_SETTING,
				    .open.version = UROCE_TUN_VERSION,
				    .open.features = UROCE_TUN_F_ALL};
	int fds[UROCE_TUN_MAX_FDS], err;

	err = ur_tunnel_send_call(sock, &msg, rel, strlen(rel) + 1);
	err = ur_tunnel_recv_first(sock, &msg, fds, err);
	if (err)
		return err;
	ur_tunnel_close_fds(fds);
	return msg.op != UROCE_TUN_DONE ? -EIO : (int)msg.ret;
}

/* Returns a copy under the lowest free number, as open() does. */
static int lowest(int fd, int flags)
{
	int cmd = flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD;
	int low = (int)syscall(SYS_fcntl, fd, cmd, 0);

	return low < 0 ? -errno : low;
}

/* Returns the visible descriptor. A program that also reads gets the file, with
 * the connection as its hidden twin. Consumes @sock. */
static int expose_setting(const struct ur_rewritten *path, int flags, int sock)
{
	bool both = (flags & O_ACCMODE) == O_RDWR;
	struct ur_file *file;
	int fd;

	if (both) {
		fd = (int)syscall(SYS_openat, path->dirfd, path->target,
				  O_RDONLY | (flags & O_CLOEXEC), 0);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = lowest(sock, flags);
	}
	file = fd < 0 ? NULL : ur_fdmap_new(UR_KIND_SETTING, both ? sock : -1);
	if (!file || !both)
		syscall(SYS_close, sock);
	if (fd < 0)
		return fd;
	if (!file || !ur_fdmap_bind(fd, file)) {
		syscall(SYS_close, fd);
		fd = file ? -EMFILE : -ENFILE;
	}
	if (file)
		ur_fdmap_put(file);
	return fd;
}

int ur_setting_file_open(const struct ur_rewritten *path, int flags)
{
	const char *rel = NULL;
	int err = check(path, &rel), sock;

	if (err)
		return err;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	sock = ur_tunnel_connect_with_rights();
	if (sock < 0)
		return sock == -ECONNREFUSED || sock == -ENOENT ? -ENXIO : sock;
	err = introduce(sock, rel);
	if (!err)
		return expose_setting(path, flags, sock);
	syscall(SYS_close, sock);
	return err;
}

static int connection(const struct ur_file *file, int fd)
{
	return file->sock >= 0 ? file->sock : fd;
}

/* Drops replies to writes that were not seen here. */
static void drop_answers(int sock)
{
	struct uroce_tun_msg old;

	while (syscall(SYS_recvfrom, sock, &old, sizeof(old), MSG_DONTWAIT,
		       NULL, NULL) > 0)
		;
}

ssize_t ur_setting_file_write(struct ur_file *file, int fd, const void *buf,
			      size_t len)
{
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS], sock = connection(file, fd);
	ssize_t ret;

	if (!len)
		return 0;
	pthread_mutex_lock(&file->lock);
	drop_answers(sock);
	do
		ret = syscall(SYS_sendto, sock, buf, len, MSG_NOSIGNAL, NULL,
			      0);
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		ret = errno == EFAULT ? -EFAULT : -ENODEV;
	else if (ur_tunnel_recv(sock, &msg, fds))
		ret = -ENODEV;
	else
		ret = msg.ret;
	pthread_mutex_unlock(&file->lock);
	return ret;
}

void ur_setting_file_flush(int fd)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DRAIN,
				    .kind = UROCE_TUN_SETTING};
	int fds[UROCE_TUN_MAX_FDS], sock, saved = errno;
	struct ur_file *file;

	if (ur_fdmap_looks(fd) != UR_KIND_SETTING)
		return;
	file = ur_fdmap_get(fd);
	if (!file)
		return;
	sock = connection(file, fd);
	pthread_mutex_lock(&file->lock);
	drop_answers(sock);
	if (!ur_tunnel_send(sock, &msg, -1))
		do
			if (ur_tunnel_recv(sock, &msg, fds))
				break;
		while (msg.op != UROCE_TUN_DRAIN);
	pthread_mutex_unlock(&file->lock);
	ur_fdmap_put(file);
	errno = saved;
}

#define CONFIG "/sys/kernel/config/rdma_cm"

int ur_setting_file_directory(int dirfd, const char *name, bool wanted)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DIRECTORY, .kind = wanted};
	int fds[UROCE_TUN_MAX_FDS], sock, err;
	struct ur_rewritten parent;
	char rel[256];
	size_t len = name ? strnlen(name, sizeof(rel)) : 0;

	if (len >= sizeof(rel) || strncmp(name, CONFIG "/", strlen(CONFIG "/")))
		return 1;
	ur_rewrite(&parent, dirfd, CONFIG);
	if (parent.what != UR_PATH_TREE)
		return 1;
	memcpy(rel, name + 1, len);
	while (rel[len - 2] == '/') /* mkdir dir/ */
		rel[--len - 1] = '\0';
	sock = ur_tunnel_connect_with_rights();
	if (sock < 0)
		return -ENODEV;
	err = ur_tunnel_send_call(sock, &msg, rel, len);
	if (!err)
		err = ur_tunnel_recv(sock, &msg, fds);
	if (!err)
		err = (int)msg.ret;
	syscall(SYS_close, sock);
	return err;
}
