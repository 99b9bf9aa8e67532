// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files and directories below the run directory. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/tree/tree.h"

static int full_path(const struct ur_daemon *d, char buf[PATH_MAX],
		     const char *fmt, va_list ap)
{
	int n = snprintf(buf, PATH_MAX, "%s/", d->run_dir);

	vsnprintf(buf + n, (size_t)(PATH_MAX - n), fmt, ap);
	return n;
}

/* Puts the path that a function's last arguments make into buf. Evaluates to the length of the
 * run directory in it. */
#define FULL_PATH(d, buf, fmt)                        \
	({                                            \
		va_list ap;                           \
		int len;                              \
                                                      \
		va_start(ap, fmt);                    \
		len = full_path((d), (buf), fmt, ap); \
		va_end(ap);                           \
		len;                                  \
	})

/* The first error since ur_tree_error(), or 0. */
static int error;

int ur_tree_error(void)
{
	int first = error;

	error = 0;
	return first;
}

static int make_dir(const char *path)
{
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

void ur_tree_mkdir(const struct ur_daemon *d, const char *fmt, ...)
{
	char path[PATH_MAX];
	int n = FULL_PATH(d, path, fmt);

	/* Usually only the last directory is missing. */
	if (error || !make_dir(path))
		return;
	for (char *p = path + n; *p && !error; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		error = make_dir(path);
		*p = '/';
	}
	if (!error)
		error = make_dir(path);
}

/* Files are created without a check for old ones. */
static bool making;

void ur_tree_make(bool begin)
{
	making = begin;
}

/*
 * Opens a file for writing, even if it is read-only. *fresh: it did not exist. O_CREAT is
 * used only if the file does not exist: O_CREAT takes the directory's lock, which a reader
 * of the directory can hold as long as its memory blocks.
 */
static int open_file(const char *path, mode_t mode, bool *fresh)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
	int fd = making ? -1 : open(path, flags);

	*fresh = false;
	if (making || (fd < 0 && errno == ENOENT)) {
		fd = open(path, flags | O_CREAT | O_EXCL, mode);
		*fresh = fd >= 0;
		if (making && fd < 0 && errno == EEXIST)
			fd = open(path, flags);
	}
	if (fd >= 0 || errno != EACCES || chmod(path, 0644) < 0)
		return fd;
	fd = open(path, flags);
	chmod(path, mode);
	return fd;
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	size_t len = strlen(text);
	bool fresh;
	int fd;

	if (error)
		return;
	fd = open_file(path, mode, &fresh);
	if (fd < 0) {
		error = -errno;
		return;
	}
	if (pwrite(fd, text, len, 0) != (ssize_t)len ||
	    (!fresh && ftruncate(fd, (off_t)len) < 0))
		error = errno ? -errno : -EIO;
	close(fd);
}

void ur_tree_put(const struct ur_daemon *d, const char *text, const char *fmt,
		 ...)
{
	char path[PATH_MAX];

	FULL_PATH(d, path, fmt);
	put_file(path, text, 0444);
}

void ur_tree_put_setting(const struct ur_daemon *d, const char *text,
			 const char *fmt, ...)
{
	char path[PATH_MAX];

	FULL_PATH(d, path, fmt);
	put_file(path, text, 0644);
}

void ur_tree_link(const struct ur_daemon *d, const char *target,
		  const char *fmt, ...)
{
	char path[PATH_MAX];

	FULL_PATH(d, path, fmt);
	if (!error && symlink(target, path) < 0 && errno != EEXIST)
		error = -errno;
}

void ur_tree_drop(const struct ur_daemon *d, const char *fmt, ...)
{
	char path[PATH_MAX];

	FULL_PATH(d, path, fmt);
	unlink(path);
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	remove(path);
	return 0;
}

void ur_tree_drop_all(const struct ur_daemon *d, const char *fmt, ...)
{
	char path[PATH_MAX];

	FULL_PATH(d, path, fmt);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct grave {
	struct ur_loop_after after;
	char path[PATH_MAX + 32];
};

static void dig(struct ur_loop_after *after)
{
	struct grave *g = ur_container_of(after, struct grave, after);

	nftw(g->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(g);
}

void ur_tree_bury(const struct ur_daemon *d, const char *fmt, ...)
{
	static u32 number;
	struct grave *g = malloc(sizeof(*g));
	char path[PATH_MAX];

	FULL_PATH(d, path, fmt);
	/* The new name is in the same directory, hidden from programs that look for
	 * devices: after confine/ we may not move files to other directories. */
	if (g)
		snprintf(g->path, sizeof(g->path), "%.*s/.gone%u",
			 (int)(strrchr(path, '/') - path), path, ++number);
	if (g && !rename(path, g->path)) {
		ur_loop_after(d->loop, &g->after, dig);
		return;
	}
	free(g);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
