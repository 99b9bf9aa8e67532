// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A socket is writable while less than a quarter of its send buffer is used,
 * whether or not it may send. So the program's end gets the smallest buffer,
 * and fills it; what it sent stays unread while the other end is open.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/os/event_pair.h"

/* Linux takes a few of these for the smallest buffer, 4.5 KiB with its own
 * overhead. A system that takes more has other buffers, and its event files are
 * writable; they still work. */
#define FILL_BYTES 1024
#define FILL_MAX   64

/* Fills the send buffer of @fd. */
static int fill(int fd)
{
	static const char junk[FILL_BYTES];
	int least = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)))
		return -errno;
	for (int i = 0; i < FILL_MAX; i++)
		if (send(fd, junk, sizeof(junk), MSG_DONTWAIT | MSG_NOSIGNAL) <
		    0)
			return errno == EAGAIN ? 0 : -errno;
	return 0;
}

int ur_event_pair(int fd[2])
{
	int err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return -errno;
	err = fill(fd[1]);
	/* The client sends nothing here: descriptors that it sent would be
	 * released by whoever closes our end. */
	if (!err && shutdown(fd[0], SHUT_RD) < 0)
		err = -errno;
	if (err) {
		close(fd[0]);
		close(fd[1]);
	}
	return err;
}
