// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Descriptors that one thread closes while others use them: until the number is closed they are what they were, and
 * then they are none. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

#define ROUNDS 100

static struct {
	int fd;
	_Atomic bool begun;
} use;

/* Returns whether it was closed. */
static bool is_end(ssize_t ret, int err)
{
	use.begun = true;
	if (ret >= 0 || err == EAGAIN)
		return false;
	CHECK_EQ(err, EBADF);
	return true;
}

static void *get_events(void *arg)
{
	uint32_t command[4] = {12, 8 | 336 << 16};
	ssize_t ret;

	do
		ret = write(use.fd, command, 16);
	while (!is_end(ret, errno));
	return NULL;
}

static void *read_events(void *arg)
{
	uint64_t event[2];
	ssize_t ret;

	do {
		/* It is open for reading only. */
		CHECK(write(use.fd, event, 8) < 0 && errno == EBADF);
		ret = read(use.fd, event, 8);
	} while (!is_end(ret, errno));
	return NULL;
}

static void by_close(int fd)
{
	CHECK_EQ(close(fd), 0);
}

static void by_close_range(int fd)
{
	CHECK_EQ(close_range((unsigned int)fd, (unsigned int)fd, 0), 0);
}

static void by_fclose(int fd)
{
	FILE *stream = fdopen(fd, "r");

	CHECK(stream);
	CHECK_EQ(fclose(stream), 0);
}

static void *close_it(void *arg)
{
	return (void *)(intptr_t)(close(use.fd) ? errno : 0);
}

/* One of two threads closes it. */
static void by_two(int fd)
{
	pthread_t thread;
	void *err;

	CHECK(!pthread_create(&thread, NULL, close_it, NULL));
	if (close(fd)) {
		CHECK_EQ(errno, EBADF);
		pthread_join(thread, &err);
		CHECK_EQ((intptr_t)err, 0);
	} else {
		pthread_join(thread, &err);
		CHECK_EQ((intptr_t)err, EBADF);
	}
}

static int open_cm(int watch)
{
	int fd = open(CM, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	CHECK(fd >= 0);
	return fd;
}

static int open_channel(int watch)
{
	int fd = ioctl(watch, FAKE_COMP, 0);

	CHECK(fd >= 0);
	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
	return fd;
}

static void close_used(int watch, int (*open_it)(int watch),
		       void *(*used)(void *), unsigned long event)
{
	static void (*const ends[])(int) = {by_close, by_close_range, by_fclose,
					    by_two};
	pthread_t thread;

	for (int i = 0; i < ROUNDS; i++) {
		use.fd = open_it(watch);
		use.begun = false;
		CHECK(!pthread_create(&thread, NULL, used, NULL));
		while (!use.begun)
			sched_yield();
		if (i & 1)
			CHECK_EQ(ioctl(watch, event, 0), 0);
		ends[i % 4](use.fd);
		pthread_join(thread, NULL);
	}
	wait_files(watch, 1);
}

static void *open_and_close(void *arg)
{
	_Atomic bool *stop = arg;

	while (!*stop) {
		CHECK_EQ(open_node(), use.fd);
		CHECK_EQ(close(use.fd), 0);
	}
	return NULL;
}

/* A child is born with it, or without, or with something that open() has for a moment. */
static void use_in_child(int fd)
{
	uint64_t value = 1;

	if (!ioctl(fd, FAKE_ADD_ONE, &value))
		CHECK_EQ(value, 2);
	close(fd);
	CHECK(ioctl(fd, FAKE_ADD_ONE, &value) && errno == EBADF);
	_exit(0);
}

static void close_and_fork(int watch)
{
	_Atomic bool stop = false;
	pthread_t thread;
	int status;
	pid_t pid;

	use.fd = open_node();
	close(use.fd);
	CHECK(!pthread_create(&thread, NULL, open_and_close, &stop));
	for (int i = 0; i < ROUNDS; i++) {
		pid = fork();
		if (!pid)
			use_in_child(use.fd);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
	stop = true;
	pthread_join(thread, NULL);
	wait_files(watch, 1);
}

void test_closing(void)
{
	int watch = open_node();

	wait_files(watch, 1);
	close_used(watch, open_cm, get_events, FAKE_PEERS);
	close_used(watch, open_channel, read_events, FAKE_EVENT);
	close_and_fork(watch);
	close(watch);
}
