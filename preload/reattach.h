/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Moves an rdma_cm file to the next device process. */
#ifndef UR_PRELOAD_REATTACH_H
#define UR_PRELOAD_REATTACH_H

#include "preload/fdmap.h"

/* Gives a locked rdma_cm file, whose connection is broken, a new connection. fd: a descriptor of
 * the file; until: CLOCK_MONOTONIC, nanoseconds. Returns false where no other device process
 * appears, or it does not know the file. */
bool ur_file_reattach(struct ur_file *file, int fd, uint64_t until);

/* Called when a command on the uverbs file of *fd found no device process. Returns the file on
 * which to repeat the command, with a reference, and sets *fd to its descriptor; or NULL. request
 * and command as in kernel-abi/uroce-resumes.h. */
struct ur_file *ur_file_successor(int *fd, unsigned long request,
				  const void *command);

#endif
