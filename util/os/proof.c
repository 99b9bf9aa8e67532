// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes and recognises sockets that need a capability. */
#include "util/os/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct has[2] = {0};

	return !syscall(SYS_capget, &head, has) &&
	       has[number / 32].effective >> (number % 32) & 1;
}

int ur_proof_net_admin(void)
{
	const struct sockaddr_nl group = {.nl_family = AF_NETLINK,
					  .nl_groups = 1};
	int fd, err;

	if (!has_capability(CAP_NET_ADMIN))
		return -EPERM;
	fd = (int)syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			  NETLINK_USERSOCK);
	if (fd < 0)
		return -errno;
	if (!syscall(SYS_bind, fd, &group, sizeof(group)))
		return fd;
	err = -errno;
	syscall(SYS_close, fd);
	return err;
}

int ur_proof_of(const char *dir)
{
	int fd = ur_proof_net_admin(), dirfd;

	if (fd >= 0 || geteuid())
		return fd;
	dirfd = (int)syscall(SYS_openat, AT_FDCWD, dir,
			     O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (dirfd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat, dirfd, "lock",
			  O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	fd = fd < 0 ? -errno : fd;
	syscall(SYS_close, dirfd);
	return fd;
}

#define RAW_PROTOCOL 253

static int raw_socket(int family, int protocol)
{
	int fd;

	if (!has_capability(CAP_NET_RAW))
		return -EPERM;
	fd = (int)syscall(SYS_socket, family, SOCK_RAW | SOCK_CLOEXEC,
			  protocol);
	return fd < 0 ? -errno : fd;
}

int ur_proof_net_raw(void)
{
	return raw_socket(AF_PACKET, 0);
}

int ur_proof_net_raw_ip(void)
{
	return raw_socket(AF_INET, RAW_PROTOCOL);
}

/* If all are taken, the last one's error counts. */
#define LAST_PRIVILEGED 1023

int ur_proof_net_bind(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int fd, err = 0;

	if (!has_capability(CAP_NET_BIND_SERVICE))
		return -EPERM;
	fd = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	for (uint16_t port = 1; port <= LAST_PRIVILEGED; port++) {
		at.sin_port = htons(port);
		if (!syscall(SYS_bind, fd, &at, sizeof(at)))
			return fd;
		err = -errno;
		if (err != -EADDRINUSE)
			break;
	}
	syscall(SYS_close, fd);
	return err;
}

/* Returns a socket option; -1: no socket. */
static int get(int fd, int option)
{
	int v = -1;
	socklen_t len = sizeof(v);

	return syscall(SYS_getsockopt, fd, SOL_SOCKET, option, &v, &len) ? -1
									 : v;
}

bool ur_proves_net_admin(int fd)
{
	struct sockaddr_nl is = {0};
	socklen_t len = sizeof(is);

	return get(fd, SO_DOMAIN) == AF_NETLINK &&
	       get(fd, SO_PROTOCOL) == NETLINK_USERSOCK &&
	       !syscall(SYS_getsockname, fd, &is, &len) && is.nl_groups;
}

bool ur_proves_net_raw(int fd)
{
	int domain = get(fd, SO_DOMAIN), type = get(fd, SO_TYPE);

	if (domain == AF_PACKET)
		return type == SOCK_RAW || type == SOCK_DGRAM;
	return domain == AF_INET && type == SOCK_RAW &&
	       get(fd, SO_PROTOCOL) == RAW_PROTOCOL;
}

/* Only UDP sockets count: another protocol's "port" may be something else (an
 * echo request's identifier, which anybody may choose). */
bool ur_proves_net_bind(int fd, unsigned int limit)
{
	struct sockaddr_in is = {0};
	socklen_t len = sizeof(is);

	return get(fd, SO_DOMAIN) == AF_INET &&
	       get(fd, SO_TYPE) == SOCK_DGRAM &&
	       get(fd, SO_PROTOCOL) == IPPROTO_UDP &&
	       !syscall(SYS_getsockname, fd, &is, &len) &&
	       is.sin_family == AF_INET && is.sin_port &&
	       ntohs(is.sin_port) < limit;
}
