// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink as libmnl and libnl use it; the fake device sends back each
 * message, and as an answer to it the message of BIND. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"
#include "tests/unit/preload/cases.h"

static int open_socket(int flags)
{
	return socket(AF_NETLINK, SOCK_RAW | flags, NETLINK_RDMA);
}

static struct sockaddr_nl address(int fd)
{
	struct sockaddr_nl nl = {0};
	socklen_t len = sizeof(nl);

	CHECK(!getsockname(fd, (struct sockaddr *)&nl, &len));
	CHECK_EQ(len, sizeof(nl));
	CHECK_EQ(nl.nl_family, AF_NETLINK);
	return nl;
}

static int bind_to(int fd, uint32_t port, uint32_t groups)
{
	struct sockaddr_nl nl = {
		.nl_family = AF_NETLINK, .nl_pid = port, .nl_groups = groups};

	return bind(fd, (struct sockaddr *)&nl, sizeof(nl));
}

/* Returns the last BIND that the device got. */
static struct uroce_tun_bind ask(int fd)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK}, from = {0};
	struct nlmsghdr nlh = {.nlmsg_len = NLMSG_HDRLEN};
	struct uroce_tun_bind told;
	struct iovec iov = {&told, sizeof(told)};
	struct msghdr mh = {.msg_name = &from,
			    .msg_namelen = sizeof(from),
			    .msg_iov = &iov,
			    .msg_iovlen = 1};

	CHECK_EQ(sendto(fd, &nlh, sizeof(nlh), 0, (struct sockaddr *)&to,
			sizeof(to)),
		 sizeof(nlh));
	CHECK_EQ(recvmsg(fd, &mh, 0), sizeof(told));
	CHECK_EQ(mh.msg_namelen, sizeof(from));
	CHECK_EQ(from.nl_family, AF_NETLINK);
	CHECK_EQ(from.nl_pid, 0);
	return told;
}

static void test_options(int fd)
{
	int one = 1, got = 0;
	socklen_t len = sizeof(got);

	CHECK(!setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)));
	CHECK_EQ(ask(fd).flags, UROCE_TUN_NL_EXT_ACK);
	CHECK(!setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)));
	CHECK_EQ(ask(fd).flags, UROCE_TUN_NL_EXT_ACK | UROCE_TUN_NL_CAP_ACK);
	CHECK(!getsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &got, &len));
	CHECK_EQ(got, 1);
	got = 4;
	CHECK(!setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &got,
			  sizeof(got)));
	CHECK_EQ(ask(fd).groups, 8);
	CHECK(!setsockopt(fd, SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, &got,
			  sizeof(got)));
	CHECK_EQ(ask(fd).groups, 0);
	got = 65;
	CHECK(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &got,
			 sizeof(got)) &&
	      errno == EINVAL);
	CHECK(setsockopt(fd, SOL_NETLINK, 99, &one, sizeof(one)) &&
	      errno == ENOPROTOOPT);
	CHECK(setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, 1) &&
	      errno == EINVAL);
	got = 65536;
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &got, sizeof(got)));
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &got, &len));
	CHECK_EQ(got, AF_NETLINK);
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_TYPE, &got, &len));
	CHECK_EQ(got, SOCK_RAW);
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &got, &len));
	CHECK_EQ(got, NETLINK_RDMA);
}

static void test_address(int fd)
{
	struct sockaddr *volatile nowhere = NULL;
	uint32_t first = address(fd).nl_pid;
	int other = open_socket(SOCK_NONBLOCK);

	CHECK_EQ(first, getpid());
	CHECK_EQ(address(other).nl_pid, 0); /* not bound */
	CHECK(!bind_to(other, 0, 0));
	CHECK(address(other).nl_pid && address(other).nl_pid != first);
	CHECK_EQ(fcntl(other, F_GETFD), 0);
	CHECK(fcntl(other, F_GETFL) & O_NONBLOCK);
	close(other);
	other = open_socket(0);
	CHECK(!bind_to(other, 0x12345678, 8));
	CHECK_EQ(address(other).nl_pid, 0x12345678);
	CHECK_EQ(ask(other).port, 0x12345678);
	CHECK_EQ(ask(other).groups, 8);
	CHECK(bind_to(other, 5, 0) && errno == EINVAL); /* it has one */
	CHECK(bind(other, (struct sockaddr *)&first, 4) && errno == EINVAL);
	CHECK(bind(other, nowhere, sizeof(struct sockaddr_nl)) &&
	      errno == EFAULT);
	close(other);
}

/* A pointer to nowhere is the kernel's EFAULT. */
static void test_pointers(int fd)
{
	socklen_t len = 12;

	CHECK(bind(fd, NULL, 12) && errno == EFAULT);
	CHECK(bind(fd, NULL, 0) && errno == EINVAL);
	CHECK(getsockname(fd, NULL, &len) && errno == EFAULT);
	CHECK(getsockname(fd, (struct sockaddr *)&len, NULL) &&
	      errno == EFAULT);
	CHECK(setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, NULL, 4) &&
	      errno == EFAULT);
	len = 4;
	CHECK(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, NULL, &len) &&
	      errno == EFAULT);
	CHECK(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &len, NULL) &&
	      errno == EFAULT);
}

/* It is one open file for copies and children. */
static void test_shared(int fd)
{
	int copy = dup(fd), status;
	pid_t pid;

	CHECK_EQ(address(copy).nl_pid, address(fd).nl_pid);
	CHECK_EQ(ask(copy).port, address(fd).nl_pid);
	close(copy);
	pid = fork();
	if (!pid) {
		CHECK_EQ(ask(fd).port, getppid());
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(ask(fd).port, getpid());
}

void test_netlink(void)
{
	int fd = open_socket(SOCK_CLOEXEC), waiting = 0;
	struct nlmsghdr nlh = {.nlmsg_len = NLMSG_HDRLEN};
	char buf[64];
	struct stat st;

	CHECK(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK(!fstat(fd, &st) && S_ISSOCK(st.st_mode));
	CHECK(!bind_to(fd, 0, 0));
	test_options(fd);
	test_address(fd);
	test_pointers(fd);
	test_shared(fd);
	/* As a stream too, as sockets are. */
	CHECK_EQ(write(fd, &nlh, sizeof(nlh)), sizeof(nlh));
	CHECK_EQ(recv(fd, buf, sizeof(buf), MSG_PEEK | MSG_TRUNC),
		 sizeof(struct uroce_tun_bind));
	CHECK(!ioctl(fd, FIONREAD, &waiting) && waiting > 0);
	CHECK_EQ(read(fd, buf, sizeof(buf)), sizeof(struct uroce_tun_bind));
	close(fd);
	CHECK(socket(AF_NETLINK, SOCK_STREAM, NETLINK_RDMA) < 0 &&
	      errno == ESOCKTNOSUPPORT);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	CHECK(fd >= 0);
	CHECK(!bind_to(fd, 0, 0));
	close(fd);
}
