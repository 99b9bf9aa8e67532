// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Calls that take a name and return facts about it. */
#include <errno.h>
#include <unistd.h>

#include "preload/real.h"
#include "preload/rewrite.h"
#include "preload/setting.h"

/* Returns the access mode to check on the placeholder. All users can read
 * placeholders, but the nodes can be written too: by all, or umad by its owner
 * and root (stat.c). */
static int of_tree(const struct ur_rewritten *path, int mode)
{
	if (path->what != UR_PATH_NODE)
		return mode;
	if (path->kind != UROCE_TUN_UMAD)
		return mode & ~W_OK;
	return mode & R_OK ? (mode & ~R_OK) | W_OK : mode;
}

UR_EXPORT int access(const char *file, int mode)
{
	return UR_REWRITTEN(AT_FDCWD, file,
			    ur_real(access)(path.target, of_tree(&path, mode)));
}

UR_EXPORT int faccessat(int dirfd, const char *file, int mode, int flags)
{
	return UR_REWRITTEN(dirfd, file,
			    ur_real(faccessat)(path.dirfd, path.target,
					       of_tree(&path, mode), flags));
}

UR_EXPORT int euidaccess(const char *file, int mode)
{
	return UR_REWRITTEN(
		AT_FDCWD, file,
		ur_real(euidaccess)(path.target, of_tree(&path, mode)));
}

UR_EXPORT int eaccess(const char *file, int mode)
{
	return UR_REWRITTEN(
		AT_FDCWD, file,
		ur_real(eaccess)(path.target, of_tree(&path, mode)));
}

UR_EXPORT ssize_t readlink(const char *file, char *buf, size_t size)
{
	return UR_REWRITTEN(AT_FDCWD, file,
			    ur_real(readlink)(path.target, buf, size));
}

UR_EXPORT ssize_t __readlink_chk(const char *file, char *buf, size_t len,
				 size_t size)
{
	return UR_REWRITTEN(
		AT_FDCWD, file,
		ur_real(__readlink_chk)(path.target, buf, len, size));
}

UR_EXPORT ssize_t readlinkat(int dirfd, const char *file, char *buf,
			     size_t size)
{
	return UR_REWRITTEN(
		dirfd, file,
		ur_real(readlinkat)(path.dirfd, path.target, buf, size));
}

UR_EXPORT ssize_t __readlinkat_chk(int dirfd, const char *file, char *buf,
				   size_t len, size_t size)
{
	return UR_REWRITTEN(dirfd, file,
			    ur_real(__readlinkat_chk)(path.dirfd, path.target,
						      buf, len, size));
}

/* Returns the name under /sys, which the application may parse. */
static char *known_name(const struct ur_rewritten *path, char *result)
{
	int saved = errno;

	if (result && path->what != UR_PATH_FOREIGN)
		ur_rewrite_back(result);
	errno = saved;
	return result;
}

UR_EXPORT char *realpath(const char *restrict file, char *restrict buf)
{
	return UR_REWRITTEN(
		AT_FDCWD, file,
		known_name(&path, ur_real(realpath)(path.target, buf)));
}

UR_EXPORT char *__realpath_chk(const char *file, char *buf, size_t size)
{
	return UR_REWRITTEN(AT_FDCWD, file,
			    known_name(&path, ur_real(__realpath_chk)(
						      path.target, buf, size)));
}

UR_EXPORT char *canonicalize_file_name(const char *file)
{
	return UR_REWRITTEN(AT_FDCWD, file,
			    known_name(&path, ur_real(canonicalize_file_name)(
						      path.target)));
}

UR_EXPORT int inotify_add_watch(int fd, const char *file, uint32_t mask)
{
	return UR_REWRITTEN(AT_FDCWD, file,
			    ur_real(inotify_add_watch)(fd, path.target, mask));
}

UR_EXPORT int chdir(const char *file)
{
	return UR_REWRITTEN(AT_FDCWD, file, ur_real(chdir)(path.target));
}

/* mkdir() and rmdir(): the device has the directories of configfs. */

static int directory(int err)
{
	if (err < 0)
		errno = -err;
	return err < 0 ? -1 : 0;
}

UR_EXPORT int mkdir(const char *file, mode_t mode)
{
	int err = ur_setting_file_directory(AT_FDCWD, file, true);

	return err <= 0 ? directory(err) : ur_real(mkdir)(file, mode);
}

UR_EXPORT int mkdirat(int dirfd, const char *file, mode_t mode)
{
	int err = ur_setting_file_directory(dirfd, file, true);

	return err <= 0 ? directory(err) : ur_real(mkdirat)(dirfd, file, mode);
}

UR_EXPORT int rmdir(const char *file)
{
	int err = ur_setting_file_directory(AT_FDCWD, file, false);

	return err <= 0 ? directory(err) : ur_real(rmdir)(file);
}

UR_EXPORT int unlinkat(int dirfd, const char *file, int flags)
{
	int err = flags & AT_REMOVEDIR
			  ? ur_setting_file_directory(dirfd, file, false)
			  : 1;

	return err <= 0 ? directory(err)
			: ur_real(unlinkat)(dirfd, file, flags);
}

/* ls -l requests access control lists, and complains if the name is unknown. */
#define DEFINE_GETXATTR(fn)                                                   \
	UR_EXPORT ssize_t fn(const char *file, const char *name, void *value, \
			     size_t size)                                     \
	{                                                                     \
		return UR_REWRITTEN(                                          \
			AT_FDCWD, file,                                       \
			ur_real(fn)(path.target, name, value, size));         \
	}

#define DEFINE_LISTXATTR(fn)                                               \
	UR_EXPORT ssize_t fn(const char *file, char *list, size_t size)    \
	{                                                                  \
		return UR_REWRITTEN(AT_FDCWD, file,                        \
				    ur_real(fn)(path.target, list, size)); \
	}

DEFINE_GETXATTR(getxattr)
DEFINE_GETXATTR(lgetxattr)
DEFINE_LISTXATTR(listxattr)
DEFINE_LISTXATTR(llistxattr)
