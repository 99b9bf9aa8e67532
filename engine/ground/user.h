/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a client, reached through the /proc/self/mem descriptor that it
 * passed, as the kernel does with copy_from_user() and copy_to_user(). The
 * descriptor names an address space, not a process id, so it never reaches another
 * process, and becomes invalid when the client ends.
 *
 * The descriptor is not trusted. It is accepted if it is a mem file of procfs (no
 * other writable file accepts any file position), and either that of the process at
 * the socket's other end, or one that has the bytes that the client claims at the
 * address that it claims (ur_user_mem_prove()). A process that could open another's
 * mem file could write there itself anyway.
 */
#ifndef UR_ENGINE_GROUND_USER_H
#define UR_ENGINE_GROUND_USER_H

#include <pthread.h>
#include <sys/mman.h>
#include <sys/types.h>
#include "util/bytes.h"

struct uroce_copies; /* kernel-abi/uroce-copies.h */

#define UR_STAGE_BYTES (64u << 10)
#define UR_USER_FILES  16u

/* A file that is mapped here. */
struct ur_user_file {
	const u8 *at; /* NULL: none */
	size_t bytes;
	int fd;
};

struct ur_user_mem {
	int fd;	    /* /proc/PID/mem; -1: memory not reachable */
	int maps;   /* /proc/PID/maps, or -1 */
	pid_t pid;  /* of the socket's peer, for names and statistics only */
	uid_t uid;  /* the client's user; 0 until set */
	int refs;   /* under the control lock */
	bool same;  /* fd is the socket peer's mem file, by its inode */
	bool query; /* maps supports PROCMAP_QUERY (Linux 6.11) */
	/* For this process's own memory (own_memory.h): the mapped file of
	 * UR_STAGE_BYTES through which the kernel copies. NULL: another process's
	 * memory. */
	u8 *stage;
	int stage_fd;
	int own_maps; /* /proc/self/maps, if it supports PROCMAP_QUERY; or -1 */
	/* own_copy() copies, out: from buf to memory. own_end() frees its resources. */
	int (*own_copy)(const struct ur_user_mem *mem, u64 addr, u8 *buf,
			size_t len, bool out);
	void (*own_end)(struct ur_user_mem *mem);
	/* copies: functions that copy by the processor, or NULL. direct: the same
	 * during a turn that allows them, or NULL. */
	const struct uroce_copies *copies, *direct;
	/* Checks after each copy to memory whether its source was valid; or NULL. */
	bool (*is_good)(const void *source);
	const void *source;
	/* Files that the kernel copies from and to without the stage. */
	struct ur_user_file files[UR_USER_FILES];
	/* Held from the read to the write of an atomic: the contexts of a process
	 * may belong to several engines. */
	pthread_mutex_t atomic;
};

/* Makes a reference to a client's memory in *mem. On success fd becomes *mem's.
 * Returns 0, -EINVAL (not a procfs mem file opened read-write) or -ENOMEM. May wait
 * if fd is a file of another file system, so call it without the control lock. */
int ur_user_mem_create(int fd, pid_t pid, struct ur_user_mem **mem);
/* Returns a reference to memory that cannot be reached, since the client passed no
 * mem file. Returns NULL without memory. */
struct ur_user_mem *ur_user_mem_unreached(pid_t pid);
/* Returns whether the memory can be reached. */
static inline bool ur_user_mem_reaches(const struct ur_user_mem *mem)
{
	return mem->fd >= 0;
}
/* Returns 0 if the memory holds these bytes at addr, as the client claims, else
 * -EINVAL. At most 128 bytes, not at the lowest addresses. May wait as
 * ur_user_mem_create() does. */
int ur_user_mem_prove(const struct ur_user_mem *mem, u64 addr,
		      const void *bytes, size_t len);
/* Returns whether fd is /proc/PID/NAME of our procfs; a container may have another
 * procfs. name: a short constant of ours. */
bool ur_user_is_proc(int fd, pid_t pid, const char *name);
/*
 * Takes over fd, the maps file of the same process, which reports the rights of the
 * memory from then on. proof: an address that ur_user_mem_prove() has confirmed, or
 * 0; it verifies fd if the kernel is older and procfs is not ours. Returns 0, or
 * -EINVAL if fd is no such file. May wait as ur_user_mem_create() does.
 */
int ur_user_mem_maps(struct ur_user_mem *mem, int fd, u64 proof);
/* Add and drop a reference; dropping the last closes the files. mem may be NULL for
 * a drop. Control lock held. */
struct ur_user_mem *ur_user_mem_get(struct ur_user_mem *mem);
void ur_user_mem_put(struct ur_user_mem *mem);

/* Returns the rights that Linux' ib_umem.c wants for a region with these IB access flags: write
 * access if the region, or a window of it, may be written to. */
static inline int ur_user_rights_for(u32 access)
{
	/* enum ib_uverbs_access_flags: local and remote write, atomic, window */
	return access & (1u << 0 | 1u << 1 | 1u << 3 | 1u << 4) ? PROT_WRITE
								: PROT_READ;
}
/* Returns 0 if all of the range is mapped with the rights prot (of <sys/mman.h>)
 * now, or the rights are unknown; else -EFAULT or -ESRCH. Without PROCMAP_QUERY it
 * reads the text of all maps. Any thread. */
int ur_user_rights(const struct ur_user_mem *mem, u64 addr, u64 len, int prot);
/* Returns 0 if the range is there, with the rights prot, else -EFAULT. len is not 0. seen: its pages are known to be
 * there. Takes as long as the client's page faults. Any thread. */
int ur_user_look(const struct ur_user_mem *mem, u64 addr, u64 len, int prot,
		 bool seen);
/* Copy len bytes from or to the client's memory. Return 0, -EFAULT, or -ESRCH
 * once the process has ended; after an error some of the bytes may have been
 * copied. A read ignores the rights of pages; a write needs writable memory, if the
 * kernel supports PROCMAP_QUERY. Any thread. */
int ur_user_read(const struct ur_user_mem *mem, u64 addr, void *dst,
		 size_t len);
int ur_user_write(const struct ur_user_mem *mem, u64 addr, const void *src,
		  size_t len);

#endif
