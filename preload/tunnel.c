// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages to and from the device, and their connection. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/rundir_choice.h"
#include "preload/tunnel.h"
#include "util/os/proof.h"
#include "util/os/rundir.h"
#include "util/os/scm.h"
#include "util/os/valgrind.h"

int ur_tunnel_raise(int fd)
{
	struct rlimit lim = {.rlim_cur = 1024};
	int base, up;

	/* Half of the limit leaves room on both sides. A kernel table for 4096
	 * descriptors is 32 KiB; every process would pay for more. */
	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &lim);
	base = lim.rlim_cur > 8192 ? 4096 : (int)lim.rlim_cur / 2;
	up = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, base);
	if (up < 0)
		return -errno;
	syscall(SYS_close, fd);
	return up;
}

int ur_tunnel_connect(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const char *dir = ur_chosen_rundir();
	int sock, up, dirfd = -1, err = ur_rundir_check(dir);

	if (err)
		return err;
	if (strlen(dir) + sizeof("/" UROCE_TUN_SOCKET) <=
	    sizeof(sun.sun_path)) {
		strcpy(sun.sun_path, dir);
		/* a long name is reached through a descriptor of its directory */
	} else {
		char digits[12], *p = digits + sizeof(digits) - 1;
		int n;

		dirfd = (int)syscall(SYS_openat, AT_FDCWD, dir,
				     O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		if (dirfd < 0)
			return -errno;
		*p = '\0';
		n = dirfd;
		do
			*--p = (char)('0' + n % 10);
		while (n /= 10);
		strcpy(sun.sun_path, "/proc/self/fd/");
		strcat(sun.sun_path, p);
	}
	strcat(sun.sun_path, "/" UROCE_TUN_SOCKET);
	sock = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC,
			    0);
	if (sock < 0) {
		err = -errno;
		goto out;
	}
	do
		err = syscall(SYS_connect, sock, &sun, sizeof(sun)) ? -errno
								    : 0;
	while (err == -EINTR);
	if (!err)
		err = ur_rundir_check_peer(dir, sock);
	if (err < 0) {
		syscall(SYS_close, sock);
		goto out;
	}
	up = ur_tunnel_raise(sock);
	err = up >= 0 ? up : sock;
out:
	if (dirfd >= 0)
		syscall(SYS_close, dirfd);
	return err;
}

int ur_tunnel_send_fds(int sock, struct uroce_tun_msg *msg, const int *fds,
		       unsigned int nfds)
{
	union ur_scm scm;
	struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	long n;

	msg->nfds = nfds;
	ur_scm_put(&mh, &scm, fds, nfds);
	do
		n = syscall(SYS_sendmsg, sock, &mh, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n == (long)sizeof(*msg))
		return 0;
	return n < 0 && errno == EBADF && nfds ? -EBADF : -EIO;
}

int ur_tunnel_send(int sock, struct uroce_tun_msg *msg, int fd)
{
	return ur_tunnel_send_fds(sock, msg, &fd, fd >= 0);
}

/* Sends a command to which nobody may have written all bytes: the kernel's device never reads
 * those, but our device gets them, and Valgrind would report them. To Valgrind, bytes read by a
 * system call are written. Returns 0, -EFAULT (nothing was sent) or -EIO. */
static int send_written(int sock, struct uroce_tun_msg *msg,
			const struct iovec *mem)
{
	char bytes[UROCE_TUN_WINDOW];
	struct iovec to = {bytes, mem->iov_len};
	struct iovec iov[] = {{msg, sizeof(*msg)}, to};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = 2};
	long n;

	if (syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1ul, mem,
		    1ul, 0ul) != (long)mem->iov_len)
		return -EFAULT;
	do
		n = syscall(SYS_sendmsg, sock, &mh, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -EIO : 0;
}

int ur_tunnel_send_call(int sock, struct uroce_tun_msg *msg, const void *mem,
			size_t len)
{
	struct iovec iov[] = {
		{.iov_base = msg, .iov_len = sizeof(*msg)},
		{.iov_base = (void *)mem,
		 .iov_len = len < UROCE_TUN_WINDOW ? len : UROCE_TUN_WINDOW}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = 2};
	long n = -EFAULT;

	msg->nfds = 0;
	if (ur_is_under_valgrind())
		n = send_written(sock, msg, &iov[1]);
	if (n != -EFAULT)
		return (int)n;
	do
		n = syscall(SYS_sendmsg, sock, &mh, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EFAULT) {
		msg->call.out_from = msg->call.out_to = 0;
		return ur_tunnel_send(sock, msg, -1);
	}
	return n < 0 ? -EIO : 0;
}

static int drop(int fd)
{
	return (int)syscall(SYS_close, fd);
}

void ur_tunnel_close_fds(int *fds)
{
	for (int i = 0; i < UROCE_TUN_MAX_FDS; i++) {
		if (fds[i] >= 0)
			drop(fds[i]);
		fds[i] = -1;
	}
}

static int recv_both(int sock, struct uroce_tun_msg *msg, int *ret_fds,
		     void *outs, size_t room, size_t *ret_len, int flags)
{
	union ur_scm scm;
	struct iovec iov[] = {{.iov_base = msg, .iov_len = sizeof(*msg)},
			      {.iov_base = outs, .iov_len = room}};
	struct msghdr mh = {.msg_iov = iov,
			    .msg_iovlen = 2,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	long n;

	for (int i = 0; i < UROCE_TUN_MAX_FDS; i++)
		ret_fds[i] = -1;
	/* A reset is reported once, before data that were sent earlier. */
	do
		n = syscall(SYS_recvmsg, sock, &mh, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n > 0)
		ur_scm_take(&mh, ret_fds, UROCE_TUN_MAX_FDS, drop);
	if (n < (long)sizeof(*msg) || (mh.msg_flags & MSG_TRUNC)) {
		ur_tunnel_close_fds(ret_fds);
		return -EIO;
	}
	/* The message is complete; only descriptors were cut. */
	if (mh.msg_flags & MSG_CTRUNC) {
		ur_tunnel_close_fds(ret_fds);
		ret_fds[0] = -EMFILE;
	}
	*ret_len = (size_t)n - sizeof(*msg);
	return 0;
}

int ur_tunnel_recv(int sock, struct uroce_tun_msg *msg, int *ret_fds)
{
	size_t none;

	return recv_both(sock, msg, ret_fds, NULL, 0, &none, 0);
}

int ur_tunnel_recv_first(int sock, struct uroce_tun_msg *msg, int *ret_fds,
			 int sent)
{
	size_t none;

	if (sent && sent != -EIO)
		return sent;
	return recv_both(sock, msg, ret_fds, NULL, 0, &none,
			 sent ? MSG_DONTWAIT : 0);
}

int ur_tunnel_recv_done(int sock, struct uroce_tun_msg *msg, int *ret_fds,
			void *outs, size_t *ret_len)
{
	return recv_both(sock, msg, ret_fds, outs, UROCE_TUN_WINDOW, ret_len,
			 0);
}

int ur_tunnel_connect_with_rights(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int fds[UROCE_TUN_MAX_FDS], err, fd, sock = ur_tunnel_connect();

	if (sock < 0)
		return sock;
	/* Another user's device could misuse the proof. */
	fd = ur_rundir_check_peer(ur_chosen_rundir(), sock)
		     ? -EPERM
		     : ur_proof_of(ur_chosen_rundir());
	if (fd < 0)
		return sock;
	/* The device checks the proof only when it needs it. */
	err = ur_tunnel_send(sock, &msg, fd);
	syscall(SYS_close, fd);
	err = ur_tunnel_recv_first(sock, &msg, fds, err);
	if (!err)
		ur_tunnel_close_fds(fds);
	if (!err && msg.ret < 0 && msg.ret != -EPERM && msg.ret != -EXDEV)
		err = (int)msg.ret;
	if (!err)
		return sock;
	syscall(SYS_close, sock);
	return err;
}

void ur_tunnel_end(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	struct timespec left = {.tv_sec = 1}; /* the kernel counts down */
	long n;

	if (shutdown(sock, SHUT_WR))
		return;
	do
		n = syscall(SYS_ppoll, &p, 1, &left, NULL, 0);
	while (n < 0 && errno == EINTR);
}
