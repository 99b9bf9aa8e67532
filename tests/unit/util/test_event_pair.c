// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A program's view of the end that it is given. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "tests/check.h"
#include "util/os/event_pair.h"

#define ALL_OF_POLL \
	(POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLWRBAND | POLLPRI)

static int polled(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = ALL_OF_POLL};

	CHECK(poll(&pfd, 1, 0) >= 0);
	return pfd.revents;
}

static unsigned int watched(int fd, unsigned int how)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDNORM | EPOLLOUT |
					   EPOLLWRNORM | EPOLLWRBAND | how};
	int epoll = epoll_create1(0);

	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev));
	ev.events = 0;
	CHECK(epoll_wait(epoll, &ev, 1, 0) >= 0);
	close(epoll);
	return ev.events;
}

static int selected(int fd, bool to_write)
{
	struct timeval now = {0};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, to_write ? NULL : &set, to_write ? &set : NULL,
		      NULL, &now);
}

static void check_ready(int fd, bool readable)
{
	int in = readable ? POLLIN | POLLRDNORM : 0;

	CHECK_EQ(polled(fd), in);
	CHECK_EQ(watched(fd, 0), in);
	CHECK_EQ(watched(fd, EPOLLET), in);
	CHECK_EQ(selected(fd, false), readable);
	CHECK_EQ(selected(fd, true), 0);
}

static void never_writable(void)
{
	char c = 'e', buf[4096];
	int fd[2];

	CHECK_EQ(ur_event_pair(fd), 0);
	check_ready(fd[1], false);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(send(fd[0], &c, 1, 0), 1);
	check_ready(fd[1], true);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(read(fd[1], buf, sizeof(buf)), 1);
	check_ready(fd[1], false);
	CHECK(recv(fd[1], buf, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	close(fd[0]);
	close(fd[1]);
}

/* Each event is reported once, and never that it is writable. */
static void edges(void)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
	int epoll = epoll_create1(0), fd[2];
	char c = 'e';

	CHECK_EQ(ur_event_pair(fd), 0);
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd[1], &ev));
	CHECK_EQ(epoll_wait(epoll, &ev, 1, 0), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(send(fd[0], &c, 1, 0), 1);
		CHECK_EQ(epoll_wait(epoll, &ev, 1, 0), 1);
		CHECK_EQ(ev.events, EPOLLIN);
		CHECK_EQ(epoll_wait(epoll, &ev, 1, 0), 0);
		CHECK_EQ(read(fd[1], &c, 1), 1);
		CHECK_EQ(epoll_wait(epoll, &ev, 1, 0), 0);
	}
	close(epoll);
	close(fd[0]);
	close(fd[1]);
}

static void program_sends_nothing(void)
{
	int fd[2];

	CHECK_EQ(ur_event_pair(fd), 0);
	CHECK(send(fd[1], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	      errno == EPIPE);
	close(fd[0]);
	close(fd[1]);
}

/* Messages that were sent are there still, after one ECONNRESET; then the end.
 * */
static void hang_up(void)
{
	char buf[16];
	int fd[2];

	CHECK_EQ(ur_event_pair(fd), 0);
	CHECK_EQ(send(fd[0], "abc", 3, 0), 3);
	close(fd[0]);
	CHECK_EQ(polled(fd[1]) & (POLLERR | POLLHUP | POLLIN),
		 POLLERR | POLLHUP | POLLIN);
	CHECK(read(fd[1], buf, sizeof(buf)) < 0 && errno == ECONNRESET);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 3);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 0);
	CHECK(polled(fd[1]) & POLLHUP);
	close(fd[1]);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(never_writable());
	CASE(edges());
	CASE(program_sends_nothing());
	CASE(hang_up());
	return cases_status();
}
