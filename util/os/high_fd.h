/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Descriptors of a library in somebody's program. The program's own get the lowest
 * free numbers; a library's that lie high are not taken for them by mistake: after the
 * program has closed all, the numbers are nobody's for long.
 */
#ifndef UR_UTIL_OS_HIGH_FD_H
#define UR_UTIL_OS_HIGH_FD_H

/* From now on ur_high_fd() moves descriptors in this process. */
void ur_high_fds(void);
/* Returns the descriptor under a high number, close-on-exec, its old number closed; or fd
 * as it is: -1, or ur_high_fds() was not called, or there is no such number. Any
 * thread. */
int ur_high_fd(int fd);
/* Returns a copy under a high number, whether or not ur_high_fds() was called, or
 * -errno. */
int ur_high_fd_copy(int fd);

#endif
