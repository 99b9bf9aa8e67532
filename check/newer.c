// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Functions of libibverbs that are newer than the headers of rdma-core 44. They
 * are declared here under other names, so that this also compiles with headers
 * that have them. If the program's library lacks one, it fails like an
 * operation that no provider has.
 */
#include <errno.h>

#include "check/front.h"
#include "check/real.h"

/* struct ibv_mr_init_attr of <infiniband/verbs.h>, rdma-core 59 to 65, without
 * the member that 64 added. comp_mask says which members are valid. */
struct mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
};

#define MASK_IOVA 1u
#define MASK_ADDR 2u
#define MASK_FD	  4u
#define MASK_BUF  32u /* of rdma-core 64: the provider allocates the memory */

UR_FRONT struct ibv_mr *
ur_reg_mr_ex(struct ibv_pd *pd,
	     struct mr_init_attr *attr) __asm__("ibv_reg_mr_ex");
UR_FRONT struct ibv_mr *ur_reg_buf_mr(struct ibv_pd *pd, void *buf, void *addr,
				      size_t length,
				      int access) __asm__("ibv_reg_buf_mr");
UR_FRONT int
ur_qp_attach_comp_cntr(struct ibv_qp *qp, void *counter,
		       void *attr) __asm__("ibv_qp_attach_comp_cntr");

static struct ibv_mr *none(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

UR_FRONT struct ibv_mr *ur_reg_mr_ex(struct ibv_pd *pd,
				     struct mr_init_attr *attr)
{
	static void *found;
	struct ibv_mr *(*real)(struct ibv_pd *, struct mr_init_attr *) =
		(struct ibv_mr * (*)(struct ibv_pd *, struct mr_init_attr *))
			ur_real_try(UR_VERBS, "ibv_reg_mr_ex", &found);
	bool memory = (attr->comp_mask & MASK_ADDR) &&
		      !(attr->comp_mask & (MASK_FD | MASK_BUF));
	struct ibv_mr *mr = real ? real(pd, attr) : none();

	return ur_mr_made(mr,
			  attr->comp_mask & MASK_IOVA ? attr->iova
						      : (uintptr_t)attr->addr,
			  (unsigned int)attr->access, memory);
}

UR_FRONT struct ibv_mr *ur_reg_buf_mr(struct ibv_pd *pd, void *buf, void *addr,
				      size_t length, int access)
{
	static void *found;
	struct ibv_mr *(*real)(struct ibv_pd *, void *, void *, size_t, int) =
		(struct ibv_mr *
		 (*)(struct ibv_pd *, void *, void *, size_t, int))
			ur_real_try(UR_VERBS, "ibv_reg_buf_mr", &found);
	struct ibv_mr *mr = real ? real(pd, buf, addr, length, access) : none();

	return ur_mr_made(mr, (uintptr_t)addr, (unsigned int)access, false);
}

/* The program may learn of completions from the counter, without polling. */
UR_FRONT int ur_qp_attach_comp_cntr(struct ibv_qp *qp, void *counter,
				    void *attr)
{
	static void *found;
	int (*real)(struct ibv_qp *, void *, void *) =
		(int (*)(struct ibv_qp *, void *, void *))ur_real_try(
			UR_VERBS, "ibv_qp_attach_comp_cntr", &found);
	int err = real ? real(qp, counter, attr) : EOPNOTSUPP;

	if (err)
		return err;
	ur_table_lock();
	ur_qp_unseen(ur_watched(UR_KIND_QP, qp));
	ur_table_unlock();
	return 0;
}
