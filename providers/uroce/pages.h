/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Maps pages of the program's memory into its page table. */
#ifndef UR_PROVIDERS_UROCE_PAGES_H
#define UR_PROVIDERS_UROCE_PAGES_H

#include <stdbool.h>

#include "util/bytes.h"

/* MADV_POPULATE_READ and _WRITE of Linux 5.14, <linux/mman.h>; older C libraries do not
 * have them. */
#define UR_POPULATE_READ  22
#define UR_POPULATE_WRITE 23

/* Makes the kernel map all pages of the range, as a read or write of each would; how:
 * UR_POPULATE_READ or UR_POPULATE_WRITE. Returns 0; ENOMEM or EFAULT where the pages cannot be had;
 * EINVAL where the kernel cannot do it for this mapping. Waits for the server of a file, or the
 * program's userfaultfd. Any thread. */
int ur_pages_populate(u64 addr, u64 len, int how);
/* Maps the range for reading if it has at most UR_PAGES_ALL pages; else UR_PAGES_SOME pages spread
 * over it, and the last one, since each costs a system call. Returns whether all could be had. Any
 * thread. */
#define UR_PAGES_ALL  4096u
#define UR_PAGES_SOME 512u
bool ur_pages_are_there(u64 addr, u64 len);

#endif
