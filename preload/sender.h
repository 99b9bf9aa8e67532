/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The end into which a completion channel's events are sent. */
#ifndef UR_PRELOAD_SENDER_H
#define UR_PRELOAD_SENDER_H

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/fdmap.h"

/* Gives a channel that end, which is its own from here on. */
void ur_sender_set(struct ur_file *file, int fd);
/* Returns it, which is the caller's from here on, or -ENOENT where the channel has none. */
int ur_sender_take(struct ur_file *file);
/* Gives it a copy of tx, if it has none and is the channel whose other end rx is. */
void ur_sender_keep(struct ur_file *file, int rx, int tx);
/* Returns whether there is one, and its number is not another file's by now. */
static inline bool ur_sender_is_there(const struct ur_file *file)
{
	struct stat st;

	return file->sender >= 0 && !syscall(SYS_fstat, file->sender, &st) &&
	       st.st_ino == file->sender_ino && S_ISSOCK(st.st_mode);
}

#endif
