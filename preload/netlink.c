// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink. Such a socket is a connection to the device, which answers as
 * the kernel does; send(), recv(), poll() and dup() need no help. This file
 * adds what a connection lacks: a port id, netlink's options, and the kernel as
 * the peer.
 *
 * If the kernel has RDMA devices of its own, or the device is too old, RDMA
 * netlink is refused: libibverbs then reads the tree, which shows both.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/fdmap.h"
#include "preload/rundir_choice.h"
#include "preload/real.h"
#include "preload/tunnel.h"

#define TYPE_MASK 0xf /* the type in socket(2)'s type; the rest is flags */

static int fail(int err)
{
	errno = err;
	return -1;
}

/* ---- the socket ---- */

static bool is_entry(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Returns whether the kernel itself has devices, whatever the tree shows. */
static bool kernel_has_devices(void)
{
	struct {
		uint64_t ino;
		int64_t off;
		unsigned short reclen;
		unsigned char type;
		char name[];
	} * e;
	char buf[1024] __attribute__((aligned(8)));
	bool any = false;
	long n, fd;

	fd = syscall(SYS_openat, AT_FDCWD, "/sys/class/infiniband",
		     O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = syscall(SYS_getdents64, (int)fd, buf, sizeof(buf));
	for (long at = 0; at < n && !any; at += e->reclen) {
		e = (void *)(buf + at);
		any = is_entry(e->name);
	}
	syscall(SYS_close, (int)fd);
	return any;
}

/* Declares the connection as netlink to the device. */
static int introduce(int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_NETLINK,
				    .open.version = UROCE_TUN_VERSION,
				    .open.features = UROCE_TUN_F_ALL};
	int fds[UROCE_TUN_MAX_FDS], err;

	err = ur_tunnel_send(sock, &msg, -1);
	err = ur_tunnel_recv_first(sock, &msg, fds, err);
	if (err)
		return err;
	ur_tunnel_close_fds(fds);
	if (msg.op != UROCE_TUN_DONE)
		return -EIO;
	return msg.ret < 0 ? (int)msg.ret : 0;
}

/* Returns a port id: like the kernel, the process's own for its first socket,
 * and numbers of no process for others. */
static uint32_t next_port(void)
{
	static _Atomic uint32_t sockets, generation;
	uint32_t now = ur_fdmap_generation(), n;

	if (atomic_exchange(&generation, now) != now)
		atomic_store(&sockets, 0);
	n = atomic_fetch_add(&sockets, 1);
	return n ? (uint32_t)-4096 - n : (uint32_t)syscall(SYS_getpid);
}

static void tell(int fd, const struct ur_file *file)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_BIND,
				    .kind = UROCE_TUN_NETLINK,
				    .bind.port = file->nl_port,
				    .bind.groups = file->nl_groups,
				    .bind.flags = file->nl_flags};

	ur_tunnel_send(fd, &msg, -1);
}

/* Gives the application the connection. */
static int expose_netlink(int sock, int type)
{
	struct ur_file *file;
	int fd;

	fd = (int)syscall(SYS_fcntl, sock,
			  type & SOCK_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	if (fd < 0)
		return -errno;
	if (type & SOCK_NONBLOCK)
		syscall(SYS_fcntl, fd, F_SETFL,
			syscall(SYS_fcntl, fd, F_GETFL, 0) | O_NONBLOCK);
	file = ur_fdmap_new(UROCE_TUN_NETLINK, -1);
	if (!file || !ur_fdmap_bind(fd, file)) {
		syscall(SYS_close, fd);
		fd = -ENFILE;
	} else {
		file->nl_type = type & TYPE_MASK;
		file->nl_port = next_port();
		tell(fd, file);
	}
	if (file)
		ur_fdmap_put(file);
	return fd;
}

static int open_netlink(int type)
{
	int sock, fd;

	if ((type & TYPE_MASK) != SOCK_RAW && (type & TYPE_MASK) != SOCK_DGRAM)
		return fail(ESOCKTNOSUPPORT);
	if (ur_fdmap_borrowed() || kernel_has_devices())
		return fail(EPROTONOSUPPORT);
	sock = ur_tunnel_connect_with_rights();
	if (sock < 0)
		return fail(EPROTONOSUPPORT);
	fd = introduce(sock) ? -EPROTONOSUPPORT : expose_netlink(sock, type);
	syscall(SYS_close, sock);
	return fd < 0 ? fail(-fd) : fd;
}

UR_EXPORT int socket(int domain, int type, int protocol)
{
	int fd;

	if (domain == AF_NETLINK && protocol == NETLINK_RDMA &&
	    ur_chosen_rundir_serves())
		return open_netlink(type);
	fd = ur_real(socket)(domain, type, protocol);
	if (fd >= 0 && ur_fdmap_hit(fd) && !ur_fdmap_borrowed())
		ur_fdmap_forget(fd);
	return fd;
}

/* ---- what a connection lacks ---- */

/* Returns the file with a reference; NULL: not a netlink socket of ours. */
static struct ur_file *get(int fd)
{
	struct ur_file *file = ur_fdmap_hit(fd) ? ur_fdmap_get(fd) : NULL;

	if (!file || file->kind == UROCE_TUN_NETLINK)
		return file;
	ur_fdmap_put(file);
	return NULL;
}

static void put_address(void *to, socklen_t *len, uint32_t port,
			uint32_t groups)
{
	struct sockaddr_nl nl = {
		.nl_family = AF_NETLINK, .nl_pid = port, .nl_groups = groups};

	if (to)
		memcpy(to, &nl, *len < sizeof(nl) ? *len : sizeof(nl));
	*len = sizeof(nl);
}

UR_EXPORT int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct ur_file *file = get(fd);
	struct sockaddr_nl nl;
	int err = 0;

	if (!file)
		return ur_real(bind)(fd, addr, len);
	if (len && !addr) {
		err = EFAULT;
	} else if (len < sizeof(nl)) {
		err = EINVAL;
	} else if (!addr) {
		err = EFAULT;
	} else {
		memcpy(&nl, addr, sizeof(nl));
		if (nl.nl_family != AF_NETLINK)
			err = EINVAL;
		else if (nl.nl_pid && file->nl_bound &&
			 nl.nl_pid != file->nl_port)
			err = EINVAL;
	}
	if (!err) {
		if (nl.nl_pid)
			file->nl_port = nl.nl_pid;
		file->nl_bound = 1;
		file->nl_groups =
			(file->nl_groups & ~0xffffffffull) | nl.nl_groups;
		tell(fd, file);
	}
	ur_fdmap_put(file);
	return err ? fail(err) : 0;
}

UR_EXPORT int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct ur_file *file = get(fd);

	if (!file)
		return ur_real(getsockname)(fd, addr, len);
	if (!len || (*len && !addr)) {
		ur_fdmap_put(file);
		return fail(EFAULT);
	}
	put_address(addr, len, file->nl_bound ? file->nl_port : 0,
		    (uint32_t)file->nl_groups);
	ur_fdmap_put(file);
	return 0;
}

static int set_flag(struct ur_file *file, uint64_t flag, int on)
{
	file->nl_flags = on ? file->nl_flags | flag : file->nl_flags & ~flag;
	return 0;
}

static int set_group(struct ur_file *file, int group, bool member)
{
	uint64_t bit;

	if (group < 1 || group > 64)
		return EINVAL;
	bit = 1ull << (group - 1);
	file->nl_groups =
		member ? file->nl_groups | bit : file->nl_groups & ~bit;
	return 0;
}

static int set_option(struct ur_file *file, int name, const void *value,
		      socklen_t len)
{
	int v;

	if (len < sizeof(v))
		return EINVAL;
	if (!value)
		return EFAULT;
	memcpy(&v, value, sizeof(v));
	switch (name) {
	case NETLINK_EXT_ACK:
		return set_flag(file, UROCE_TUN_NL_EXT_ACK, v);
	case NETLINK_CAP_ACK:
		return set_flag(file, UROCE_TUN_NL_CAP_ACK, v);
	case NETLINK_ADD_MEMBERSHIP:
	case NETLINK_DROP_MEMBERSHIP:
		return set_group(file, v, name == NETLINK_ADD_MEMBERSHIP);
	case NETLINK_NO_ENOBUFS:
	case NETLINK_GET_STRICT_CHK:
		return 0; /* nothing here depends on them */
	default:
		return ENOPROTOOPT;
	}
}

UR_EXPORT int setsockopt(int fd, int level, int name, const void *value,
			 socklen_t len)
{
	struct ur_file *file = level == SOL_NETLINK ? get(fd) : NULL;
	int err;

	if (!file)
		return ur_real(setsockopt)(fd, level, name, value, len);
	err = set_option(file, name, value, len);
	if (!err)
		tell(fd, file);
	ur_fdmap_put(file);
	return err ? fail(err) : 0;
}

/* Returns an option's value that differs from the connection's; -1: the
 * system's is right. */
static int get_option(const struct ur_file *file, int level, int name)
{
	if (level == SOL_SOCKET)
		return name == SO_DOMAIN     ? AF_NETLINK
		       : name == SO_TYPE     ? (int)file->nl_type
		       : name == SO_PROTOCOL ? NETLINK_RDMA
					     : -1;
	if (level == SOL_NETLINK && name == NETLINK_EXT_ACK)
		return (file->nl_flags & UROCE_TUN_NL_EXT_ACK) != 0;
	if (level == SOL_NETLINK && name == NETLINK_CAP_ACK)
		return (file->nl_flags & UROCE_TUN_NL_CAP_ACK) != 0;
	return -1;
}

UR_EXPORT int getsockopt(int fd, int level, int name, void *value,
			 socklen_t *len)
{
	struct ur_file *file = get(fd);
	int v;

	if (!file)
		return ur_real(getsockopt)(fd, level, name, value, len);
	v = get_option(file, level, name);
	ur_fdmap_put(file);
	if (v < 0)
		return level == SOL_NETLINK
			       ? fail(ENOPROTOOPT)
			       : ur_real(getsockopt)(fd, level, name, value,
						     len);
	if (!len)
		return fail(EFAULT);
	if (*len < sizeof(v))
		return fail(EINVAL);
	if (!value)
		return fail(EFAULT);
	memcpy(value, &v, sizeof(v));
	*len = sizeof(v);
	return 0;
}

/* Makes messages come from the kernel, port 0; and the end of the connection an
 * error, since netlink has no end. */
UR_EXPORT ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct ur_file *file = get(fd);
	struct msghdr own;
	ssize_t n;

	if (!file)
		return ur_real(recvmsg)(fd, msg, flags);
	ur_fdmap_put(file);
	if (!msg)
		return fail(EFAULT);
	/* The connection's peer address is longer than a netlink address. */
	own = *msg;
	own.msg_name = NULL;
	own.msg_namelen = 0;
	n = ur_real(recvmsg)(fd, &own, flags);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return fail(ENODEV);
	if (n < 0)
		return n;
	msg->msg_controllen = own.msg_controllen;
	msg->msg_flags = own.msg_flags;
	if (msg->msg_name)
		put_address(msg->msg_name, &msg->msg_namelen, 0, 0);
	return n;
}

UR_EXPORT ssize_t recvfrom(int fd, void *buf, size_t size, int flags,
			   struct sockaddr *addr, socklen_t *len)
{
	struct ur_file *file = get(fd);
	socklen_t room = addr && len ? *len : 0;
	ssize_t n;

	if (!file)
		return ur_real(recvfrom)(fd, buf, size, flags, addr, len);
	ur_fdmap_put(file);
	n = ur_real(recvfrom)(fd, buf, size, flags, NULL, NULL);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return fail(ENODEV);
	if (n > 0 && addr && len) {
		put_address(addr, &room, 0, 0);
		*len = room;
	}
	return n;
}
