// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Where the run directory is; one rule for daemon, command line, preload. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/os/rundir.h"

#define IN_TMP "/tmp/uroce-%u"

static int print_dir(char *buf, size_t size, const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);

	if (la + lb + 1 > size)
		return -ENAMETOOLONG;
	memcpy(buf, a, la);
	memcpy(buf + la, b, lb + 1);
	la += lb;
	while (la > 1 && buf[la - 1] == '/')
		buf[--la] = '\0';
	return 0;
}

int ur_rundir(const char *arg, char *buf, size_t size)
{
	char base[64];
	const char *env;
	struct stat st;
	size_t len;

	if (!arg || !*arg)
		arg = secure_getenv("UROCE_RUN_DIR");
	if (arg && *arg == '/')
		return print_dir(buf, size, arg, "");
	if (arg && *arg) {
		if (!getcwd(buf, size))
			return errno == ERANGE ? -ENAMETOOLONG : -errno;
		len = strlen(buf);
		if (len + 1 >= size)
			return -ENAMETOOLONG;
		buf[len++] = '/';
		return print_dir(buf + len, size - len, arg, "");
	}
	if (geteuid() == 0)
		return print_dir(buf, size, "/run/uroce", "");
	env = secure_getenv("XDG_RUNTIME_DIR");
	if (env && *env == '/')
		return print_dir(buf, size, env, "/uroce");
	snprintf(base, sizeof(base), "/run/user/%u", geteuid());
	if (stat(base, &st) == 0 && S_ISDIR(st.st_mode))
		return print_dir(buf, size, base, "/uroce");
	snprintf(base, sizeof(base), IN_TMP, geteuid());
	return print_dir(buf, size, base, "");
}

/* Only root makes a directory directly in /run, of the user that a service is to
 * have. */
static bool is_a_service_s(const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	return realpath(path, real) && !strncmp(real, "/run/", 5) &&
	       !strchr(real + 5, '/') && !lstat("/run", &st) && !st.st_uid &&
	       S_ISDIR(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool ur_rundir_trusted(const char *path, const struct stat *st)
{
	return st->st_uid == geteuid() || !st->st_uid || is_a_service_s(path);
}

int ur_rundir_check(const char *dir)
{
	char own[64];
	struct stat st;

	snprintf(own, sizeof(own), IN_TMP, geteuid());
	if (strcmp(dir, own))
		return 0;
	/* The system call: the front-end has functions of its own. */
	if (syscall(SYS_newfstatat, AT_FDCWD, dir, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? 0 : -EPERM;
}

int ur_rundir_make(const char *dir)
{
	mode_t mode = geteuid() ? 0700 : 0755;
	char path[PATH_MAX];
	struct stat st;
	char *p;

	if (print_dir(path, sizeof(path), dir, ""))
		return -ENAMETOOLONG;
	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST && errno != EROFS &&
		    errno != EACCES)
			return -errno;
		*p = '/';
	}
	if (mkdir(path, mode) && errno != EEXIST)
		return -errno;
	/* Not through a link that somebody left for us under /tmp. */
	if (lstat(path, &st))
		return -errno;
	if (S_ISLNK(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid) &&
	    stat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return ur_rundir_trusted(path, &st) ? 0 : -EPERM;
}
