/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file that registered memory lives in: one sparse sealed memfd, in which
 * the offset of a page is its address. So neighbours in memory are neighbours
 * in the file too, and one descriptor describes every range.
 *
 * Ranges are whole pages. Functions return 0 or -errno, and do not touch errno.
 */
#ifndef UR_PROVIDER_SHARED_FILE_H
#define UR_PROVIDER_SHARED_FILE_H

#include "util/bytes.h"

/* Bytes of the file: every user address of a 47-bit address space. */
#define UR_SHARED_BYTES (1ull << 47)

/* Returns the descriptor of a new file, sealed against resizing, or -errno. */
int ur_shared_file(void);
/* Calls fn for each run of pages in [from, from + len) that were ever touched,
 * as pagemap (an open /proc/self/pagemap) says, or for all where it does not
 * say. Stops at the first error of fn and returns it. */
int ur_each_used(int pagemap, u64 from, u64 len,
		 int (*fn)(void *arg, u64 from, u64 len), void *arg);
/* Copies the pages at from that were ever touched to offset off of the file. */
int ur_shared_file_save(int file, int pagemap, u64 from, u64 len, u64 off);
/* Copies what the file has at offset off to address to. Pages that the file
 * does not have stay untouched. */
int ur_shared_file_load(int file, u64 to, u64 len, u64 off);
/* Frees the pages of that part of the file. */
int ur_shared_file_punch(int file, u64 start, u64 end);

#endif
