/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The end into which a completion channel's events are sent. */
#ifndef UR_PRELOAD_SENDER_H
#define UR_PRELOAD_SENDER_H

#include "preload/fdmap.h"

/* Gives a channel that end, which is its own from here on. */
void ur_sender_set(struct ur_file *file, int fd);
/* Returns it, which is the caller's from here on, or -ENOENT where the channel has none. */
int ur_sender_take(struct ur_file *file);
/* Gives it a copy of tx for that engine, if it has none and is the channel whose other end rx is. */
void ur_sender_keep(struct ur_file *file, int rx, int tx, const void *engine);
/* Hangs up all channels that have theirs for that engine. */
void ur_sender_end_all(const void *engine);

#endif
