// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Input and output on virtual files. */
#include <errno.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "preload/file.h"
#include "preload/forks.h"
#include "preload/real.h"
#include "preload/setting.h"
#include "preload/tunnel.h"

#define MAD_BYTES 256

static ssize_t fail(int err)
{
	errno = err;
	return -1;
}

static ssize_t finish(ssize_t ret)
{
	return ret < 0 ? fail((int)-ret) : ret;
}

/* Returns whether the kernel's file layer handles the command before any
 * driver. */
static bool is_generic_ioctl(unsigned long cmd)
{
	return cmd == FIOCLEX || cmd == FIONCLEX || cmd == FIONBIO ||
	       cmd == FIOASYNC;
}

UR_EXPORT int ioctl(int fd, unsigned long cmd, ...)
{
	struct ur_file *file = NULL;
	va_list ap;
	void *arg;
	long ret;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (ur_fdmap_hit(fd))
		file = ur_fdmap_get(fd);
	if (!file && _IOC_TYPE(cmd) == RDMA_IOCTL_MAGIC && ur_file_claim(fd))
		file = ur_fdmap_get(fd);
	if (!file)
		return ur_real(ioctl)(fd, cmd, arg);
	if (is_generic_ioctl(cmd) || ur_file_event_size(file) ||
	    file->kind == UROCE_TUN_NETLINK)
		ret = ur_real(ioctl)(fd, cmd, arg) < 0 ? -errno : 0;
	else if (file->kind == UROCE_TUN_UVERBS || file->kind == UROCE_TUN_UMAD)
		ret = ur_file_ioctl(file, fd, cmd, (uint64_t)(uintptr_t)arg);
	else
		ret = -ENOTTY;
	ur_fdmap_put(file);
	return (int)finish(ret);
}

/* Waits as a read of umad with little room would: the kernel keeps a MAD that
 * does not fit. */
static int check_mad_room(int fd, size_t count)
{
	ssize_t len;

	if (count < sizeof(struct ib_user_mad_hdr_old))
		return EINVAL;
	len = ur_real(recvfrom)(fd, NULL, 0, MSG_PEEK | MSG_TRUNC, NULL, NULL);
	if (len < 0)
		return errno == ECONNRESET ? 0 : errno;
	return (size_t)len > count ? EINVAL : 0;
}

/* Returns the error for a read of a virtual file, or 0. Programs that sleep
 * read each event, so no system call is spent on checking the descriptor: if
 * there is room for an event, it may be read whatever it is by now. */
static int check_read(int fd, size_t count)
{
	uint32_t looks = ur_fdmap_looks(fd);
	size_t event = ur_kind_event_size(looks);
	struct ur_file *file;
	int err = 0;

	if (looks == UROCE_TUN_UMAD)
		event = sizeof(struct ib_user_mad_hdr) + MAD_BYTES;
	if (event && count >= event)
		return 0;
	file = ur_fdmap_get(fd);
	if (!file)
		return 0;
	event = ur_file_event_size(file);
	/* The cdevs have no read; an event is never truncated. */
	if (file->kind == UR_KIND_COUNTER)
		ur_tunnel_sync();
	else if (file->kind == UR_KIND_SETTING && file->sock < 0)
		err = EBADF;
	else if (file->kind == UROCE_TUN_UMAD)
		err = check_mad_room(fd, count);
	else if (file->kind != UROCE_TUN_NETLINK &&
		 file->kind != UR_KIND_SETTING && (!event || count < event))
		err = EINVAL;
	ur_fdmap_put(file);
	return err;
}

/* Reads on after the end of an event file: the first read returns ECONNRESET,
 * and earlier events come after it (util/os/event_pair.h). */
static ssize_t read_ended(struct ur_file *file, int fd, void *buf, size_t count,
			  ssize_t ret, int err)
{
	if (ret < 0) {
		ret = ur_real(read)(fd, buf, count);
		err = errno;
	}
	return ur_file_after_read(file, buf, count, ret, err);
}

static ssize_t after_read(int fd, void *buf, size_t count, ssize_t ret)
{
	int err = errno;
	struct ur_file *file;

	if (ret > 0 || (ret < 0 && err != ECONNRESET))
		return ret;
	file = ur_fdmap_get(fd);
	if (!file) {
		errno = err;
		return ret;
	}
	if (file->kind == UR_KIND_COUNTER || file->kind == UR_KIND_SETTING ||
	    file->kind == UROCE_TUN_NETLINK)
		ret = ret < 0 ? -err : 0;
	else
		ret = read_ended(file, fd, buf, count, ret, err);
	ur_fdmap_put(file);
	return finish(ret);
}

UR_EXPORT ssize_t read(int fd, void *buf, size_t count)
{
	int err;

	if (!ur_fdmap_hit(fd))
		return ur_real(read)(fd, buf, count);
	ur_forks_before_read(fd);
	err = check_read(fd, count);
	if (err)
		return fail(err);
	return after_read(fd, buf, count, ur_real(read)(fd, buf, count));
}

UR_EXPORT ssize_t __read_chk(int fd, void *buf, size_t count, size_t size)
{
	if (count > size || !ur_fdmap_hit(fd))
		return ur_real(__read_chk)(fd, buf, count, size);
	return read(fd, buf, count);
}

UR_EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
	if (!ur_fdmap_hit(fd) || count < 1)
		return ur_real(readv)(fd, iov, count);
	/* The kernel calls the driver for each piece; one event fits one. */
	return read(fd, iov[0].iov_base, iov[0].iov_len);
}

/* Returns a cdev or an event file with a reference; NULL for others, whose
 * writes need no help. */
static struct ur_file *get_writable(int fd)
{
	struct ur_file *file = ur_fdmap_get(fd);

	if (file && (file->kind == UR_KIND_COUNTER ||
		     file->kind == UROCE_TUN_NETLINK)) {
		ur_fdmap_put(file);
		return NULL;
	}
	return file;
}

static ssize_t write_file(struct ur_file *file, int fd, const void *buf,
			  size_t len)
{
	/* The kernel's event files are open for reading only. */
	if (ur_file_event_size(file))
		return -EBADF;
	return file->kind == UR_KIND_SETTING
		       ? ur_setting_file_write(file, fd, buf, len)
		       : ur_file_write(file, fd, buf, len);
}

UR_EXPORT ssize_t write(int fd, const void *buf, size_t count)
{
	struct ur_file *file;
	ssize_t ret;

	if (!ur_fdmap_hit(fd))
		return ur_real(write)(fd, buf, count);
	file = get_writable(fd);
	if (!file)
		return ur_real(write)(fd, buf, count);
	ret = write_file(file, fd, buf, count);
	ur_fdmap_put(file);
	return finish(ret);
}

UR_EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
	ssize_t ret = 0, total = 0;
	struct ur_file *file;

	if (!ur_fdmap_hit(fd))
		return ur_real(writev)(fd, iov, count);
	file = get_writable(fd);
	if (!file)
		return ur_real(writev)(fd, iov, count);
	for (int i = 0; i < count; i++) {
		ret = write_file(file, fd, iov[i].iov_base, iov[i].iov_len);
		if (ret < 0)
			break;
		total += ret;
		if ((size_t)ret < iov[i].iov_len)
			break;
	}
	ur_fdmap_put(file);
	return total ? total : finish(ret);
}

/* Returns whether lseek() fails: cdevs and event files are streams. */
static bool is_stream(int fd)
{
	struct ur_file *file = ur_fdmap_hit(fd) ? ur_fdmap_get(fd) : NULL;
	bool counter, regular;

	if (!file)
		return false;
	counter = file->kind == UR_KIND_COUNTER;
	regular = counter || (file->kind == UR_KIND_SETTING && file->sock >= 0);
	ur_fdmap_put(file);
	if (counter)
		ur_tunnel_sync();
	return !regular;
}

#define DEFINE_PREAD(name, off_type)                                          \
	UR_EXPORT ssize_t name(int fd, void *buf, size_t count, off_type off) \
	{                                                                     \
		if (is_stream(fd))                                            \
			return fail(ESPIPE);                                  \
		return ur_real(name)(fd, buf, count, off);                    \
	}

#define DEFINE_PWRITE(name, off_type)                                 \
	UR_EXPORT ssize_t name(int fd, const void *buf, size_t count, \
			       off_type off)                          \
	{                                                             \
		if (ur_fdmap_looks(fd) == UR_KIND_SETTING)            \
			return write(fd, buf, count);                 \
		if (is_stream(fd))                                    \
			return fail(ESPIPE);                          \
		return ur_real(name)(fd, buf, count, off);            \
	}

DEFINE_PREAD(pread, off_t)
DEFINE_PREAD(pread64, off64_t)
DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off64_t)
