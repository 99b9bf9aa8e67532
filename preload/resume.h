/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An rdma_cm file goes on with the next device process. */
#ifndef UR_PRELOAD_RESUME_H
#define UR_PRELOAD_RESUME_H

#include "preload/fdmap.h"

/* The connection of a locked rdma_cm file, of which @fd is a descriptor, is of no more use: gets
 * it another one, until that time of CLOCK_MONOTONIC in nanoseconds. Returns false where
 * there is no other device process, or it does not know the file. */
bool ur_file_resume(struct ur_file *file, int fd, uint64_t until);

/* A command on the uverbs file of *fd has found no device process. Returns the file, with a
 * reference, on which it is to be given once more, and sets *fd to its descriptor; or NULL. request and
 * command as in kernel-abi/uroce-resumes.h. */
struct ur_file *ur_file_successor(int *fd, unsigned long request,
				  const void *command);

#endif
