/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Things that keep others waiting: a file whose system (a process of the
 * test's) does not answer, memory that is a page of it, memory under a
 * userfaultfd that nobody serves, and a socket that lingers. */
#ifndef UR_TESTS_DEVICE_STUCK_H
#define UR_TESTS_DEVICE_STUCK_H

#include <stddef.h>

#define STUCK_BYTES 65536

/* Mount it and map the file; NULL where that is not allowed. Once in a
 * process, with a mount namespace of its own from then on. */
void *stuck_map(void);
/* The same file, open: whoever else closes it, or asks about it, waits. Before
 * stuck_map(), instead of it. -1 where that is not allowed. */
int stuck_open(void);
/* Wait until somebody waits for a page of it, or to have closed it. */
void stuck_wait(void);
/* The file system goes away: who waits fails. */
void stuck_end(void);

/* A connected socket with more in it than its reader takes, and its reader: who
 * closes it last waits until that is closed, or an hour. */
struct stuck_socket {
	int sock, reader;
};

struct stuck_socket stuck_socket(void);
void stuck_socket_end(const struct stuck_socket *s);

/* STUCK_BYTES under a userfaultfd; NULL where that is not allowed. */
void *stuck_fault(void);

#endif
