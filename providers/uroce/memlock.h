/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The limit of locked memory (RLIMIT_MEMLOCK). With UROCE_MEMLOCK=1 it applies
 * as Linux' ib_umem_get() applies it to other cards: each registration counts
 * all its pages, also those that another one counts. The device locks no
 * memory, so by default there is no limit. Any thread.
 */
#ifndef UR_PROVIDERS_UROCE_MEMLOCK_H
#define UR_PROVIDERS_UROCE_MEMLOCK_H

#include "util/bytes.h"

/* Charges the process for [addr, addr + length). Returns 0 with the charge in
 * *pages (0 where no limit applies), which ur_memlock_give() returns; or ENOMEM
 * beyond the limit without CAP_IPC_LOCK. */
int ur_memlock_take(const void *addr, size_t length, u64 *pages);
void ur_memlock_give(u64 pages);

#endif
