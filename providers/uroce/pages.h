/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The pages of a range of the program's memory, in its page table. */
#ifndef UR_PROVIDERS_UROCE_PAGES_H
#define UR_PROVIDERS_UROCE_PAGES_H

#include <stdbool.h>

#include "util/bytes.h"

/* MADV_POPULATE_READ and _WRITE of Linux 5.14, <linux/mman.h>; older C libraries do not
 * have them. */
#define UR_POPULATE_READ  22
#define UR_POPULATE_WRITE 23

/* Has the kernel put all pages of the range there, as a program that reads or writes each
 * does; how: one of those two. Returns 0 or errno: ENOMEM or EFAULT (they cannot be had),
 * EINVAL (the kernel does not know how, or not for such a mapping). Waits for whoever
 * brings a page: a file's server, the program's own userfaultfd. Any thread. */
int ur_pages_populate(u64 addr, u64 len, int how);
/* Does so for reading where the range has UR_PAGES_ALL pages or fewer, else for
 * UR_PAGES_SOME spread over it and the last one: each is a system call, and what is mapped
 * says the device. Returns whether all could be had. Any thread. */
#define UR_PAGES_ALL  4096u
#define UR_PAGES_SOME 512u
bool ur_pages_are_there(u64 addr, u64 len);

#endif
