/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Descriptors of a message over an AF_UNIX socket (SCM_RIGHTS, unix(7)): only
 * their format. Senders and receivers make the system calls. */
#ifndef UR_UTIL_OS_SCM_H
#define UR_UTIL_OS_SCM_H

#include <string.h>
#include <sys/socket.h>

#define UR_SCM_MAX 8

/* Room for that many. To receive, give buf and its size to the msghdr. */
union ur_scm {
	struct cmsghdr align;
	char buf[CMSG_SPACE(UR_SCM_MAX * sizeof(int))];
};

/**
 * ur_scm_put_into() - as ur_scm_put(), for any number of descriptors
 * @room: of CMSG_SPACE(count * sizeof(int)) bytes
 */
static inline void ur_scm_put_into(struct msghdr *mh, struct cmsghdr *room,
				   const int *fds, size_t count)
{
	if (!count)
		return;
	memset(room, 0, CMSG_SPACE(count * sizeof(int)));
	room->cmsg_level = SOL_SOCKET;
	room->cmsg_type = SCM_RIGHTS;
	room->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(room), fds, count * sizeof(int));
	mh->msg_control = room;
	mh->msg_controllen = CMSG_SPACE(count * sizeof(int));
}

/**
 * ur_scm_put() - send descriptors with a message
 * @mh: the message; its control data are set
 * @scm: the control data; must stay until @mh is sent
 * @fds, @count: at most UR_SCM_MAX; 0 sends none. They stay the caller's.
 */
static inline void ur_scm_put(struct msghdr *mh, union ur_scm *scm,
			      const int *fds, size_t count)
{
	ur_scm_put_into(mh, &scm->align, fds, count);
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
