/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Moving pages of this process between private memory and the shared file,
 * at the same address, under running threads, with no write lost.
 *
 * The file is one sparse sealed memfd in which the offset of a page is its
 * address: any promoted neighbours are neighbours in the file too, and one
 * descriptor describes every range.
 *
 * While pages are on their way a userfaultfd holds every thread that touches
 * them. Where only user-mode faults may be held (no privilege), a system call
 * of another thread that touches the range just then sees EFAULT.
 *
 * All functions: page aligned range, caller holds the registry's lock.
 * 0, or -errno with memory as it was.
 */
#ifndef UR_PROVIDER_MOVE_H
#define UR_PROVIDER_MOVE_H

#include "util/bytes.h"

/* Bytes of the file: every user address of a 47-bit address space. */
#define UR_SHARED_BYTES (1ull << 47)

/* Whether this kernel can move both ways. */
bool ur_move_supported(void);
/* A new file, sealed against resizing; -errno. */
int ur_shared_file(void);
/* Private anonymous memory of one mapping becomes part of the file. */
int ur_move_to_file(int file, u64 start, u64 end);
/* And back; the file's pages are freed. */
int ur_move_from_file(int file, u64 start, u64 end);
/* Replaces a mapping of the file by a private copy, in a process of one
 * thread (the child of fork). */
int ur_copy_private(int file, u64 start, u64 end, u64 file_off);
/* Whether the calling thread itself would be held: its stack, its TLS. */
bool ur_move_hits_me(u64 start, u64 end);

#endif
