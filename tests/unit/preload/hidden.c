// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hidden numbers that the program closes by a raw system call, and that are something else by the time that
 * their file ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel-abi/uroce-resumes.h"
#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

#define END 5000

/* Whether a loop over all numbers leaves it open. */
static bool is_hidden(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETFD) >= 0 && close(fd) < 0 &&
	       errno == EBADF;
}

/* Returns the descriptor that open_it(fd) opens; *hidden: the number that it hides. */
static int open_hidden(int (*open_it)(int fd), int fd, int *hidden)
{
	static bool before[END];
	int ret;

	for (int i = 100; i < END; i++)
		before[i] = is_hidden(i);
	ret = open_it(fd);
	CHECK(ret >= 0);
	for (*hidden = 100; *hidden < END; ++*hidden)
		if (!before[*hidden] && is_hidden(*hidden))
			return ret;
	CHECK(!"hides a number");
	return -1;
}

static int open_file(int fd)
{
	return open_node();
}

static int open_channel(int fd)
{
	return ioctl(fd, FAKE_COMP_SENDER, 0);
}

static void check_works(int fd)
{
	uint64_t value = 0;

	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(value, 1);
}

/* The number is an ordinary file by then. */
static void is_others(int (*open_it)(int fd), int watch)
{
	int hidden, fd = open_hidden(open_it, watch, &hidden);

	syscall(SYS_close, hidden);
	CHECK_EQ(syscall(SYS_dup3, 0, hidden, O_CLOEXEC), hidden);
	CHECK_EQ(close(fd), 0);
	CHECK(fcntl(hidden, F_GETFD) >= 0);
	CHECK_EQ(close(hidden), 0);
	CHECK(fcntl(hidden, F_GETFD) < 0);
	/* The program may close it before. */
	fd = open_hidden(open_it, watch, &hidden);
	syscall(SYS_close, hidden);
	CHECK_EQ(syscall(SYS_dup3, 0, hidden, O_CLOEXEC), hidden);
	CHECK_EQ(close(hidden), 0);
	CHECK(fcntl(hidden, F_GETFD) < 0);
	CHECK_EQ(close(fd), 0);
}

/* The number is one of a visible file of the device by then. */
static void is_ours(int (*open_it)(int fd), int watch)
{
	int hidden, other = open_node(),
		    fd = open_hidden(open_it, watch, &hidden);

	syscall(SYS_close, hidden);
	CHECK_EQ(dup2(other, hidden), hidden);
	close(other);
	CHECK_EQ(close(fd), 0);
	check_works(hidden);
	CHECK_EQ(close(hidden), 0);
}

/* The number hides what belongs to another file by then. */
static void is_hidden_again(int (*open_it)(int fd), int watch)
{
	int hidden, other, fd = open_hidden(open_it, watch, &hidden);

	syscall(SYS_close, hidden);
	other = open_node();
	CHECK(syscall(SYS_fcntl, hidden, F_GETFD) >= 0);
	CHECK_EQ(close(fd), 0);
	CHECK(is_hidden(hidden));
	check_works(other);
	CHECK_EQ(close(other), 0);
	CHECK(syscall(SYS_fcntl, hidden, F_GETFD) < 0);
}

void test_hidden_numbers(void)
{
	int watch = open_node();

	wait_files(watch, 1);
	uroce_get_resumes()->has_engine(watch, "engine");
	is_others(open_channel, watch);
	is_ours(open_channel, watch);
	is_hidden_again(open_channel, watch);
	is_others(open_file, watch);
	is_ours(open_file, watch);
	is_hidden_again(open_file, watch);
	check_works(watch);
	wait_files(watch, 1);
	close(watch);
}
