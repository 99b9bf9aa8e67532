/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Regions of dma-bufs that are mapped here. */
#ifndef UROCE_DMABUF_H
#define UROCE_DMABUF_H

#include "uroce.h"

/* Registers a dma-buf that only this process can map, in mr. Arguments are those of ibv_reg_dmabuf_mr(); fd stays
 * the caller's. Returns 0; EINVAL where the range is not in the buffer, or iova is elsewhere in its page than offset;
 * EACCES where the descriptor does not allow the access; EOPNOTSUPP for what is no dma-buf, cannot be mapped, or has
 * its engine elsewhere; ENOMEM. */
int ur_dmabuf_reg(struct ibv_pd *pd, u64 offset, size_t length, u64 iova,
		  int fd, int access, struct uroce_mr *mr);
/* Keeps a copy of the descriptor in mr, as long as the region. Returns 0 or an errno. */
int ur_dmabuf_keep(struct uroce_mr *mr, int fd);
/* Ends the mapping and the copy that mr has, if any. No engine has the region any more. */
void ur_dmabuf_end(struct uroce_mr *mr);

#endif
