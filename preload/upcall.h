/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests of the device in the middle of a command: to pass a descriptor of
 * the process, or to take one. */
#ifndef UR_PRELOAD_UPCALL_H
#define UR_PRELOAD_UPCALL_H

#include "preload/fdmap.h"

/**
 * ur_upcall_serve() - the device's questions, up to its answer
 * @file: locked; a command has just been sent on it
 * @msg: gets the last message
 * @from: what the device writes from here up to @to comes with its answer and
 *        is stored here; 0 and 0: nothing
 *
 * What the device gives is kept by the process only when the command succeeds.
 *
 * Return: what the command does, -EIO when the device is gone (and then the
 * file is dead).
 */
int64_t ur_upcall_serve(struct ur_file *file, struct uroce_tun_msg *msg,
			uint64_t from, uint64_t to);

/* Keeps the replies that were sent ahead, len bytes as behind a DONE.
 * file->lock held. */
void ur_upcall_keep(struct ur_file *file, const void *outs, size_t len);

#endif
