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
 * the bytes that the client named at the address that it named
 * (ur_user_mem_prove()). A process that could open another's mem file could
 * write there itself.
 */
#ifndef UR_ENGINE_GROUND_USER_H
#define UR_ENGINE_GROUND_USER_H

#include <pthread.h>
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
	int fd;	    /* /proc/PID/mem; -1: it is not reached */
	int maps;   /* /proc/PID/maps, or -1 */
	pid_t pid;  /* of the socket's peer, for names and statistics only */
	uid_t uid;  /* its user; 0 until that is set */
	int refs;   /* under the control lock */
	bool same;  /* it is that peer's, by its inode */
	bool query; /* maps answers questions (Linux 6.11) */
	/* For this process's own memory (own_memory.h): a file of UR_STAGE_BYTES,
	 * mapped too, by way of which the kernel copies. NULL: the memory is
	 * another's. */
	u8 *stage;
	int stage_fd;
	int own_maps; /* /proc/self/maps, of a kernel that answers questions; or -1 */
	/* Copies, and frees what is made for that. out: from buf. */
	int (*own_copy)(const struct ur_user_mem *mem, u64 addr, u8 *buf,
			size_t len, bool out);
	void (*own_end)(struct ur_user_mem *mem);
	/* Those that need no kernel, and the same, where they may be used now; or
	 * NULL. */
	const struct uroce_copies *copies, *direct;
	/* Asked after each copy to memory whether the bytes that it was made of were good; or NULL. */
	bool (*is_good)(const void *source);
	const void *source;
	/* Others, from which and to which the kernel copies at once. */
	struct ur_user_file files[UR_USER_FILES];
	/* Held from reading to writing, where that is to be one step: the
	 * contexts of a process may belong to several engines. */
	pthread_mutex_t atomic;
};

/* Makes a reference to a client's memory in *mem, and takes fd over, where it
 * succeeds. Returns 0, -EINVAL (not a procfs mem file opened read-write) or
 * -ENOMEM. May wait for whoever serves the file, so the control lock must not
 * be held. */
int ur_user_mem_create(int fd, pid_t pid, struct ur_user_mem **mem);
/* Returns a reference to memory that cannot be reached: the client shows no mem
 * file. NULL: -ENOMEM. */
struct ur_user_mem *ur_user_mem_unreached(pid_t pid);
/* Returns whether there is a way to the memory. */
static inline bool ur_user_mem_reaches(const struct ur_user_mem *mem)
{
	return mem->fd >= 0;
}
/* Returns 0 if the memory holds these bytes at addr, as the client claims, else
 * -EINVAL. At most 128 bytes, not at the lowest addresses. May wait as
 * ur_user_mem_create() does. */
int ur_user_mem_prove(const struct ur_user_mem *mem, u64 addr,
		      const void *bytes, size_t len);
/* Returns whether fd is /proc/PID/NAME as we see it; in a container procfs may be
 * another one. name: short, and ours. */
bool ur_user_is_proc(int fd, pid_t pid, const char *name);
/*
 * Takes over fd, the maps file of the same process, which shows the rights of
 * the memory from then on. proof: an address that ur_user_mem_prove() found
 * right, or 0; where procfs is another than ours, an older kernel proves with
 * it that fd is such a file. Returns 0, or -EINVAL where it is no such file.
 * May wait as ur_user_mem_create() does.
 */
int ur_user_mem_maps(struct ur_user_mem *mem, int fd, u64 proof);
/* Take one more reference, or drop one; the last closes the files. mem may be
 * NULL for a drop. Control lock held. */
struct ur_user_mem *ur_user_mem_get(struct ur_user_mem *mem);
void ur_user_mem_put(struct ur_user_mem *mem);

/* Returns 0 where all of the range is mapped with the rights prot (of
 * <sys/mman.h>) now, or nothing is known about it; else -EFAULT or -ESRCH. Any
 * thread. Where the kernel does not answer questions about maps, it reads all
 * of them. */
int ur_user_rights(const struct ur_user_mem *mem, u64 addr, u64 len, int prot);
/* Copy len bytes from or to the client's memory. Return 0, -EFAULT, or -ESRCH
 * once the process has ended; after an error some of the bytes may have been
 * copied. Reading finds what is there, whatever its rights; writing wants
 * memory that can be written to, where that can be asked. Any thread. */
int ur_user_read(const struct ur_user_mem *mem, u64 addr, void *dst,
		 size_t len);
int ur_user_write(const struct ur_user_mem *mem, u64 addr, const void *src,
		  size_t len);

#endif
