// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The life of descriptors: visible ones are copied and closed, hidden ones are
 * protected.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "preload/fdmap.h"
#include "preload/real.h"
#include "preload/setting.h"

UR_EXPORT int close(int fd)
{
	int ret;

	if (!ur_fdmap_hit(fd))
		return ur_real(close)(fd);
	if (ur_fdmap_is_kept(fd)) {
		/* A loop over all numbers: to the application this one is not
		 * open. In a vfork child the exec closes it. */
		errno = EBADF;
		return -1;
	}
	ur_setting_file_flush(fd);
	if (ur_fdmap_borrowed())
		return ur_real(close)(fd);
	/* Other threads find the file while the number is open. */
	ur_fdmap_closing(fd);
	ret = ur_real(close)(fd);
	ur_fdmap_closed(fd);
	return ret;
}

UR_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (first > last || flags & ~CLOSE_RANGE_UNSHARE || ur_fdmap_borrowed())
		return (int)syscall(SYS_close_range, first, last, flags);
	return ur_fdmap_close_range(first, last, flags);
}

UR_EXPORT void closefrom(int first)
{
	if (first < 0)
		first = 0;
	if (close_range((unsigned int)first, ~0U, 0))
		ur_real(closefrom)(first);
}

UR_EXPORT int dup(int fd)
{
	int copy = ur_real(dup)(fd);

	if (copy >= 0 && (ur_fdmap_hit(fd) || ur_fdmap_hit(copy)) &&
	    !ur_fdmap_borrowed())
		ur_fdmap_copy(fd, copy);
	return copy;
}

/* Prepares @to, which is about to be overwritten. */
static int make_way(int to)
{
	int err;

	ur_setting_file_flush(to);
	if (!ur_fdmap_is_hidden(to) || ur_fdmap_borrowed())
		return 0;
	err = ur_fdmap_evict(to);
	if (err)
		errno = -err;
	return err ? -1 : 0;
}

static int copied(int from, int to)
{
	if (to >= 0 && from != to && (ur_fdmap_hit(from) || ur_fdmap_hit(to)) &&
	    !ur_fdmap_borrowed())
		ur_fdmap_copy(from, to);
	return to;
}

UR_EXPORT int dup2(int from, int to)
{
	if (make_way(to))
		return -1;
	return copied(from, ur_real(dup2)(from, to));
}

UR_EXPORT int dup3(int from, int to, int flags)
{
	if (make_way(to))
		return -1;
	return copied(from, ur_real(dup3)(from, to, flags));
}

#define DEFINE_FCNTL(name)                                    \
	UR_EXPORT int name(int fd, int cmd, ...)              \
	{                                                     \
		va_list ap;                                   \
		void *arg;                                    \
		int ret;                                      \
                                                              \
		va_start(ap, cmd);                            \
		arg = va_arg(ap, void *);                     \
		va_end(ap);                                   \
		ret = ur_real(name)(fd, cmd, arg);            \
		if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) \
			return copied(fd, ret);               \
		return ret;                                   \
	}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

UR_EXPORT int fclose(FILE *stream)
{
	int fd = fileno_unlocked(stream), ret;

	/* The stream's buffer is written past our wrappers. */
	if (ur_fdmap_looks(fd) == UR_KIND_SETTING) {
		fflush(stream);
		ur_setting_file_flush(fd);
	}
	/* fclose() closes inside the C library, past our wrappers. */
	if (!ur_fdmap_hit(fd) || ur_fdmap_borrowed())
		return ur_real(fclose)(stream);
	ur_fdmap_closing(fd);
	ret = ur_real(fclose)(stream);
	ur_fdmap_closed(fd);
	return ret;
}
