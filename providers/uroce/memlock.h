/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The limit of locked memory (RLIMIT_MEMLOCK), applied where UROCE_MEMLOCK=1 asks
 * for it, as Linux' ib_umem_get() does for cards: each registration counts all of
 * its pages, also those that another has. The device locks none, so without that
 * there is no limit. Any thread.
 */
#ifndef UR_PROVIDERS_UROCE_MEMLOCK_H
#define UR_PROVIDERS_UROCE_MEMLOCK_H

#include "util/bytes.h"

/* Charges the process for [addr, addr + length). Returns 0, with what
 * ur_memlock_give() takes back in *pages (0 where nobody asked), or ENOMEM: it
 * would have more than its limit, and not CAP_IPC_LOCK. */
int ur_memlock_take(const void *addr, size_t length, u64 *pages);
void ur_memlock_give(u64 pages);

#endif
