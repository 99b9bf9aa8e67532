/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The two tunnel commands that need no open file: SYNC and STATUS. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/client.h"
#include "kernel-abi/uroce-tunnel.h"

/* Far above any status text; a device that says more is not ours. */
#define STATUS_MAX (64u << 20)

static int send_one(int sock, const struct uroce_tun_msg *msg, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = {0};
	struct iovec iov = {(void *)(uintptr_t)msg, sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;

	if (fd >= 0) {
		mh.msg_control = ctl.buf;
		mh.msg_controllen = sizeof(ctl.buf);
		cmsg = CMSG_FIRSTHDR(&mh);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	return sendmsg(sock, &mh, MSG_NOSIGNAL) == sizeof(*msg) ? 0 : -EIO;
}

int ur_client_ask(int sock, struct uroce_tun_msg *msg, int fd, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(UROCE_TUN_MAX_FDS * sizeof(int))];
	} ctl;
	struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = ctl.buf,
			    .msg_controllen = sizeof(ctl.buf)};
	struct cmsghdr *cmsg;
	ssize_t n;

	*ret_fd = -1;
	msg->nfds = fd >= 0;
	if (send_one(sock, msg, fd))
		return -EIO;
	do
		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*msg) || msg->op != UROCE_TUN_DONE)
		return -EIO;
	cmsg = CMSG_FIRSTHDR(&mh);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(int));
	return msg->ret < 0 ? (int)msg->ret : 0;
}

int ur_client_connect(const char *run_dir)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int dirfd, sock, err, fd;

	/* Through a descriptor: a socket's name holds 107 characters. */
	dirfd = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/%s",
		 dirfd, UROCE_TUN_SOCKET);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	err = sock < 0 || connect(sock, (struct sockaddr *)&sun, sizeof(sun))
		      ? -errno
		      : 0;
	close(dirfd);
	if (!err)
		err = ur_client_ask(sock, &msg, -1, &fd);
	if (!err && fd >= 0)
		close(fd);
	if (!err)
		return sock;
	if (sock >= 0)
		close(sock);
	return err;
}

int ur_client_status(int sock, const char *subject, char **ret_text,
		     size_t *ret_size)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	size_t done = 0;
	int err, fd;
	char *text;

	snprintf(msg.name, sizeof(msg.name), "%s", subject);
	err = ur_client_ask(sock, &msg, -1, &fd);
	if (err)
		goto out;
	err = -EIO;
	if (fd < 0 || msg.len > STATUS_MAX)
		goto out;
	text = malloc(msg.len + 1);
	if (!text) {
		err = -ENOMEM;
		goto out;
	}
	while (done < msg.len) {
		ssize_t n = pread(fd, text + done, msg.len - done, (off_t)done);

		if (n <= 0) {
			free(text);
			goto out;
		}
		done += (size_t)n;
	}
	text[done] = '\0';
	*ret_text = text;
	*ret_size = done;
	err = 0;
out:
	if (fd >= 0)
		close(fd);
	return err;
}
