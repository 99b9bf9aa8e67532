// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages of the tunnel with their descriptors. Received messages are checked for form.
 * The client may be slow or gone.
 */
#include <errno.h>
#include <sys/socket.h>
#include "device/tunnel.h"
#include "util/os/scm.h"

int ur_daemon_send(int sock, struct uroce_tun_msg *msg, const int *fds,
		   unsigned int nfds)
{
	msg->nfds = nfds;
	return ur_scm_send_one(sock, msg, sizeof(*msg), fds, nfds, 0);
}

int ur_daemon_send_done(int sock, struct uroce_tun_msg *msg, const void *outs,
			u32 len)
{
	struct iovec iov[] = {{msg, sizeof(*msg)},
			      {(void *)(uintptr_t)outs, len}};

	msg->nfds = 0;
	return ur_scm_send(sock, iov, 2, NULL, 0, 0);
}

int ur_daemon_recv(int sock, struct uroce_tun_msg *msg, int *fds)
{
	u32 none;

	return ur_daemon_recv_more(sock, msg, fds, NULL, 0, &none);
}

int ur_daemon_recv_more(int sock, struct uroce_tun_msg *msg, int *fds,
			void *bytes, u32 room, u32 *len)
{
	struct iovec iov[] = {{msg, sizeof(*msg)}, {bytes, room}};
	int flags;
	ssize_t n = ur_scm_recv(sock, iov, 2, fds, UROCE_TUN_MAX_FDS, &flags);

	if (n <= 0)
		return n == 0 || n == -ECONNRESET ? -EPIPE : (int)n;
	if (n < (ssize_t)sizeof(*msg) || flags & MSG_TRUNC) {
		ur_scm_close(fds, UROCE_TUN_MAX_FDS);
		return -EPROTO;
	}
	if (flags & MSG_CTRUNC && fds[0] < 0)
		fds[0] = -ENFILE;
	msg->name[UROCE_TUN_NAME_MAX - 1] = 0;
	*len = (u32)((size_t)n - sizeof(*msg));
	return 0;
}

int ur_daemon_send_bytes(int sock, const void *bytes, u32 len)
{
	return ur_scm_send_one(sock, bytes, len, NULL, 0, 0);
}
