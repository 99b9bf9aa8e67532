/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a client, reached through the /proc/self/mem descriptor that
 * it passed: what copy_from_user() and copy_to_user() are to the kernel. The
 * descriptor names an address space, not a process id, so it can never reach
 * a stranger, and it goes dead with the client.
 *
 * The descriptor is the client's word. It is believed when it is a mem file of
 * procfs (no other file that can be written to takes any file position), and
 * either the one of the process at the socket's other end, or one that holds
 * what the client said where it said (ur_user_mem_prove()). Whoever could open
 * another process's mem file could write there himself.
 */
#ifndef UR_DEVICE_USER_H
#define UR_DEVICE_USER_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_user_mem {
	int fd;	    /* /proc/PID/mem */
	int maps;   /* /proc/PID/maps, or -1 */
	pid_t pid;  /* of the socket's peer, for names and statistics only */
	int refs;   /* under the control lock */
	bool same;  /* it is that peer's, by its inode */
	bool query; /* maps answers questions (Linux 6.11) */
};

/* Takes fd over on success. -EINVAL: not a procfs mem file opened read-write.
 * May wait for whoever serves the file: not with the control lock held. */
int ur_user_mem_create(int fd, pid_t pid, struct ur_user_mem **mem);
/* 0 if the memory holds these bytes at addr, else -EINVAL: what is there is not
 * what the client says is. At most 128 bytes, not at the lowest addresses. May
 * wait as ur_user_mem_create(). */
int ur_user_mem_prove(const struct ur_user_mem *mem, u64 addr,
		      const void *bytes, size_t len);
/* Takes over fd, the maps file of the same process: what the memory allows is
 * known then. -EINVAL: it is no such file. May wait as ur_user_mem_create(). */
int ur_user_mem_maps(struct ur_user_mem *mem, int fd);
/* One reference more, one less; the last closes fd. Control lock. */
struct ur_user_mem *ur_user_mem_get(struct ur_user_mem *mem);
void ur_user_mem_put(struct ur_user_mem *mem);

/* Whether all of the range is mapped with rights 'prot' (of <sys/mman.h>) now: 0,
 * -EFAULT, -ESRCH; 0 where nothing is known. Any thread; without maps that
 * answer questions it reads all of them. */
int ur_user_rights(const struct ur_user_mem *mem, u64 addr, u64 len, int prot);
/* 0, -EFAULT, or -ESRCH once the process has ended; all or nothing for the
 * caller's purposes. Reading finds what is there, whatever its rights; writing
 * wants memory that can be written to, where that can be asked. Any thread. */
int ur_user_read(const struct ur_user_mem *mem, u64 addr, void *dst,
		 size_t len);
int ur_user_write(const struct ur_user_mem *mem, u64 addr, const void *src,
		  size_t len);

#endif
