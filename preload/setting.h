/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files of the tree that a program opens for writing: settings of a device. The
 * application's descriptor is a connection to the device, so that unseen writes
 * (of stdio, or of a program that inherits it) arrive as well. A write that is
 * seen here also returns the device's result. All return what the system call
 * would, or -errno.
 */
#ifndef UR_PRELOAD_SETTING_H
#define UR_PRELOAD_SETTING_H

#include <sys/types.h>

#include "preload/fdmap.h"
#include "preload/rewrite.h"

/* In addition to enum uroce_tun_kind. */
#define UR_KIND_SETTING UROCE_TUN_SETTING

/* Returns whether ur_setting_file_open() must open this path. */
bool ur_setting_file_is(const struct ur_rewritten *path, int flags);
/* open(2). */
int ur_setting_file_open(const struct ur_rewritten *path, int flags);
/* write(2). */
ssize_t ur_setting_file_write(struct ur_file *file, int fd, const void *buf,
			      size_t len);
/* mkdir(2) and rmdir(2) of a directory in rdma_cm's configfs. Return 1 for
 * another name. */
int ur_setting_file_directory(int dirfd, const char *name, bool wanted);
/* If @fd is a setting, waits until the device has taken what was written to it.
 * Called before its last copy is closed. */
void ur_setting_file_flush(int fd);

#endif
