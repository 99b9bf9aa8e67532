// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The directory of a fabric, its lock and its socket. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/fabric/directory.h"
#include "util/os/rundir.h"

#define DEFAULT_NAME "default"
#define INNER	     "fabrics" /* folder of the fabrics inside a fabric */
#define BESIDE	     "-fabric" /* suffix of the user's run directory */

#define AWAIT_STEP_MS 10
#define AWAIT_STEPS   1500
#define BACKLOG	      64

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len >= UR_FABRIC_NAME_MAX)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' &&
		    *name != '-')
			return false;
	return true;
}

/* Gets the directory for fabrics. inside: the directory of the fabric that contains this
 * process, whose memory inner fabrics use; or NULL. Returns 0 or -errno. */
static int find_base(const struct ur_options *options, const char *inside,
		     char *base, size_t size)
{
	char dir[PATH_MAX];
	int err, n;

	if (options->run_dir_asked) {
		n = snprintf(base, size, "%s", options->run_dir);
	} else if (inside) {
		n = snprintf(base, size, "%s/" UR_FABRIC_RUN "/" INNER, inside);
	} else {
		/* In a fabric the variable names a device. */
		unsetenv("UROCE_RUN_DIR");
		err = ur_rundir(NULL, dir, sizeof(dir));
		if (err)
			return err;
		n = snprintf(base, size, "%s" BESIDE, dir);
	}
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

/* Returns the directory of the fabric that contains this process, or NULL. */
static const char *find_inside(void)
{
	const char *inside = secure_getenv(UR_FABRIC_VARIABLE);

	return inside && *inside == '/' && is_name(strrchr(inside, '/') + 1)
		       ? inside
		       : NULL;
}

static int set_dir(struct ur_fabric_dir *paths, const char *dir)
{
	if (strlen(dir) >= sizeof(paths->dir)) {
		ur_complain("fabric: %s: %s", dir, strerror(ENAMETOOLONG));
		return -EINVAL;
	}
	strcpy(paths->dir, dir);
	snprintf(paths->name, sizeof(paths->name), "%s", strrchr(dir, '/') + 1);
	snprintf(paths->run, sizeof(paths->run), "%s/" UR_FABRIC_RUN, dir);
	return 0;
}

int ur_fabric_dir_find(const struct ur_options *options,
		       struct ur_fabric_dir *paths)
{
	const char *inside = options->run_dir_asked ? NULL : find_inside();
	const char *name = options->name[0];
	char dir[PATH_MAX];
	size_t len;
	int err;

	if (name && !is_name(name)) {
		ur_complain("fabric: --name %s: letters, digits, _ and -, up "
			    "to %d",
			    name, UR_FABRIC_NAME_MAX - 1);
		return -EINVAL;
	}
	if (inside && (!name || !strcmp(name, strrchr(inside, '/') + 1)))
		return set_dir(paths, inside);
	err = find_base(options, inside, dir, sizeof(dir) - UR_FABRIC_NAME_MAX);
	if (err) {
		ur_complain("fabric: the run directory's name: %s",
			    strerror(-err));
		return -EINVAL;
	}
	len = strlen(dir);
	snprintf(dir + len, sizeof(dir) - len, "/%s",
		 name ? name : DEFAULT_NAME);
	return set_dir(paths, dir);
}

/* Anybody can make directories in /tmp. Returns 0 if dir is ours alone and still has that
 * name. */
static int check_dir(int dir, const char *name)
{
	struct stat st, now;

	if (fstat(dir, &st) || lstat(name, &now))
		return -errno;
	if (st.st_ino != now.st_ino || st.st_dev != now.st_dev)
		return -ESTALE;
	return st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

/* Returns a locked descriptor of the directory, or -errno; -EBUSY: locked by another
 * process. */
static int lock_dir(const char *name)
{
	int err, dir;

	if (mkdir(name, 0700) && errno != EEXIST)
		return errno == ENOENT ? -ESTALE : -errno;
	dir = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	err = flock(dir, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (!err)
		err = check_dir(dir, name);
	if (!err)
		return dir;
	close(dir);
	return err == -EWOULDBLOCK ? -EBUSY : err;
}

static void get_base(const struct ur_fabric_dir *paths,
		     char base[sizeof(paths->dir)])
{
	strcpy(base, paths->dir);
	*strrchr(base, '/') = '\0';
}

int ur_fabric_dir_take(const struct ur_fabric_dir *paths)
{
	char base[sizeof(paths->dir)];
	int err, dir;

	get_base(paths, base);
	do {
		err = ur_rundir_make(base);
		dir = err ? err : lock_dir(paths->dir);
	} while (dir == -ESTALE); /* the directory was removed meanwhile */
	if (dir == -EBUSY)
		ur_complain("fabric %s is up, or ends just now: 'uroce fabric "
			    "show', 'uroce fabric down', or another --name",
			    paths->name);
	else if (dir < 0)
		ur_complain("fabric: cannot use the directory %s: %s; name "
			    "another place with --run-dir",
			    paths->dir, strerror(-dir));
	if (dir < 0)
		return dir;
	unlinkat(dir, UR_FABRIC_SOCKET, 0);
	if (mkdirat(dir, UR_FABRIC_RUN, 0700) && errno != EEXIST) {
		err = -errno;
		ur_complain("%s: %s", paths->run, strerror(-err));
		close(dir);
		return err;
	}
	return dir;
}

/* Through the descriptor: a socket's name is limited to 107 characters. */
static void name_socket(int dir, struct sockaddr_un *sun)
{
	*sun = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(sun->sun_path, sizeof(sun->sun_path),
		 "/proc/self/fd/%d/" UR_FABRIC_SOCKET, dir);
}

int ur_fabric_dir_listen(int dir)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sun;
	int err;

	name_socket(dir, &sun);
	if (sock >= 0 && !bind(sock, (struct sockaddr *)&sun, sizeof(sun)) &&
	    !listen(sock, BACKLOG))
		return sock;
	err = -errno;
	if (sock >= 0)
		close(sock);
	return err;
}

void ur_fabric_dir_clear(const struct ur_fabric_dir *paths, int dir)
{
	char base[sizeof(paths->dir)];
	size_t len;

	unlinkat(dir, UR_FABRIC_SOCKET, 0);
	unlinkat(dir, UR_FABRIC_RUN, AT_REMOVEDIR);
	rmdir(paths->dir);
	/* The last fabric also removes the parent directory, unless the user has named
	 * that. */
	get_base(paths, base);
	len = strlen(base);
	if (len > strlen(BESIDE) &&
	    !strcmp(base + len - strlen(BESIDE), BESIDE))
		rmdir(base);
}

int ur_fabric_dir_await(const struct ur_fabric_dir *paths)
{
	int dir = open(paths->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = -ETIMEDOUT;

	if (dir < 0)
		return 0;
	for (int i = 0; i < AWAIT_STEPS && err; i++) {
		if (i)
			poll(NULL, 0, AWAIT_STEP_MS);
		err = flock(dir, LOCK_SH | LOCK_NB) ? -ETIMEDOUT : 0;
	}
	close(dir);
	return err;
}

static int connect_to(const struct ur_fabric_dir *paths)
{
	int dir = open(paths->dir,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct sockaddr_un sun;
	int err, sock = -1;

	if (dir < 0)
		return -errno;
	err = check_dir(dir, paths->dir);
	name_socket(dir, &sun);
	if (!err) {
		sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (sock < 0 ||
		    connect(sock, (struct sockaddr *)&sun, sizeof(sun)))
			err = -errno;
	}
	close(dir);
	if (!err)
		return sock;
	if (sock >= 0)
		close(sock);
	return err;
}

int ur_fabric_ask_open(const struct ur_fabric_dir *paths)
{
	int sock = connect_to(paths);

	if (sock == -ENOENT || sock == -ECONNREFUSED)
		ur_complain("there is no fabric %s: 'uroce fabric up 2' makes "
			    "one (looked in %s)",
			    paths->name, paths->dir);
	else if (sock < 0)
		ur_complain("fabric %s: %s: %s", paths->name, paths->dir,
			    strerror(-sock));
	return sock;
}
