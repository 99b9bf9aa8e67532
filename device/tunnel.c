// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages of the tunnel with their descriptors. Received messages are checked for form.
 * The client may be slow or gone.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/tunnel.h"
#include "util/os/scm.h"

int ur_daemon_send(int sock, struct uroce_tun_msg *msg, const int *fds,
		   unsigned int nfds)
{
	union ur_scm scm;
	struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	msg->nfds = nfds;
	ur_scm_put(&mh, &scm, fds, nfds);
	do {
		n = sendmsg(sock, &mh, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int ur_daemon_send_done(int sock, struct uroce_tun_msg *msg, const void *outs,
			u32 len)
{
	struct iovec iov[] = {
		{.iov_base = msg, .iov_len = sizeof(*msg)},
		{.iov_base = (void *)(uintptr_t)outs, .iov_len = len}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t n;

	msg->nfds = 0;
	do {
		n = sendmsg(sock, &mh, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

void ur_daemon_close_fds(int *fds)
{
	for (int i = 0; i < UROCE_TUN_MAX_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static int recv_both(int sock, struct uroce_tun_msg *msg, int *fds,
		     void *window, u32 room, u32 *len)
{
	union ur_scm scm;
	struct iovec iov[] = {{.iov_base = msg, .iov_len = sizeof(*msg)},
			      {.iov_base = window, .iov_len = room}};
	struct msghdr mh = {.msg_iov = iov,
			    .msg_iovlen = 2,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	ssize_t n;

	for (int i = 0; i < UROCE_TUN_MAX_FDS; i++)
		fds[i] = -1;
	do {
		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	msg->nfds = ur_scm_take(&mh, fds, UROCE_TUN_MAX_FDS, close);
	if (n == 0)
		return -EPIPE;
	if (n < (ssize_t)sizeof(*msg) || (mh.msg_flags & MSG_TRUNC)) {
		ur_daemon_close_fds(fds);
		return -EPROTO;
	}
	if ((mh.msg_flags & MSG_CTRUNC) && fds[0] < 0)
		fds[0] = -ENFILE;
	msg->name[UROCE_TUN_NAME_MAX - 1] = 0;
	*len = (u32)((size_t)n - sizeof(*msg));
	return 0;
}

int ur_daemon_recv(int sock, struct uroce_tun_msg *msg, int *fds)
{
	u32 none;

	return recv_both(sock, msg, fds, NULL, 0, &none);
}

int ur_daemon_recv_call(int sock, struct uroce_tun_msg *msg, int *fds,
			u8 *window, u32 *len)
{
	return recv_both(sock, msg, fds, window, UROCE_TUN_WINDOW, len);
}

int ur_daemon_recv_memory(int sock, struct uroce_tun_msg *msg, int *fds,
			  void *bytes, u32 room, u32 *len)
{
	return recv_both(sock, msg, fds, bytes, room, len);
}

int ur_daemon_send_bytes(int sock, const void *bytes, u32 len)
{
	ssize_t n;

	do {
		n = send(sock, bytes, len, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}
