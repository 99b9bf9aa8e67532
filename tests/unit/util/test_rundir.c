// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The owners whose run directories are believed. */
#include "tests/check.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "util/os/rundir.h"

/* Not the number that stands for users whom a user namespace does not have. */
#define SOMEBODY 61234u

/* Made in that directory; "" where it cannot be. */
static const char *make(const char *parent)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/uroce-test.XXXXXX", parent);
	return mkdtemp(path) ? path : "";
}

static int looked_at(const char *path)
{
	int err = ur_rundir_make(path);

	rmdir(path);
	return err;
}

static int of_somebody(const char *parent)
{
	const char *path = make(parent);

	if (!*path || chown(path, SOMEBODY, SOMEBODY))
		SKIP("needs root");
	return looked_at(path);
}

static void our_own(void)
{
	const char *path = make("/tmp");

	CHECK(*path);
	CHECK_EQ(looked_at(path), 0);
}

/* Anybody makes these. */
static void somebody_s(void)
{
	CHECK_EQ(of_somebody("/tmp"), -EPERM);
}

/* Unless anybody makes directories there, as in some containers. */
static void a_service_s(void)
{
	struct stat run;

	CHECK_EQ(stat("/run", &run), 0);
	CHECK_EQ(of_somebody("/run"),
		 run.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0);
}

/* As /run/user/UID/uroce is. */
static void below_a_service_s(void)
{
	char above[128], path[144];
	int err;

	snprintf(above, sizeof(above), "%s", make("/run"));
	snprintf(path, sizeof(path), "%s/below", above);
	if (!*above || chown(above, SOMEBODY, SOMEBODY) || mkdir(path, 0755) ||
	    chown(path, SOMEBODY, SOMEBODY))
		SKIP("needs root");
	err = looked_at(path);
	rmdir(above);
	CHECK_EQ(err, -EPERM);
}

/* A link there leads to what anybody makes. */
static void a_link_of_a_service_s(void)
{
	char to[128], path[128];
	int err;

	snprintf(to, sizeof(to), "%s", make("/tmp"));
	snprintf(path, sizeof(path), "%s", make("/run"));
	if (!*path || chown(to, SOMEBODY, SOMEBODY) || rmdir(path) ||
	    symlink(to, path))
		SKIP("needs root");
	err = ur_rundir_make(path);
	unlink(path);
	rmdir(to);
	CHECK_EQ(err, -EPERM);
}

/* The default of who has no directory of his own, made by another before him. */
static void default_of_another(void)
{
	char path[64];

	if (setresuid(SOMEBODY, SOMEBODY, SOMEBODY))
		SKIP("needs root");
	snprintf(path, sizeof(path), "/tmp/uroce-%u", SOMEBODY);
	CHECK_EQ(ur_rundir_check("/tmp"), 0); /* who names it means it */
	CHECK_EQ(ur_rundir_check(path), -ENOENT);
	CHECK_EQ(mkdir(path, 0755), 0);
	CHECK_EQ(ur_rundir_check(path), 0);
	CHECK_EQ(rmdir(path), 0);
	CHECK_EQ(symlink("/run", path), 0);
	CHECK_EQ(ur_rundir_check(path), -EPERM);
	CHECK_EQ(unlink(path), 0);
}

static void default_planted(void)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/tmp/uroce-%u", SOMEBODY);
	if (geteuid() || mkdir(path, 0755) || chown(path, 1234, 1234))
		SKIP("needs root");
	CHECK_EQ(seteuid(SOMEBODY), 0);
	err = ur_rundir_check(path);
	CHECK_EQ(seteuid(0), 0);
	CHECK_EQ(rmdir(path), 0);
	CHECK_EQ(err, -EPERM);
}

/* A connection to a device of that user in the directory. */
static int connect_to(const char *dir, uid_t uid)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/s", dir);
	unlink(sun.sun_path);
	CHECK(!bind(listener, (void *)&sun, sizeof(sun)));
	CHECK(!seteuid(uid));
	CHECK(!listen(listener, 1));
	CHECK(!seteuid(0));
	CHECK(!connect(sock, (void *)&sun, sizeof(sun)));
	unlink(sun.sun_path);
	return sock;
}

/* The owner of the device is the owner of its memory. */
static void test_peer(void)
{
	char dir[] = "/tmp/uroce-rundir.XXXXXX";
	int own, other;

	if (geteuid())
		SKIP("only root has somebody to fear");
	CHECK(mkdtemp(dir));
	own = connect_to(dir, 0);
	other = connect_to(dir, SOMEBODY);
	unsetenv("UROCE_TRUST_UID");
	CHECK_EQ(ur_rundir_check_peer(dir, own), 0);
	CHECK_EQ(ur_rundir_check_peer(dir, other), -EPERM);
	CHECK_EQ(ur_rundir_check_peer("/run", other), -EPERM);
	setenv("UROCE_TRUST_UID", "61234", 1);
	CHECK_EQ(ur_rundir_check_peer(dir, own), 0);
	CHECK_EQ(ur_rundir_check_peer(dir, other), 1);
	setenv("UROCE_TRUST_UID", "61233", 1);
	CHECK_EQ(ur_rundir_check_peer(dir, other), -EPERM);
	setenv("UROCE_TRUST_UID", "61234x", 1);
	CHECK_EQ(ur_rundir_check_peer(dir, other), -EPERM);
	setenv("UROCE_TRUST_UID", "", 1);
	CHECK_EQ(ur_rundir_check_peer(dir, other), -EPERM);
	rmdir(dir);
}

/* A service's directory is directly in /run, and its user's. */
static void test_service_peer(void)
{
	char dir[] = "/run/uroce-test.XXXXXX";
	int sock;

	if (geteuid())
		SKIP("only root makes directories there");
	CHECK(mkdtemp(dir));
	unsetenv("UROCE_TRUST_UID");
	sock = connect_to(dir, SOMEBODY);
	CHECK_EQ(ur_rundir_check_peer(dir, sock), -EPERM);
	CHECK(!chown(dir, SOMEBODY, -1));
	CHECK_EQ(ur_rundir_check_peer(dir, sock), 0);
	CHECK(!chown(dir, SOMEBODY - 1, -1));
	CHECK_EQ(ur_rundir_check_peer(dir, sock), -EPERM);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(our_own());
	CASE(somebody_s());
	CASE(a_service_s());
	CASE(below_a_service_s());
	CASE(a_link_of_a_service_s());
	CASE(default_of_another());
	CASE(default_planted());
	CASE(test_peer());
	CASE(test_service_peer());
	return cases_status();
}
