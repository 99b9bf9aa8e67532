/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory that the device can map, where UROCE_MR_SHARED=1 asks for it: at
 * registration, private anonymous memory is moved under a sealed memfd, at the
 * same address and with no write lost, so that the device reaches it with plain
 * loads and stores. Any thread.
 */
#ifndef UR_PROVIDER_PAGE_SHARE_H
#define UR_PROVIDER_PAGE_SHARE_H

#include "kernel-abi/uroce-abi.h"
#include "util/bytes.h"

struct ur_page_share;

/*
 * Makes [addr, addr + length) shared if it can be, and describes it in *req
 * (flags, shm_fd, shm_off; the descriptor stays the provider's). Returns what
 * the caller gives to ur_page_share_put() when its registration ends, or NULL,
 * with *req untouched, where nobody asked or the memory stays as it is.
 */
struct ur_page_share *ur_share_pages(void *addr, size_t length,
				     struct uroce_reg_mr_req *req);
/* Ends a share. The memory moves back when its last one ends. share may be
 * NULL. */
void ur_page_share_put(struct ur_page_share *share);

#endif
