/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The virtual tree. It consists of real files and directories, so openat, readdir,
 * realpath, inotify and the like work natively; the preload library only rewrites the
 * beginning of a path.
 *
 * Paths are relative to the run directory. Control lock held. After an error the functions that
 * make something do nothing until ur_tree_error() has returned it.
 */
#ifndef UR_DEVICE_TREE_TREE_H
#define UR_DEVICE_TREE_TREE_H

#include "device/device.h"

/* begin: the directories filled from now on are new, so the functions below need not check
 * for existing files, which saves a system call each. !begin: ends that. */
void ur_tree_make(bool begin);
/* Returns 0, or -errno of the first failure since the last call, and forgets it. */
int ur_tree_error(void);
/* Makes a directory with its parents. It may exist already. */
void ur_tree_mkdir(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Replaces the content of the file in place. A reader gets it in one read, and the name
 * never disappears. */
void ur_tree_put(const struct ur_daemon *d, const char *text, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));
/* Does the same for a file that programs open for writing. */
void ur_tree_put_setting(const struct ur_daemon *d, const char *text,
			 const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Makes a symbolic link with the text target. It may exist already. */
void ur_tree_link(const struct ur_daemon *d, const char *target,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Removes a file or link, if it is there. */
void ur_tree_drop(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Removes a directory with all that is in it. */
void ur_tree_drop_all(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Does the same for a large directory: its name is free at once; its contents are removed
 * after the lock has been released. */
void ur_tree_bury(const struct ur_daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
