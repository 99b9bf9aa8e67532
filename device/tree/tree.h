/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The virtual tree. It consists of real files and directories, so that
 * everything a program may do with them (openat, readdir, realpath, inotify)
 * works natively; the preload library only changes the beginning of a path.
 *
 * Paths are relative to the run directory. Functions return 0 or -errno.
 * Control lock held.
 */
#ifndef UR_DEVICE_TREE_TREE_H
#define UR_DEVICE_TREE_TREE_H

#include "device/device.h"

/* begin: the directories that are filled from now on are new, so no file is
 * looked for first, which saves a system call each. Else ends that. */
void ur_tree_make(bool begin);
/* Makes a directory with its parents. One that is there already is fine. */
int ur_tree_mkdir(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Makes text the content of the file, in place: a reader takes it in one read,
 * and no name ever disappears. */
int ur_tree_put(const struct ur_daemon *d, const char *text, const char *fmt,
		...) __attribute__((format(printf, 3, 4)));
/* Does the same for a file that programs open for writing. */
int ur_tree_put_setting(const struct ur_daemon *d, const char *text,
			const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Makes a symbolic link to @target, as it is to be read. One that is there already
 * is fine. */
int ur_tree_link(const struct ur_daemon *d, const char *target, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));
/* Removes a file or link, if it is there. */
void ur_tree_drop(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Removes a directory with all that is in it. */
void ur_tree_drop_all(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Does the same for one that may be large: its name is free at once, and what was
 * in it goes when the lock has been released. */
void ur_tree_bury(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
