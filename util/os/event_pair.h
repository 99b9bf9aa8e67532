/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A pair of sockets, one end of which is a program's event file: readable when
 * there is an event, and never writable, like the kernel's.
 */
#ifndef UR_UTIL_OS_EVENT_PAIR_H
#define UR_UTIL_OS_EVENT_PAIR_H

/*
 * Makes the pair, close-on-exec: fd[0] sends events and receives nothing, fd[1]
 * receives them, one datagram each, and can send nothing. Both are the caller's.
 * poll() of fd[1] says POLLIN and POLLRDNORM for an event, and adds POLLHUP and
 * POLLERR when fd[0] is closed; the first read after that fails with ECONNRESET,
 * the others find what was sent before, then the end. Takes 10 KiB of the
 * kernel's memory. Returns 0 or -errno. Any thread.
 */
int ur_event_pair(int fd[2]);

#endif
