// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Directories. Below its rewritten name the tree consists of real files. */
#include <errno.h>

#include "preload/real.h"
#include "preload/rewrite.h"

UR_EXPORT DIR *opendir(const char *name)
{
	return UR_REWRITTEN(AT_FDCWD, name, ur_real(opendir)(path.target));
}

#define DEFINE_SCANDIR(name, at_name, type)                                   \
	UR_EXPORT int name(                                                   \
		const char *restrict dir, struct type ***restrict list,       \
		int (*filter)(const struct type *),                           \
		int (*compare)(const struct type **, const struct type **))   \
	{                                                                     \
		return UR_REWRITTEN(                                          \
			AT_FDCWD, dir,                                        \
			ur_real(name)(path.target, list, filter, compare));   \
	}                                                                     \
                                                                              \
	UR_EXPORT int at_name(                                                \
		int dirfd, const char *restrict dir,                          \
		struct type ***restrict list,                                 \
		int (*filter)(const struct type *),                           \
		int (*compare)(const struct type **, const struct type **))   \
	{                                                                     \
		return UR_REWRITTEN(dirfd, dir,                               \
				    ur_real(at_name)(path.dirfd, path.target, \
						     list, filter, compare)); \
	}

DEFINE_SCANDIR(scandir, scandirat, dirent)
DEFINE_SCANDIR(scandir64, scandirat64, dirent64)

#define DEFINE_GLOB(name, type)                                              \
	UR_EXPORT int name(const char *restrict pattern, int flags,          \
			   int (*error)(const char *, int),                  \
			   type *restrict result)                            \
	{                                                                    \
		size_t i, first = 0;                                         \
		struct ur_rewritten path;                                    \
		int ret, saved;                                              \
                                                                             \
		ur_rewrite_pattern(&path, pattern);                          \
		if (path.what == UR_PATH_FOREIGN)                            \
			return ur_real(name)(pattern, flags, error, result); \
		if (flags & GLOB_APPEND)                                     \
			first = result->gl_pathc;                            \
		ret = ur_real(name)(path.target, flags, error, result);      \
		saved = errno;                                               \
		if (flags & GLOB_DOOFFS)                                     \
			first += result->gl_offs;                            \
		for (i = first; !ret && result->gl_pathv[i]; i++)            \
			ur_rewrite_back(result->gl_pathv[i]);                \
		errno = saved;                                               \
		return ret;                                                  \
	}

DEFINE_GLOB(glob, glob_t)
DEFINE_GLOB(glob64, glob64_t)

#define DEFINE_FTW(name, type)                                              \
	UR_EXPORT int name(const char *dir, type fn, int count)             \
	{                                                                   \
		return UR_REWRITTEN(AT_FDCWD, dir,                          \
				    ur_real(name)(path.target, fn, count)); \
	}

DEFINE_FTW(ftw, __ftw_func_t)
DEFINE_FTW(ftw64, __ftw64_func_t)

#define DEFINE_NFTW(name, type)                                            \
	UR_EXPORT int name(const char *dir, type fn, int count, int flags) \
	{                                                                  \
		return UR_REWRITTEN(                                       \
			AT_FDCWD, dir,                                     \
			ur_real(name)(path.target, fn, count, flags));     \
	}

DEFINE_NFTW(nftw, __nftw_func_t)
DEFINE_NFTW(nftw64, __nftw64_func_t)

/* fts copies the names, so only the common case of one root is rewritten. */
#define DEFINE_FTS(name, handle, entry)                                        \
	UR_EXPORT handle *name(char *const *names, int options,                \
			       int (*compare)(const entry **, const entry **)) \
	{                                                                      \
		struct ur_rewritten path;                                      \
		char *one[2] = {NULL, NULL};                                   \
                                                                               \
		if (!names[0] || names[1])                                     \
			return ur_real(name)(names, options, compare);         \
		ur_rewrite(&path, AT_FDCWD, names[0]);                         \
		one[0] = (char *)(uintptr_t)path.target;                       \
		return ur_real(name)(one, options, compare);                   \
	}

DEFINE_FTS(fts_open, FTS, FTSENT)
DEFINE_FTS(fts64_open, FTS64, FTSENT64)
