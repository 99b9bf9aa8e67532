/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Moves pages of this process between private memory and the shared file
 * (shared_file.h), at the same address, under running threads, with no write
 * lost.
 *
 * While pages move, a userfaultfd holds every thread that touches them. Where
 * only faults of user mode may be held (no privilege), a system call of another
 * thread that touches the range at that moment fails with EFAULT.
 *
 * The contents of the memory survive whatever call fails: at any time there is
 * a whole copy of it, which is given up only when the kernel has confirmed that
 * the new one is at the address. If even the way back fails (no memory for a
 * page table, again and again), the process is ended with a message, since it
 * would go on without its memory.
 *
 * Ranges are page aligned. The caller holds the registry's lock. Functions
 * return 0, or -errno with the memory as it was, unless the comment says
 * otherwise.
 */
#ifndef UR_PROVIDER_MIGRATE_H
#define UR_PROVIDER_MIGRATE_H

#include "util/bytes.h"

/* Returns whether this kernel can move pages both ways. */
bool ur_migrate_supported(void);
/* Makes private anonymous memory of one mapping a part of the file, at the
 * offset of its address. */
int ur_migrate_to_file(int file, u64 start, u64 end);
/* Makes it private memory again, with protection prot, and frees the pages of
 * the file. */
int ur_migrate_from_file(int file, u64 start, u64 end, int prot);
/*
 * Replaces a mapping of the file by a private copy, in a process of one thread
 * (the child of fork). Where there is not enough memory, pages are copied when
 * they are written. Where that fails too, nothing is mapped there, as after
 * ibv_fork_init(). Returns -errno, with the mapping as it was, where it cannot
 * even be taken away.
 */
int ur_copy_private(int file, u64 start, u64 end, u64 file_off, int prot);
/* Returns whether the range has memory of the calling thread itself (stack,
 * TLS), so that the move would hold it. */
bool ur_migrate_hits_me(u64 start, u64 end);

#endif
