/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory of applications: regions (emr.c), and access to their memory (app_mem.c). */
#ifndef UR_ENGINE_CORE_REGIONS_H
#define UR_ENGINE_CORE_REGIONS_H

#include "engine/inproc/chores.h"
#include "engine/core/ectx.h"
#include "engine/ground/file_search.h"
#include "engine/ground/pinned.h"
#include "transport/transport.h"

/* A memory region, and how its memory is reached. */
struct ur_emr {
	struct ur_ectx *ectx;
	struct ur_list node;
	struct ur_mr *mr;
	struct ur_emr_attr attr;
	u8 *map; /* mapping of the client's memfd, or NULL */
	size_t map_len;
	u8 *direct;
	struct ur_pinned_place pinned;
	struct ur_gpu_memory *gpu; /* gpu/gpu.c; NULL: not GPU memory */
	/* Export to neighbours (local/udp_shown.h). pieces: sent payload pieces, which cause a search for the
	 * file. searched: the search is done; file is its result. */
	u32 pieces;
	struct ur_chore search_chore;
	struct ur_file_search *search; /* NULL: no search in progress */
	bool searched;
	struct ur_shown_file file; /* fd -1: none */
};

/* Gets access to the memory of mr->attr until ur_app_mem_detach(). Not on the
 * engine thread, since it may wait for the client's pages. Returns 0, -EFAULT
 * (the memory is not there), -EACCES (it cannot be reached) or -EOPNOTSUPP (a file that cannot be
 * mapped). */
int ur_app_mem_attach(struct ur_emr *mr);
/* Ends the access. The transport must not know the region any more. Returns what
 * the caller must unmap. */
struct ur_emr_left ur_app_mem_detach(struct ur_emr *mr);
/* Fills *out with the attributes of the region for the transport. */
void ur_app_mem_describe(struct ur_emr *mr, struct ur_mr_attr *out);

/* How the transport reaches the program's memory; mem is the ur_emr. */
extern const struct ur_mem_ops ur_app_mem_ops;
/* The same of a dma-buf: dmabuf.c. */
extern const struct ur_mem_ops ur_dmabuf_ops;
/* The same of the parent's memory: parent_mem.c. */
extern const struct ur_mem_ops ur_parent_mem_ops;
/* Returns 0 if the dma-buf's descriptor takes the calls that accesses need, else -EOPNOTSUPP. A thread
 * that registers. */
int ur_dmabuf_check(int fd);

#endif
