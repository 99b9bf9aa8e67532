/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Descriptors of a library in a foreign program. The program's own get the
 * lowest free numbers, so it does not mistake a library's high numbers for its
 * own, even after closing all.
 */
#ifndef UR_UTIL_OS_HIGH_FD_H
#define UR_UTIL_OS_HIGH_FD_H

/* Makes ur_high_fd() move descriptors in this process from now on. */
void ur_high_fds(void);
/* Moves fd to a high number, close-on-exec, and closes the old number. Returns the descriptor; or
 * fd itself if it is -1, ur_high_fds() was not called, or no high number is free. Any thread. */
int ur_high_fd(int fd);
/* Returns a copy of fd under a high number, also without ur_high_fds(), or
 * -errno. */
int ur_high_fd_copy(int fd);

#endif
