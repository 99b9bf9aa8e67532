// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* open(2), fopen(3) and their relatives. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "preload/file.h"
#include "preload/mounts.h"
#include "preload/real.h"
#include "preload/rewrite.h"
#include "preload/setting.h"
#include "preload/tunnel.h"

/* Forgets a number that the system has just assigned: it cannot be an old file
 * of ours. */
static int fresh(int fd)
{
	if (fd >= 0 && ur_fdmap_hit(fd) && !ur_fdmap_borrowed())
		ur_fdmap_forget(fd);
	return fd;
}

/* Tracks a counter: programs keep it open, and each read must be up to date. */
static int opened(const struct ur_rewritten *path, int fd)
{
	struct ur_file *file;
	int err = errno;

	fresh(fd);
	if (fd < 0 || !path->counter)
		return fd;
	file = ur_fdmap_new(UR_KIND_COUNTER, -1);
	/* The file cannot be tracked. */
	if (!file || !ur_fdmap_bind(fd, file))
		ur_tunnel_sync();
	if (file)
		ur_fdmap_put(file);
	errno = err;
	return fd;
}

static int open_node(const struct ur_rewritten *path, int flags)
{
	int fd;

	if (flags & O_DIRECTORY) {
		errno = ENOTDIR;
		return -1;
	}
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
		errno = EEXIST;
		return -1;
	}
	fd = ur_file_open(path, flags);
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

/* Returns whether the path is not opened as the file of its name. */
static bool is_made(const struct ur_rewritten *path, int flags)
{
	return ur_setting_file_is(path, flags) || ur_mounts_is(path, flags);
}

static int open_made(const struct ur_rewritten *path, int flags)
{
	int fd = ur_setting_file_is(path, flags)
			 ? ur_setting_file_open(path, flags)
			 : ur_mounts_open(path, flags);

	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

static mode_t mode_arg(int flags, va_list ap)
{
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		return va_arg(ap, mode_t);
	return 0;
}

/* Returns whether it is a node to connect to; O_PATH opens the placeholder. */
static int is_node(const struct ur_rewritten *path, int flags)
{
	return path->what == UR_PATH_NODE && !(flags & O_PATH);
}

/* Opens what is ours, else evaluates the C library's call; path is what the name names. */
#define OPEN(dirfd, name, flags, call)                                 \
	UR_REWRITTEN(dirfd, name,                                      \
		     is_node(&path, flags)   ? open_node(&path, flags) \
		     : is_made(&path, flags) ? open_made(&path, flags) \
					     : (call))

/* Evaluates to the argument behind flags. */
#define MODE_BEHIND(flags)                  \
	({                                  \
		va_list ap;                 \
		mode_t mode;                \
                                            \
		va_start(ap, flags);        \
		mode = mode_arg(flags, ap); \
		va_end(ap);                 \
		mode;                       \
	})

#define DEFINE_OPEN(name, openat_name)                                         \
	UR_EXPORT int name(const char *file, int flags, ...)                   \
	{                                                                      \
		mode_t mode = MODE_BEHIND(flags);                              \
                                                                               \
		return OPEN(AT_FDCWD, file, flags,                             \
			    opened(&path,                                      \
				   ur_real(name)(path.target, flags, mode)));  \
	}                                                                      \
                                                                               \
	UR_EXPORT int openat_name(int dirfd, const char *file, int flags, ...) \
	{                                                                      \
		mode_t mode = MODE_BEHIND(flags);                              \
                                                                               \
		return OPEN(dirfd, file, flags,                                \
			    opened(&path, ur_real(openat_name)(path.dirfd,     \
							       path.target,    \
							       flags, mode))); \
	}

DEFINE_OPEN(open, openat)
DEFINE_OPEN(open64, openat64)

/* The _FORTIFY_SOURCE forms for calls without a mode. */
#define DEFINE_OPEN_2(name, openat_name)                                       \
	UR_EXPORT int name(const char *file, int flags)                        \
	{                                                                      \
		return OPEN(AT_FDCWD, file, flags,                             \
			    opened(&path, ur_real(name)(path.target, flags))); \
	}                                                                      \
                                                                               \
	UR_EXPORT int openat_name(int dirfd, const char *file, int flags)      \
	{                                                                      \
		return OPEN(dirfd, file, flags,                                \
			    opened(&path,                                      \
				   ur_real(openat_name)(path.dirfd,            \
							path.target, flags))); \
	}

DEFINE_OPEN_2(__open_2, __openat_2)
DEFINE_OPEN_2(__open64_2, __openat64_2)

#define DEFINE_CREAT(name)                                            \
	UR_EXPORT int name(const char *file, mode_t mode)             \
	{                                                             \
		return OPEN(AT_FDCWD, file, O_WRONLY,                 \
			    fresh(ur_real(name)(path.target, mode))); \
	}

DEFINE_CREAT(creat)
DEFINE_CREAT(creat64)

/* Returns open()'s flags for a stream's mode, as far as settings need them. */
static int stream_flags(const char *mode)
{
	int flags = strpbrk(mode, "+") ? O_RDWR
		    : *mode == 'r'     ? O_RDONLY
				       : O_WRONLY;

	return strchr(mode, 'e') ? flags | O_CLOEXEC : flags;
}

static FILE *fopen_made(const struct ur_rewritten *path, const char *mode)
{
	int fd = open_made(path, stream_flags(mode));
	FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

/* A stream over a device node makes no sense, so it gets the placeholder. */
#define DEFINE_FOPEN(name)                                           \
	UR_EXPORT FILE *name(const char *file, const char *mode)     \
	{                                                            \
		return UR_REWRITTEN(                                 \
			AT_FDCWD, file,                              \
			is_made(&path, stream_flags(mode))           \
				? fopen_made(&path, mode)            \
				: ur_real(name)(path.target, mode)); \
	}

DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

#define DEFINE_FREOPEN(name)                                                   \
	UR_EXPORT FILE *name(const char *file, const char *mode, FILE *stream) \
	{                                                                      \
		return UR_REWRITTEN(AT_FDCWD, file,                            \
				    ur_real(name)(path.target, mode, stream)); \
	}

DEFINE_FREOPEN(freopen)
DEFINE_FREOPEN(freopen64)
