/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The virtual tree. Real files and directories, so that everything a program
 * may do with them (openat, readdir, realpath, inotify) works natively; the
 * preload library only changes the beginning of a path.
 *
 * Paths are relative to the run directory. 0 or -errno.
 */
#ifndef UR_DEVICE_TREE_H
#define UR_DEVICE_TREE_H

#include "device/device.h"

/* With its parents; one that is there is fine. */
int ur_tree_mkdir(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Make the file's content the text: in place, as a reader takes it in one
 * read, and no name ever disappears. */
int ur_tree_put(const struct ur_daemon *d, const char *text, const char *fmt,
		...) __attribute__((format(printf, 3, 4)));
void ur_tree_drop(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* With all below. */
void ur_tree_drop_all(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
