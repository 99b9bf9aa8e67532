// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The virtual files as an application sees them: names, kinds, contents. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

void test_stat(void)
{
	int fd = open_node(), dirfd;
	struct statx stx;
	struct stat st;

	CHECK(!fstat(fd, &st));
	check_cdev(&st);
	CHECK(!stat(NODE, &st));
	check_cdev(&st);
	CHECK(!lstat("/dev//infiniband/uverbs0", &st));
	check_cdev(&st);
	CHECK(!fstatat(fd, "", &st, AT_EMPTY_PATH));
	check_cdev(&st);
	dirfd = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
	CHECK(!fstatat(dirfd, "uverbs0", &st, 0));
	check_cdev(&st);
	CHECK(!statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &stx));
	CHECK(S_ISCHR(stx.stx_mode));
	CHECK_EQ(stx.stx_rdev_major, FAKE_MAJOR);
	CHECK_EQ(stx.stx_rdev_minor, FAKE_MINOR);
	CHECK(!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx));
	CHECK(S_ISCHR(stx.stx_mode));
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(stat("/dev/infiniband/uverbs7", &st) && errno == ENOENT);
	close(fd);
	fd = openat(dirfd, "uverbs0", O_RDWR);
	CHECK(!fstat(fd, &st));
	check_cdev(&st);
	CHECK_EQ(fcntl(fd, F_GETFD), 0);
	close(fd);
	close(dirfd);
}

void test_tree(void)
{
	char buf[4096], *p;
	struct dirent *e;
	int root, fd, found = 0;
	glob_t g;
	DIR *d;
	FILE *f;

	d = opendir("/sys/class/infiniband_verbs");
	CHECK(d);
	while ((e = readdir(d)))
		found += strcmp(e->d_name, "uverbs0") == 0;
	CHECK_EQ(found, 1);
	fd = openat(dirfd(d), "uverbs0/ibdev", O_RDONLY);
	CHECK_EQ(read(fd, buf, sizeof(buf)), 7);
	close(fd);
	closedir(d);
	f = fopen(CA "/node_type", "r");
	CHECK(f && fgets(buf, sizeof(buf), f));
	fclose(f);
	CHECK(!access(CA, F_OK));
	CHECK(access("/sys/class/infiniband/none", F_OK) && errno == ENOENT);
	CHECK(realpath(CA "/ports/1", buf));
	CHECK(!strcmp(buf, CA "/ports/1"));
	p = realpath("/sys/class/infiniband/uroce0", NULL);
	CHECK(p && !strcmp(p, CA));
	free(p);
	root = open("/", O_RDONLY | O_DIRECTORY);
	fd = openat(root, "sys/class/infiniband/uroce0/node_type", O_RDONLY);
	CHECK(fd >= 0);
	close(fd);
	close(root);
	CHECK(!glob("/sys/class/infiniband/*/node_type", 0, NULL, &g));
	CHECK_EQ(g.gl_pathc, 1);
	CHECK(!strcmp(g.gl_pathv[0], CA "/node_type"));
	globfree(&g);
	CHECK(!glob("/dev/infiniband/uv*", 0, NULL, &g));
	CHECK(!strcmp(g.gl_pathv[0], NODE));
	globfree(&g);
}

/* Any of these, of a file that is there and may not be used. */
static bool refused(const char *file, int mode)
{
	return access(file, mode) && errno == EACCES && eaccess(file, mode) &&
	       errno == EACCES && faccessat(AT_FDCWD, file, mode, 0) &&
	       errno == EACCES;
}

/* A node of rdma is everybody's, umad's its owner's and root's; what can be
 * asked for beforehand is what an open would find. */
void test_access(void)
{
	struct stat st;
	int status;
	pid_t pid;

	CHECK(!stat(UMAD, &st));
	CHECK_EQ(st.st_mode, S_IFCHR | 0600);
	CHECK(!access(UMAD, R_OK | W_OK) && !eaccess(UMAD, R_OK | W_OK));
	CHECK(!faccessat(AT_FDCWD, UMAD, R_OK | W_OK, AT_EACCESS));
	CHECK(!access(NODE, R_OK | W_OK) && !access(CM, R_OK | W_OK));
	CHECK(refused(UMAD, X_OK) && refused(NODE, X_OK));
	if (getuid()) {
		leave_out("access() of another user: not root");
		return;
	}
	pid = fork();
	if (pid == 0) {
		const uid_t other = 65534;

		CHECK(!setresuid(other, other, other));
		CHECK(refused(UMAD, R_OK) && refused(UMAD, W_OK));
		CHECK(refused(UMAD, R_OK | W_OK) && !access(UMAD, F_OK));
		CHECK(!access(NODE, R_OK | W_OK) && !access(CM, R_OK | W_OK));
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* Kept open and read again, as perftest does: each read is new. */
static void test_open_counter(int before)
{
	int fd = open(CA "/ports/1/counters/x", O_RDONLY), copy, now;
	char text[16] = "";
	struct stat st;

	CHECK(fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode));
	CHECK(read(fd, text, sizeof(text)) > 0);
	now = atoi(text);
	CHECK(now > before);
	CHECK_EQ(read(fd, text, sizeof(text)), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	copy = dup(fd);
	close(fd);
	CHECK(read(copy, text, sizeof(text)) > 0);
	CHECK(atoi(text) > now);
	now = atoi(text);
	CHECK(pread(copy, text, sizeof(text), 0) > 0);
	CHECK(atoi(text) > now);
	CHECK(write(copy, text, 1) < 0 && errno == EBADF);
	close(copy);
}

void test_counters(void)
{
	int fd = open_node(), before = ioctl(fd, FAKE_SYNCS, 0);
	char text[16] = "";
	FILE *f = fopen(CA "/ports/1/counters/x", "r");

	CHECK(f && fgets(text, sizeof(text), f));
	fclose(f);
	CHECK(atoi(text) > before);
	CHECK_EQ(ioctl(fd, FAKE_SYNCS, 0), atoi(text));
	test_open_counter(atoi(text));
	close(fd);
}
