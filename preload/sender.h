/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sending end of a completion channel's events. */
#ifndef UR_PRELOAD_SENDER_H
#define UR_PRELOAD_SENDER_H

#include "preload/fdmap.h"

/* Gives the channel its sending end, and takes ownership of fd. */
void ur_sender_set(struct ur_file *file, int fd);
/* Takes the sending end from the channel. Returns the descriptor, now the caller's, or -ENOENT
 * without one. */
int ur_sender_take(struct ur_file *file);
/* Keeps a copy of tx, for that engine, as the channel's sending end, unless it has one or rx is not
 * its receiving end. */
void ur_sender_keep(struct ur_file *file, int rx, int tx, const void *engine);
/* Hangs up the sending ends that channels keep for that engine. */
void ur_sender_end_all(const void *engine);

#endif
