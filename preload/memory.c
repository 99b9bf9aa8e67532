// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Gives the device the caller's memory: by descriptors, or by requests in the
 * middle of a command. The kernel copies between the connection and the memory,
 * so a bad address is an error and not a fault. The device may request any
 * address, which a descriptor would allow too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/tunnel.h"

static bool is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

int ur_memory_open(int fds[UROCE_TUN_MAX_FDS])
{
	/* In two steps: qemu-user answers for /proc/self/maps itself, with a
	 * file that is not procfs's. */
	int self = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self",
				O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	int err = 0;

	fds[0] = fds[1] = -1;
	if (self < 0)
		return is_shortage(-errno) ? -errno : 0;
	fds[0] = (int)syscall(SYS_openat, self, "mem", O_RDWR | O_CLOEXEC, 0);
	if (fds[0] >= 0)
		fds[1] = (int)syscall(SYS_openat, self, "maps",
				      O_RDONLY | O_CLOEXEC, 0);
	if (fds[1] < 0)
		err = -errno;
	syscall(SYS_close, self);
	if (!err)
		return 2;
	if (fds[0] >= 0)
		syscall(SYS_close, fds[0]);
	return is_shortage(err) ? err : 0;
}

static bool is_sound(const struct uroce_tun_memory *m)
{
	return m->len && m->len <= UROCE_TUN_WINDOW &&
	       m->addr <= UINTPTR_MAX - m->len;
}

static int answer(int sock, int64_t ret)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_MEMORY, .ret = ret};

	return ur_tunnel_send(sock, &msg, -1);
}

int ur_tunnel_get_memory(int sock, const struct uroce_tun_msg *msg)
{
	struct uroce_tun_msg head = {.op = UROCE_TUN_MEMORY};
	struct iovec iov[] = {{.iov_base = &head, .iov_len = sizeof(head)},
			      {.iov_base = (void *)(uintptr_t)msg->memory.addr,
			       .iov_len = msg->memory.len}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = 2};
	long n;

	if (!is_sound(&msg->memory))
		return -EIO;
	do
		n = syscall(SYS_sendmsg, sock, &mh, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EFAULT ? answer(sock, -EFAULT) : -EIO;
	return 0;
}

int ur_tunnel_put_memory(int sock, const struct uroce_tun_msg *msg)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)msg->memory.addr,
			    .iov_len = msg->memory.len};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	long n;

	if (!is_sound(&msg->memory))
		return -EIO;
	do
		n = syscall(SYS_recvmsg, sock, &mh, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	/* The error has consumed the message. */
	if (n < 0 && errno == EFAULT)
		return answer(sock, -EFAULT);
	if (n != (long)msg->memory.len || (mh.msg_flags & MSG_TRUNC))
		return -EIO;
	return answer(sock, 0);
}

int ur_tunnel_send_open(int sock, struct uroce_tun_msg *msg, uint32_t kind,
			const char *node, uint64_t cookie, uint64_t fd)
{
	int fds[2], err, n;

	*msg = (struct uroce_tun_msg){.op = UROCE_TUN_OPEN,
				      .kind = kind,
				      .open.version = UROCE_TUN_VERSION,
				      .open.fd = fd,
				      .open.features = UROCE_TUN_F_ALL,
				      .open.cookie = cookie,
				      .open.self = (uint64_t)(uintptr_t)msg};
	/* No other memory contains this message, by chance or by intent. */
	syscall(SYS_getrandom, &msg->ret, sizeof(msg->ret), 1 /* no wait */);
	n = ur_memory_open(fds);
	if (n < 0)
		return n;
	strcpy(msg->name, node);
	err = ur_tunnel_send_fds(sock, msg, fds, (unsigned int)n);
	for (int i = 0; i < n; i++)
		syscall(SYS_close, fds[i]);
	return err;
}
