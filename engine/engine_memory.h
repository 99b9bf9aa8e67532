/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory and addresses of the engine; a part of engine.h, which has the rules
 * for threads and results. */
#ifndef UR_ENGINE_ENGINE_MEMORY_H
#define UR_ENGINE_ENGINE_MEMORY_H

#include "engine/engine.h"

/* ---- memory ---- */

struct ur_emr_attr {
	u32 pd;
	u32 access; /* enum ib_uverbs_access_flags, checked for form */
	u64 addr;   /* user virtual address of the first byte */
	u64 length;
	u64 iova;
	/* memory of the process that registers, which need not be the one that made the context;
	 * the region takes a reference */
	struct ur_user_mem *mem;
	bool on_demand; /* pages are not touched at registration */
	bool implicit;	/* the whole address space: length = 2^64 - 1 */
	bool null_mr;
	int dmabuf_fd; /* ur_emr_takes_file(), or -1; stays the caller's */
	u64 dmabuf_off;
	bool gpu; /* GPU memory; for an engine in a program */
	/* addr is in the program's mapping of the dma-buf sync_fd; for an engine in a program */
	bool synced;
	int sync_fd;
	/* not 0: the memory belongs to the program's parent, which has the key at this address while
	 * the region is registered there */
	u64 key_at;
	u32 key; /* assigned by control; 0: a new one */
};

/* Returns whether the file can be registered: a memfd, not of hugetlbfs, that is sealed against
 * shrinking. Any thread, with any file. */
bool ur_emr_takes_file(int fd);
/* Registers a region, in *mr. Returns 0, -EACCES (the memory cannot be reached), -EFAULT, -EINVAL,
 * -EOPNOTSUPP or -ENOMEM. */
int ur_emr_reg(struct ur_ectx *ectx, const struct ur_emr_attr *attr,
	       struct ur_emr **mr);
/* The attributes to change, enum ibv_rereg_mr_flags; other fields of attr are
 * ignored. */
#define UR_REREG_TRANS	(1u << 0)
#define UR_REREG_PD	(1u << 1)
#define UR_REREG_ACCESS (1u << 2)
/* The mapping that a region no longer uses, for the caller to unmap. map NULL: there is none. */
struct ur_emr_left {
	void *map;
	size_t len;
};

/* Unmaps it, which takes time in proportion to its pages. Any thread, best without a lock. */
void ur_emr_unmap(const struct ur_emr_left *left);

/* Registers the region anew. flags: UR_REREG_*. *left: its former mapping, on failure too.
 * Returns as ur_emr_reg(), or -EBUSY while windows are bound to the region. */
int ur_emr_rereg(struct ur_emr *mr, u32 flags, const struct ur_emr_attr *attr,
		 struct ur_emr_left *left);
/* Destroys the region. Returns 0 with *left, or -EBUSY while windows are bound
 * to it. */
int ur_emr_dereg(struct ur_emr *mr, struct ur_emr_left *left);
/* Makes a window of type 1 or 2 (enum ibv_mw_type) in *mw. key: assigned by control; 0: a new one.
 * Returns 0 or -ENOMEM. */
int ur_emw_alloc(struct ur_ectx *ectx, u32 pd, int type, u32 key,
		 struct ur_emw **mw);
/* Destroys the window, bound or not. Returns 0. */
int ur_emw_dealloc(struct ur_emw *mw);

/* Makes an address handle for datagrams in *ah. Returns 0, -ENOMEM, or -ENETUNREACH and the like if
 * there is no route. */
int ur_eah_create(struct ur_ectx *ectx, u32 pd, const struct ur_epath *path,
		  struct ur_eah **ah);
/* Returns its number, for struct uroce_wqe_av. */
u32 ur_eah_number(const struct ur_eah *ah);
/* Destroys it. Packets that were posted to it still leave. */
void ur_eah_destroy(struct ur_eah *ah);

#endif
