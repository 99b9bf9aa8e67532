// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sends and receives messages with descriptors. */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "util/os/scm.h"

union room {
	union ur_scm scm;
	char buf[CMSG_SPACE(UR_SCM_MOST * sizeof(int))];
};

int ur_scm_send(int sock, const struct iovec *iov, size_t pieces,
		const int *fds, size_t count, int flags)
{
	struct msghdr mh = {.msg_iov = (struct iovec *)(uintptr_t)iov,
			    .msg_iovlen = pieces};
	union room room;
	ssize_t n;

	ur_scm_put(&mh, &room.scm, fds, count);
	do
		n = sendmsg(sock, &mh, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int ur_scm_send_one(int sock, const void *data, size_t len, const int *fds,
		    size_t count, int flags)
{
	struct iovec iov = {(void *)(uintptr_t)data, len};

	return ur_scm_send(sock, &iov, 1, fds, count, flags);
}

ssize_t ur_scm_recv(int sock, const struct iovec *iov, size_t pieces, int *fds,
		    size_t room, int *flags)
{
	size_t most = room > UR_SCM_MAX ? UR_SCM_MOST : UR_SCM_MAX;
	union room come;
	struct msghdr mh = {.msg_iov = (struct iovec *)(uintptr_t)iov,
			    .msg_iovlen = pieces,
			    .msg_control = &come,
			    .msg_controllen = CMSG_SPACE(most * sizeof(int))};
	ssize_t n;

	for (size_t i = 0; i < room; i++)
		fds[i] = -1;
	do
		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	ur_scm_take(&mh, fds, (unsigned int)room, close);
	if (flags)
		*flags = mh.msg_flags;
	return n;
}

ssize_t ur_scm_recv_one(int sock, void *data, size_t len, int *fds, size_t room,
			int *flags)
{
	struct iovec iov = {data, len};

	return ur_scm_recv(sock, &iov, 1, fds, room, flags);
}

void ur_scm_close(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}
