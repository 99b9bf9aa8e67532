// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * stat(2) and its relatives: nodes and descriptors of virtual files look like
 * the character devices that they stand for. libibverbs compares st_rdev of
 * both with sysfs, and waits five seconds if they differ.
 */
#include <sys/sysmacros.h>

#include "preload/file.h"
#include "preload/real.h"
#include "preload/rewrite.h"

/* A uverbs file that was not opened here has this size. */
#define LOOKS(size) ((uint64_t)(size) == UROCE_TUN_UVERBS_BYTES)

/* Returns the device number of a virtual cdev's descriptor, or 0. */
static uint64_t rdev_of_fd(int fd, bool looks)
{
	struct ur_file *file;
	uint64_t rdev = 0;

	file = ur_fdmap_hit(fd) ? ur_fdmap_get(fd) : NULL;
	if (!file && looks && ur_file_claim(fd))
		file = ur_fdmap_get(fd);
	if (!file)
		return 0;
	if (file->kind == UROCE_TUN_UVERBS || file->kind == UROCE_TUN_RDMA_CM ||
	    file->kind == UROCE_TUN_UMAD)
		rdev = file->rdev;
	ur_fdmap_put(file);
	return rdev;
}

static uint64_t rdev_of_path(const struct ur_rewritten *path)
{
	return path->what == UR_PATH_NODE ? ur_rewrite_node_rdev(path) : 0;
}

static uint64_t rdev_of_at(const struct ur_rewritten *path, const char *name,
			   int flags, bool looks)
{
	if (flags & AT_EMPTY_PATH && name && !*name)
		return rdev_of_fd(path->dirfd, looks);
	return rdev_of_path(path);
}

/* Returns the mode of a node: udev leaves the kernel's umad nodes, 231:0 to 63,
 * unchanged. */
static mode_t mode_of(uint64_t dev)
{
	return major(dev) == 231 && minor(dev) < 64 ? 0600 : 0666;
}

/* struct stat and struct stat64 are two types with the same members. */
#define MAKE_CDEV(st, dev)                              \
	do {                                            \
		(st)->st_mode = S_IFCHR | mode_of(dev); \
		(st)->st_rdev = (dev);                  \
		(st)->st_size = 0;                      \
		(st)->st_blocks = 0;                    \
	} while (0)

#define FINISH(ret, st, rdev)                             \
	do {                                              \
		uint64_t rdev_ = (ret) == 0 ? (rdev) : 0; \
                                                          \
		if (rdev_)                                \
			MAKE_CDEV(st, rdev_);             \
		return (ret);                             \
	} while (0)

#define DEFINE_STAT(name, type)                               \
	UR_EXPORT int name(const char *file, struct type *st) \
	{                                                     \
		struct ur_rewritten path;                     \
		int ret;                                      \
                                                              \
		ur_rewrite(&path, AT_FDCWD, file);            \
		ret = ur_real(name)(path.target, st);         \
		FINISH(ret, st, rdev_of_path(&path));         \
	}

#define DEFINE_FSTAT(name, type)                                     \
	UR_EXPORT int name(int fd, struct type *st)                  \
	{                                                            \
		int ret = ur_real(name)(fd, st);                     \
                                                                     \
		FINISH(ret, st, rdev_of_fd(fd, LOOKS(st->st_size))); \
	}

#define DEFINE_FSTATAT(name, type)                                          \
	UR_EXPORT int name(int dirfd, const char *file, struct type *st,    \
			   int flags)                                       \
	{                                                                   \
		struct ur_rewritten path;                                   \
		int ret;                                                    \
                                                                            \
		ur_rewrite(&path, dirfd, file);                             \
		ret = ur_real(name)(path.dirfd, path.target, st, flags);    \
		FINISH(ret, st,                                             \
		       rdev_of_at(&path, file, flags, LOOKS(st->st_size))); \
	}

DEFINE_STAT(stat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(lstat64, stat64)
DEFINE_FSTAT(fstat, stat)
DEFINE_FSTAT(fstat64, stat64)
DEFINE_FSTATAT(fstatat, stat)
DEFINE_FSTATAT(fstatat64, stat64)

/* Programs built against glibc before 2.33 call these. */
#define DEFINE_XSTAT(name, type)                                       \
	UR_EXPORT int name(int ver, const char *file, struct type *st) \
	{                                                              \
		struct ur_rewritten path;                              \
		int ret;                                               \
                                                                       \
		ur_rewrite(&path, AT_FDCWD, file);                     \
		ret = ur_real(name)(ver, path.target, st);             \
		FINISH(ret, st, rdev_of_path(&path));                  \
	}

#define DEFINE_FXSTAT(name, type)                                    \
	UR_EXPORT int name(int ver, int fd, struct type *st)         \
	{                                                            \
		int ret = ur_real(name)(ver, fd, st);                \
                                                                     \
		FINISH(ret, st, rdev_of_fd(fd, LOOKS(st->st_size))); \
	}

#define DEFINE_FXSTATAT(name, type)                                           \
	UR_EXPORT int name(int ver, int dirfd, const char *file,              \
			   struct type *st, int flags)                        \
	{                                                                     \
		struct ur_rewritten path;                                     \
		int ret;                                                      \
                                                                              \
		ur_rewrite(&path, dirfd, file);                               \
		ret = ur_real(name)(ver, path.dirfd, path.target, st, flags); \
		FINISH(ret, st,                                               \
		       rdev_of_at(&path, file, flags, LOOKS(st->st_size)));   \
	}

DEFINE_XSTAT(__xstat, stat)
DEFINE_XSTAT(__xstat64, stat64)
DEFINE_XSTAT(__lxstat, stat)
DEFINE_XSTAT(__lxstat64, stat64)
DEFINE_FXSTAT(__fxstat, stat)
DEFINE_FXSTAT(__fxstat64, stat64)
DEFINE_FXSTATAT(__fxstatat, stat)
DEFINE_FXSTATAT(__fxstatat64, stat64)

UR_EXPORT int statx(int dirfd, const char *restrict file, int flags,
		    unsigned int mask, struct statx *restrict st)
{
	struct ur_rewritten path;
	uint64_t rdev;
	int ret;

	ur_rewrite(&path, dirfd, file);
	ret = ur_real(statx)(path.dirfd, path.target, flags, mask, st);
	rdev = ret ? 0 : rdev_of_at(&path, file, flags, LOOKS(st->stx_size));
	if (rdev) {
		st->stx_mode = (uint16_t)(S_IFCHR | mode_of(rdev));
		st->stx_rdev_major = major(rdev);
		st->stx_rdev_minor = minor(rdev);
		st->stx_size = 0;
		st->stx_blocks = 0;
	}
	return ret;
}
