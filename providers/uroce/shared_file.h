/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file that registered memory lives in: one sparse sealed memfd in which the
 * offset of a page is its address: any shared neighbours are neighbours in the
 * file too, and one descriptor describes every range.
 *
 * All functions: ranges of whole pages; 0 or -errno; errno is not touched.
 */
#ifndef UR_PROVIDER_SHARED_FILE_H
#define UR_PROVIDER_SHARED_FILE_H

#include "util/bytes.h"

/* Bytes of the file: every user address of a 47-bit address space. */
#define UR_SHARED_BYTES (1ull << 47)

/* A new file, sealed against resizing: its descriptor, or -errno. */
int ur_shared_file(void);
/* Calls fn for each run of pages in [from, from + len) that were ever touched,
 * by /proc/self/pagemap; where it does not tell, for all. Stops at an error. */
int ur_each_used(int pagemap, u64 from, u64 len,
		 int (*fn)(void *arg, u64 from, u64 len), void *arg);
/* Copies the pages at 'from' that were ever touched to offset 'off'. */
int ur_shared_file_save(int file, int pagemap, u64 from, u64 len, u64 off);
/* Copies what the file holds of that range to 'to'; where it holds nothing
 * pages stay untouched. */
int ur_shared_file_load(int file, u64 to, u64 len, u64 off);
/* Forgets the contents of that part and frees its pages. */
int ur_shared_file_punch(int file, u64 start, u64 end);

#endif
