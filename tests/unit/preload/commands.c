// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ioctl(), write(), mmap() and events of an open file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

void test_ioctl(void)
{
	uint64_t value = 41;
	char buf[16] = {1};
	struct iovec iov[2] = {{buf, 16}, {buf, 8}};
	int fd = open_node(), one = 1, outs = ioctl(fd, FAKE_OUTS, 0);
	static uint64_t far = 6;

	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(value, 42);
	CHECK_EQ(ioctl(fd, FAKE_OUTS, 0), outs + 1);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &far), 0);
	CHECK_EQ(far, 7);
	CHECK_EQ(ioctl(fd, FAKE_OUTS, 0), outs + 1);
	CHECK(ioctl(fd, FAKE_ADD_ONE, (void *)8) < 0 && errno == EFAULT);
	CHECK(ioctl(fd, FAKE_REFUSE, 0) < 0 && errno == EOPNOTSUPP);
	CHECK(ioctl(fd, 999, 0) < 0 && errno == ENOTTY);
	CHECK_EQ(ioctl(fd, FIONBIO, &one), 0);
	CHECK_EQ(write(fd, buf, 16), 16);
	CHECK_EQ(writev(fd, iov, 2), 24);
	CHECK(write(fd, buf, 4) < 0 && errno == EINVAL);
	CHECK(read(fd, buf, 16) < 0 && errno == EINVAL);
	CHECK(pwrite(fd, buf, 16, 0) < 0 && errno == ESPIPE);
	CHECK_EQ(ioctl(fd, FAKE_FGET, fd), 0);
	CHECK(ioctl(fd, FAKE_FGET, 9999) < 0 && errno == EBADF);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	close(fd);
	CHECK(ioctl(fd, FAKE_ADD_ONE, &value) < 0 && errno == EBADF);
}

/* A process without room for one more descriptor. */
void test_no_room(void)
{
	struct rlimit was, now;
	int fd = open_node(), taken[64], n = 0, number;
	uint64_t value = 1;

	CHECK(!getrlimit(RLIMIT_NOFILE, &was));
	now = was;
	now.rlim_cur = 64;
	CHECK(!setrlimit(RLIMIT_NOFILE, &now));
	while ((number = dup(0)) >= 0)
		taken[n++] = number;
	CHECK_EQ(errno, EMFILE);
	CHECK(ioctl(fd, FAKE_COMP, 0) < 0 && errno == EMFILE);
	CHECK(open(NODE, O_RDWR) < 0 && errno == EMFILE);
	/* One is enough to connect with, and none is left for what is opened. */
	close(taken[--n]);
	CHECK(open(NODE, O_RDWR) < 0 && errno == EMFILE);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(value, 2);
	while (n)
		close(taken[--n]);
	CHECK(!setrlimit(RLIMIT_NOFILE, &was));
	number = ioctl(fd, FAKE_COMP, 0);
	CHECK(number >= 0);
	close(number);
	close(fd);
}

void test_mmap(void)
{
	int fd = open_node();
	/* As UCX does, past any wrapper. */
	char *map = (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED,
				    fd, 8192);

	CHECK(map != MAP_FAILED);
	CHECK(!memcmp(map, "ring", 4));
	syscall(SYS_munmap, map, 4096);
	close(fd);
}

void test_events(void)
{
	int fd = open_node(), comp, dup1, async;
	uint64_t event[2];
	struct pollfd pfd;

	comp = ioctl(fd, FAKE_COMP, 0);
	CHECK(comp >= 0);
	pfd = (struct pollfd){.fd = comp, .events = POLLIN};
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	CHECK_EQ(ioctl(fd, FAKE_EVENT, 1234), 0);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK(read(comp, event, 4) < 0 && errno == EINVAL);
	CHECK_EQ(read(comp, event, 8), 8);
	CHECK_EQ(event[0], 1234);
	CHECK(!fcntl(comp, F_SETFL, O_NONBLOCK));
	CHECK(read(comp, event, 8) < 0 && errno == EAGAIN);
	dup1 = dup(comp);
	close(comp);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), 0);
	CHECK(read(dup1, event, 4) < 0 && errno == EINVAL);
	/* dup2() over it is a close as well. */
	CHECK_EQ(dup2(0, dup1), dup1);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), FAKE_COOKIE);
	close(dup1);
	async = ioctl(fd, FAKE_ASYNC, 0);
	CHECK(async >= 0);
	CHECK_EQ(ioctl(fd, FAKE_EVENT, 7), 0);
	CHECK_EQ(read(async, event, 16), 16);
	CHECK_EQ(event[0], 7);
	/* A number that the command took back is free again. */
	CHECK(ioctl(fd, FAKE_FAIL_LATE, 0) < 0 && errno == EPERM);
	comp = open("/dev/null", O_RDWR);
	CHECK_EQ(read(comp, event, 1), 0);
	close(comp);
	close(async);
	close(fd);
}

/* Closed without our knowing, and the number is the next channel's. */
void test_closed_unnoticed(void)
{
	int fd = open_node(), comp = ioctl(fd, FAKE_COMP, 0);
	uint64_t words[2] = {sizeof(words)};

	CHECK(comp >= 0 && !syscall(SYS_close, comp));
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), 0);
	CHECK_EQ(ioctl(fd, FAKE_COMP, 0), comp);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), FAKE_COOKIE);
	close(comp);
	close(fd);
	/* Or a word of a command is that number. */
	fd = open_node();
	comp = ioctl(fd, FAKE_COMP, 0);
	CHECK(comp >= 0 && !syscall(SYS_close, comp));
	words[1] = (uint64_t)comp;
	CHECK_EQ(ioctl(fd, FAKE_KNOWN, words), 0);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), FAKE_COOKIE);
	close(fd);
}

/* Only what is a descriptor of this file's events now, and in the command. */
void test_known_events(void)
{
	int fd = open_node(), other = open_node(), comp, async, foreign;
	uint64_t words[70] = {sizeof(words)};

	comp = ioctl(fd, FAKE_COMP, 0);
	async = ioctl(fd, FAKE_ASYNC, 0);
	foreign = ioctl(other, FAKE_COMP, 0);
	CHECK(comp >= 0 && async >= 0 && foreign >= 0);
	CHECK_EQ(ioctl(fd, FAKE_KNOWN, words), 0);
	words[1] = (uint64_t)async;
	words[5] = (uint64_t)comp;
	words[6] = (uint64_t)foreign;
	words[7] = (uint64_t)fd;
	words[8] = ~0ull;
	CHECK_EQ(ioctl(fd, FAKE_KNOWN, words), 43);
	CHECK_EQ(ioctl(other, FAKE_KNOWN, words), 3);
	words[0] = 16; /* bytes: what follows is not the command's */
	CHECK_EQ(ioctl(fd, FAKE_KNOWN, words), 4);
	words[0] = sizeof(words);
	/* Closed, and the number used again, without our knowing. */
	CHECK(!syscall(SYS_close, async));
	CHECK_EQ(dup2(0, async), async);
	CHECK_EQ(ioctl(fd, FAKE_KNOWN, words), 3);
	close(comp);
	CHECK_EQ(ioctl(fd, FAKE_KNOWN, words), 0);
	close(async);
	close(foreign);
	close(other);
	close(fd);
}

static _Atomic int got_event;

static void *get_event(void *arg)
{
	uint32_t command[4] = {12, 8 | 336 << 16};

	CHECK_EQ(write((int)(intptr_t)arg, command, 16), 16);
	got_event = 1;
	return NULL;
}

static void on_signal(int sig)
{
}

void test_rdma_cm(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	int fd = open_node(), cm = open(CM, O_RDWR | O_CLOEXEC);
	uint32_t command[4] = {12, 8 | 336 << 16};
	struct pollfd pfd = {.fd = cm, .events = POLLIN};
	pthread_t thread;
	struct stat st;

	CHECK(!fstat(cm, &st) && S_ISCHR(st.st_mode));
	CHECK_EQ(st.st_rdev, makedev(10, 58));
	command[0] = 0;
	CHECK_EQ(write(cm, command, 16), 16);
	command[0] = 12;
	/* A command that cannot succeed is refused before it waits. */
	command[1] = 8 | 100 << 16;
	CHECK(write(cm, command, 16) < 0 && errno == ENOSPC);
	command[1] = 9 | 336 << 16;
	CHECK(write(cm, command, 16) < 0 && errno == EINVAL);
	command[1] = 8 | 336 << 16;
	CHECK(!fcntl(cm, F_SETFL, O_NONBLOCK));
	CHECK(write(cm, command, 16) < 0 && errno == EAGAIN);
	CHECK_EQ(ioctl(fd, FAKE_PEERS, 0), 0);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK_EQ(write(cm, command, 16), 16);
	CHECK_EQ(ioctl(fd, FAKE_WITHDRAWN, 0), 0);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK(write(cm, command, 16) < 0 && errno == EAGAIN);
	CHECK(!fcntl(cm, F_SETFL, 0));
	sigaction(SIGALRM, &sa, NULL);
	alarm(1);
	CHECK(write(cm, command, 16) < 0 && errno == EINTR);
	CHECK(!pthread_create(&thread, NULL, get_event, (void *)(intptr_t)cm));
	/* Commands go through while somebody waits for an event. */
	command[0] = 0;
	CHECK_EQ(write(cm, command, 16), 16);
	CHECK_EQ(got_event, 0);
	CHECK_EQ(ioctl(fd, FAKE_PEERS, 0), 0);
	pthread_join(thread, NULL);
	CHECK(ioctl(cm, FAKE_ADD_ONE, 0) < 0 && errno == ENOTTY);
	CHECK(read(cm, command, 16) < 0 && errno == EINVAL);
	close(cm);
	close(fd);
}
