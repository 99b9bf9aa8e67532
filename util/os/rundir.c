// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The name of the run directory: one rule for daemon, command line and preload
 * library. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/os/rundir.h"

#define IN_TMP "/tmp/uroce-%u"
/* Default of /proc/sys/kernel/overflowuid (DEFAULT_OVERFLOWUID of the kernel). */
#define OVERFLOW_UID 65534u
#define ALL_USERS    "4294967295"

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
		return print_dir(buf, size, UR_RUNDIR_HOST, "");
	env = secure_getenv("XDG_RUNTIME_DIR");
	if (env && *env == '/')
		return print_dir(buf, size, env, "/uroce");
	snprintf(base, sizeof(base), "/run/user/%u", geteuid());
	/* A system call, since the preload library's stat() calls this
	 * function. */
	if (syscall(SYS_newfstatat, AT_FDCWD, base, &st, 0) == 0 &&
	    S_ISDIR(st.st_mode))
		return print_dir(buf, size, base, "/uroce");
	snprintf(base, sizeof(base), IN_TMP, geteuid());
	return print_dir(buf, size, base, "");
}

bool ur_rundir_serves(const char *dir)
{
	char name[PATH_MAX];
	int saved = errno;
	struct stat st;
	bool found;

	found = !print_dir(name, sizeof(name), dir, "/sys/class/infiniband") &&
		!syscall(SYS_newfstatat, AT_FDCWD, name, &st, 0);
	errno = saved;
	return found;
}

/* Returns whether the directory is directly in /run, where only root creates
 * directories, for the user of a service. */
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
	/* A system call, since the preload library wraps stat(). */
	if (syscall(SYS_newfstatat, AT_FDCWD, dir, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? 0 : -EPERM;
}

/* Returns whether the name leads to a directory directly in /run that belongs
 * to the user. Allocates nothing, and calls nothing that the preload library
 * wraps. */
static bool is_service_of(const char *dir, uid_t uid)
{
	char link[32], real[64];
	struct stat st, run;
	bool good;
	ssize_t n;
	int fd;

	fd = (int)syscall(SYS_openat, AT_FDCWD, dir,
			  O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlinkat, AT_FDCWD, link, real, sizeof(real) - 1);
	real[n > 0 ? n : 0] = '\0';
	good = !strncmp(real, "/run/", 5) && !strchr(real + 5, '/') &&
	       !syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) &&
	       !syscall(SYS_newfstatat, AT_FDCWD, "/run", &run,
			AT_SYMLINK_NOFOLLOW) &&
	       S_ISDIR(run.st_mode) && !run.st_uid &&
	       !(run.st_mode & (S_IWGRP | S_IWOTH)) && st.st_uid == uid;
	syscall(SYS_close, fd);
	return good;
}

/* Returns whether this user namespace has no number for the user: all such
 * users look the same. Root of such a namespace rules only the namespace, and
 * the user who gave it the directory is outside. */
static bool is_unmapped(uid_t uid)
{
	char map[64] = "";
	int fd;

	if (uid != OVERFLOW_UID)
		return false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/uid_map",
			  O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (syscall(SYS_read, fd, map, sizeof(map) - 1) < 0)
		map[0] = '\0';
	syscall(SYS_close, fd);
	/* The initial namespace maps all numbers, in one line. */
	return *map && !strstr(map, ALL_USERS);
}

int ur_rundir_check_peer(const char *dir, int sock)
{
	const char *asked = secure_getenv("UROCE_TRUST_UID");
	struct ucred peer;
	socklen_t len = sizeof(peer);
	char *end;

	if (syscall(SYS_getsockopt, sock, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return -errno;
	if (geteuid() || !peer.uid || is_service_of(dir, peer.uid))
		return 0;
	if (is_unmapped(peer.uid))
		return 1;
	if (!asked || *asked < '0' || *asked > '9')
		return -EPERM;
	return strtoul(asked, &end, 10) == peer.uid && !*end ? 1 : -EPERM;
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
	/* Does not follow a link that somebody left under /tmp. */
	if (lstat(path, &st))
		return -errno;
	if (S_ISLNK(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid) &&
	    stat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return ur_rundir_trusted(path, &st) ? 0 : -EPERM;
}
