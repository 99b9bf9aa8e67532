/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of the engine's own process. A copy to or from an unmapped page returns an error
 * and raises no signal. There are two ways:
 *
 *  - by the processor, if the preload library has a fault handler
 *    (kernel-abi/uroce-copies.h) and the thread that runs the engine does not block its
 *    signals;
 *  - else by system calls on a file of ours (the stage): the kernel copies between file and
 *    memory, and detects unmapped pages.
 *
 * UROCE_COPY=syscalls in the environment disables the first way.
 */
#ifndef UR_ENGINE_GROUND_OWN_MEMORY_H
#define UR_ENGINE_GROUND_OWN_MEMORY_H

#include "engine/ground/user.h"

/* Makes a reference to the memory of the calling process in *mem. Only one thread at a time
 * may copy. Returns 0 or -errno. */
int ur_user_mem_own(struct ur_user_mem **mem);
/* In a child of fork: makes the inherited reference one to this process. Returns 0 or -errno. */
int ur_user_mem_inherit(struct ur_user_mem *mem);
/* Registers a mapped file that is shared with another program, until ur_user_mem_forget().
 * Copies to and from it then take one system call and not two, and bypass this processor's
 * caches. Only an optimization: does nothing if the table is full. fd stays the caller's. On the
 * thread that copies. */
void ur_user_mem_file(struct ur_user_mem *mem, const void *at, size_t bytes,
		      int fd);
void ur_user_mem_forget(struct ur_user_mem *mem, const void *at);

/* Begins a turn in which the processor copies, if the calling thread may do that. The same
 * thread calls ur_own_memory_turn_ends() before it runs code of the program. Outside of turns
 * system calls copy. now: CLOCK_MONOTONIC in nanoseconds. On the thread that copies. */
void ur_own_memory_turn_begins(struct ur_user_mem *mem, u64 now);
static inline void ur_own_memory_turn_ends(struct ur_user_mem *mem)
{
	mem->direct = NULL;
}
/* Unblocks the signals of faults in the engine's own thread, which blocks all. Call it once, on
 * that thread. */
void ur_own_memory_thread(void);

/* Copies n pieces of len bytes between memory from addr on, where they are back to back, and
 * buf, where they are stride bytes apart. out: from buf to memory. Returns 0, -EFAULT, or
 * -EOPNOTSUPP if the turn does not allow the processor to copy. */
int ur_own_memory_pieces(const struct ur_user_mem *mem, u64 addr, u8 *buf,
			 u32 stride, u32 len, u32 n, bool out);

/* Compares and swaps 8 aligned bytes, if the turn allows it. Returns 0, 1 (the memory has
 * another value, which is in *old now), -EFAULT, or -EAGAIN (the caller must read and write). */
int ur_own_memory_swap(const struct ur_user_mem *mem, u64 addr, u64 *old,
		       u64 value);

#endif
