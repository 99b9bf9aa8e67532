/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Moving pages of this process between private memory and the shared file
 * (shared_file.h), at the same address, under running threads, with no write
 * lost.
 *
 * While pages are on their way a userfaultfd holds every thread that touches
 * them. Where only user-mode faults may be held (no privilege), a system call
 * of another thread that touches the range just then sees EFAULT.
 *
 * Whatever call fails, what is in the memory survives: there is at any time a
 * whole copy of it, which is given up only when the kernel has said that the new
 * one is at the address. If even the way back fails (no memory for a page
 * table, again and again) the process is ended, with a message: it would go on
 * without its memory.
 *
 * All functions: page aligned range, caller holds the registry's lock.
 * 0, or -errno with memory as it was.
 */
#ifndef UR_PROVIDER_MIGRATE_H
#define UR_PROVIDER_MIGRATE_H

#include "util/bytes.h"

/* Whether this kernel can move both ways. */
bool ur_migrate_supported(void);
/* Private anonymous memory of one mapping becomes part of the file. */
int ur_migrate_to_file(int file, u64 start, u64 end);
/* And back, with protection 'prot'; the file's pages are freed. */
int ur_migrate_from_file(int file, u64 start, u64 end, int prot);
/*
 * Replaces a mapping of the file by a private copy, in a process of one thread
 * (the child of fork). Where memory does not suffice the copy is made page by
 * page as they are written; where that fails too nothing is there, as after
 * ibv_fork_init(). -errno, with the mapping as it was, if it cannot even be
 * taken away.
 */
int ur_copy_private(int file, u64 start, u64 end, u64 file_off, int prot);
/* Whether the calling thread itself would be held: its stack, its TLS. */
bool ur_migrate_hits_me(u64 start, u64 end);

#endif
