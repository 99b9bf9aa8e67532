/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files of the tree that a program opens for writing: values of a device. The
 * descriptor that the application holds is a connection to the device, so that
 * writes which nobody sees here (stdio's, a program's that inherits it) arrive
 * as well; a write that is seen here also returns what the device says of it.
 * All return what the system call would, a negative value is -errno.
 */
#ifndef UR_PRELOAD_SETTING_H
#define UR_PRELOAD_SETTING_H

#include <sys/types.h>

#include "preload/fdmap.h"
#include "preload/rewrite.h"

/* Beside enum uroce_tun_kind. */
#define UR_KIND_SETTING UROCE_TUN_SETTING

/* Returns whether to open this with ur_setting_file_open(). */
bool ur_setting_file_is(const struct ur_rewritten *path, int flags);
/* open(2). */
int ur_setting_file_open(const struct ur_rewritten *path, int flags);
/* write(2). */
ssize_t ur_setting_file_write(struct ur_file *file, int fd, const void *buf,
			      size_t len);
/* mkdir(2) and rmdir(2) of a directory in rdma_cm's configfs. Return 1 where the
 * name is none. */
int ur_setting_file_directory(int dirfd, const char *name, bool wanted);
/* Waits until what was written to the descriptor, if it is one, has been taken:
 * before its last copy may go. */
void ur_setting_file_settle(int fd);

#endif
