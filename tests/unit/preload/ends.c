// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * However a process or its file ends, the device is asked first whether it has
 * what was posted; and where there is nothing of its own, it is not.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel-abi/uroce-forks.h"
#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

static void by_exit(int fd)
{
	exit(0);
}

static void by_quick_exit(int fd)
{
	quick_exit(0);
}

static void by__exit(int fd)
{
	_exit(0);
}

static void by__Exit(int fd)
{
	_Exit(0);
}

static void by_close(int fd)
{
	close(fd);
	_exit(0);
}

static void by_exec(int fd)
{
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void by_copy(int fd)
{
	close(dup(fd));
	by_close(fd);
}

/* How often it is asked when a process that has one file ends so. */
static int asked(int watch, void (*end)(int fd))
{
	int before = ioctl(watch, FAKE_DRAINS, 0), status;
	pid_t pid = fork();

	if (pid == 0) {
		end(open_node());
		_exit(1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	return ioctl(watch, FAKE_DRAINS, 0) - before;
}

/* A child that has none but its parent's. */
static int asked_by_stranger(int watch)
{
	int before = ioctl(watch, FAKE_DRAINS, 0), status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	return ioctl(watch, FAKE_DRAINS, 0) - before;
}

static int line[2];

static void tell_first(void)
{
	CHECK(write(line[1], "1", 1) == 1);
}

static void tell_second(void)
{
	CHECK(write(line[1], "2", 1) == 1);
}

/* Each library that has asked for it is told of the end, once. */
static void each_is_told(void (*end)(int fd))
{
	char told[8] = "";
	int status;
	pid_t pid;

	CHECK(!pipe2(line, O_CLOEXEC));
	pid = fork();
	if (pid == 0) {
		uroce_forks.tell_end(tell_first);
		uroce_forks.tell_end(tell_second);
		end(-1);
		_exit(1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(line[1]);
	CHECK_EQ(read(line[0], told, sizeof(told)), 2);
	CHECK(!strcmp(told, "12"));
	close(line[0]);
}

void test_ends(void)
{
	int watch = open_node(), before, status;
	pid_t pid;

	CHECK_EQ(asked(watch, by_exit), 1);
	CHECK_EQ(asked(watch, by_quick_exit), 1);
	CHECK_EQ(asked(watch, by__exit), 1);
	CHECK_EQ(asked(watch, by__Exit), 1);
	CHECK_EQ(asked(watch, by_close), 1);
	CHECK_EQ(asked(watch, by_copy), 1);
	CHECK_EQ(asked(watch, by_exec), 1);
	CHECK_EQ(asked_by_stranger(watch), 0);
	CHECK(&uroce_forks && uroce_forks.version == UROCE_FORKS_VERSION);
	each_is_told(by_exit);
	each_is_told(by__exit);
	each_is_told(by_exec);
	before = ioctl(watch, FAKE_DRAINS, 0);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(ioctl(watch, FAKE_DRAINS, 0), before);
	wait_files(watch, 1);
	close(watch);
}
