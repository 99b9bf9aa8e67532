/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of a client, reached through the /proc/self/mem descriptor that
 * it passed: what copy_from_user() and copy_to_user() are to the kernel. The
 * descriptor names an address space, not a process id, so it can never reach
 * a stranger, and it goes dead with the client.
 */
#ifndef UR_DEVICE_USER_H
#define UR_DEVICE_USER_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_user_mem {
	int fd;	   /* /proc/PID/mem */
	pid_t pid; /* of the socket's peer, for names and statistics only */
	int refs;  /* under the control lock */
};

/* Takes fd over on success. -EINVAL: not a procfs mem file opened read-write. */
int ur_user_mem_create(int fd, pid_t pid, struct ur_user_mem **mem);
/* One reference more, one less; the last closes fd. Control lock. */
struct ur_user_mem *ur_user_mem_get(struct ur_user_mem *mem);
void ur_user_mem_put(struct ur_user_mem *mem);

/* 0, -EFAULT, or -ESRCH once the process has ended; all or nothing for the
 * caller's purposes. Any thread. */
int ur_user_read(const struct ur_user_mem *mem, u64 addr, void *dst,
		 size_t len);
int ur_user_write(const struct ur_user_mem *mem, u64 addr, const void *src,
		  size_t len);

#endif
