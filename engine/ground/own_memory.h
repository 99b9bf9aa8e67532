/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of the process that the engine is in. A copy to or from a page that is not
 * mapped fails, and no signal comes. There are two ways:
 *
 *  - by the processor, where the preload library has a handler of faults
 *    (kernel-abi/uroce-copies.h) and the thread that runs the engine lets them through;
 *  - else by system calls on a file of ours, which the kernel copies from and to: it finds
 *    what is not mapped.
 *
 * UROCE_COPY=syscalls in the environment leaves the second alone.
 */
#ifndef UR_ENGINE_GROUND_OWN_MEMORY_H
#define UR_ENGINE_GROUND_OWN_MEMORY_H

#include "engine/ground/user.h"

/* Makes a reference to the memory of the calling process, in *mem. One thread at a time
 * copies. Returns 0 or -errno. */
int ur_user_mem_own(struct ur_user_mem **mem);
/* In a child of fork, which has a copy: makes it this process's. Returns 0 or -errno. */
int ur_user_mem_inherit(struct ur_user_mem *mem);
/* Another program reads what is written to that file, or writes it. It is mapped, and stays
 * the caller's. Its bytes are copied by one system call and not two, and past this processor's
 * caches, until it is forgotten; without room for it they are copied all the same. Whoever
 * copies. */
void ur_user_mem_file(struct ur_user_mem *mem, const void *at, size_t bytes,
		      int fd);
void ur_user_mem_forget(struct ur_user_mem *mem, const void *at);

/* Looks whether the calling thread may copy by the processor until
 * ur_own_memory_turn_ends(), which the same thread calls before it runs code of the program.
 * Outside of turns system calls do it. now: CLOCK_MONOTONIC in nanoseconds. Whoever
 * copies. */
void ur_own_memory_turn_begins(struct ur_user_mem *mem, u64 now);
static inline void ur_own_memory_turn_ends(struct ur_user_mem *mem)
{
	mem->direct = NULL;
}
/* The calling thread is the engine's own, and blocks all signals: lets through those that
 * faults are. Once. */
void ur_own_memory_thread(void);

/* Copy n pieces of len bytes, which lie one after the other in memory from addr on and stride
 * bytes apart at buf; out: from buf, in that order. Return 0 or -EFAULT, and -EOPNOTSUPP where
 * the turn does not allow the processor to copy. */
int ur_own_memory_pieces(const struct ur_user_mem *mem, u64 addr, u8 *buf,
			 u32 stride, u32 len, u32 n, bool out);

/* Compare and swap of 8 aligned bytes, if the turn allows it. Returns 0, 1 (they were others,
 * and are in *old now), -EFAULT, or -EAGAIN: it is to be done by reading and writing. */
int ur_own_memory_swap(const struct ur_user_mem *mem, u64 addr, u64 *old,
		       u64 value);

#endif
