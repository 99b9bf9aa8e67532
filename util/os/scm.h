/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages over an AF_UNIX socket with descriptors (SCM_RIGHTS, unix(7)). The functions that
 * are not inline make the system calls; preload/ makes its own. */
#ifndef UR_UTIL_OS_SCM_H
#define UR_UTIL_OS_SCM_H

#include <string.h>
#include <sys/socket.h>

#define UR_SCM_MAX 8
/* Most that ur_scm_send() and ur_scm_recv() take. */
#define UR_SCM_MOST 32

/* Room for UR_SCM_MAX. To receive, give buf and its size to the msghdr. */
union ur_scm {
	struct cmsghdr align;
	char buf[CMSG_SPACE(UR_SCM_MAX * sizeof(int))];
};

/* Sends the pieces of @iov as one message with @count descriptors, which stay the caller's.
 * @flags: of sendmsg(2); MSG_NOSIGNAL is added. Returns 0 or -errno, never -EINTR. */
int ur_scm_send(int sock, const struct iovec *iov, size_t pieces,
		const int *fds, size_t count, int flags);
/* Does the same with one piece. */
int ur_scm_send_one(int sock, const void *data, size_t len, const int *fds,
		    size_t count, int flags);

/* Receives a message into the pieces of @iov. @fds: gets @room descriptors, close-on-exec and
 * the caller's, then -1; any further ones are closed. *@flags (may be NULL): MSG_TRUNC,
 * MSG_CTRUNC. Returns the number of bytes, 0 at the end of the connection, or -errno, never
 * -EINTR. */
ssize_t ur_scm_recv(int sock, const struct iovec *iov, size_t pieces, int *fds,
		    size_t room, int *flags);
/* Does the same with one piece. */
ssize_t ur_scm_recv_one(int sock, void *data, size_t len, int *fds, size_t room,
			int *flags);

/* Closes those descriptors that are not negative, and sets all to -1. */
void ur_scm_close(int *fds, size_t count);

/**
 * ur_scm_put() - send descriptors with a message
 * @mh: the message; its control data are set
 * @scm: the control data; must stay until @mh is sent
 * @fds, @count: at most UR_SCM_MAX; 0 sends none. They stay the caller's.
 */
static inline void ur_scm_put(struct msghdr *mh, union ur_scm *scm,
			      const int *fds, size_t count)
{
	struct cmsghdr *c = &scm->align;

	if (!count)
		return;
	memset(c, 0, CMSG_SPACE(count * sizeof(int)));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	mh->msg_control = c;
	mh->msg_controllen = CMSG_SPACE(count * sizeof(int));
}

/**
 * ur_scm_take() - take all descriptors of a received message
 * @mh: as recvmsg() left it
 * @fds, @room: gets the first descriptors, which are the caller's then
 * @drop: closes one without room, so that a peer who sends more than it
 * announces leaks nothing into us
 *
 * Return: how many are in @fds; the rest of it is unchanged.
 */
static inline unsigned int ur_scm_take(struct msghdr *mh, int *fds,
				       unsigned int room, int (*drop)(int fd))
{
	unsigned int n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (n < room)
				fds[n++] = fd;
			else
				drop(fd);
		}
	}
	return n;
}

#endif
