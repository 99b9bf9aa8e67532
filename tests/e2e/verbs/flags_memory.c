// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flags of regions and windows, see flags.h. */
#include "flags.h"

static int reg_mr(struct bench *t, uint32_t bit)
{
	return MADE(ibv_reg_mr(t->pd, t->a.buf, 4096,
			       (int)(IBV_ACCESS_LOCAL_WRITE | bit)),
		    ibv_dereg_mr);
}

static int reg_mr_iova(struct bench *t, uint32_t bit)
{
	return MADE(ibv_reg_mr_iova(t->pd, t->a.buf, 4096, 4096,
				    (int)(IBV_ACCESS_LOCAL_WRITE | bit)),
		    ibv_dereg_mr);
}

static int reg_dm_mr(struct bench *t, uint32_t bit)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	struct ibv_dm *dm = ibv_alloc_dm(t->ctx, &attr);
	int err;

	CHECK(dm);
	err = MADE(ibv_reg_dm_mr(t->pd, dm, 0, 4096,
				 IBV_ACCESS_ZERO_BASED |
					 IBV_ACCESS_LOCAL_WRITE | bit),
		   ibv_dereg_mr);
	CHECK_EQ(ibv_free_dm(dm), 0);
	return err;
}

static int rereg_mr(struct bench *t, uint32_t bit)
{
	struct ibv_mr *mr = ibv_reg_mr(t->pd, t->a.buf, 4096, ALL_ACCESS);
	int ret;

	CHECK(mr);
	errno = 0;
	ret = ibv_rereg_mr(mr, (int)bit, t->pd, t->a.buf + 4096, 4096,
			   bit == IBV_REREG_MR_CHANGE_ACCESS ? ALL_ACCESS : 0);
	ret = ret ? errno : 0;
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	return ret;
}

static int rereg_access(struct bench *t, uint32_t bit)
{
	struct ibv_mr *mr = ibv_reg_mr(t->pd, t->a.buf, 4096, ALL_ACCESS);
	int ret;

	CHECK(mr);
	ret = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   (int)(IBV_ACCESS_LOCAL_WRITE | bit))
		      ? errno
		      : 0;
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	return ret;
}

static int advise_flags(struct bench *t, uint32_t bit)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 4096);

	return ibv_advise_mr(t->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, bit, &sge,
			     1);
}

static int advise(struct bench *t, uint32_t bit)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 4096);

	return ibv_advise_mr(t->pd, (enum ibv_advise_mr_advice)bit, 0, &sge, 1);
}

static int alloc_mw(struct bench *t, uint32_t bit)
{
	return MADE(ibv_alloc_mw(t->pd, (enum ibv_mw_type)bit), ibv_dealloc_mw);
}

static int alloc_dm(struct bench *t, uint32_t bit)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096, .comp_mask = bit};

	return MADE(ibv_alloc_dm(t->ctx, &attr), ibv_free_dm);
}

static int dm_alignment(struct bench *t, uint32_t bit)
{
	struct ibv_alloc_dm_attr attr = {.length = 64, .log_align_req = bit};

	return MADE(ibv_alloc_dm(t->ctx, &attr), ibv_free_dm);
}

static int bind_access(struct bench *t, uint32_t bit)
{
	struct ibv_mw *mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = t->a.mr,
						 .addr = (uintptr_t)t->a.buf,
						 .length = 64,
						 .mw_access_flags = bit}};
	struct ibv_wc wc;
	int err;

	CHECK(mw);
	err = ibv_bind_mw(t->a.qp, mw, &bind);
	if (!err) {
		wc = wait_wc(t->a.cq);
		err = wc.status ? EINVAL : 0;
	}
	if (err) {
		bench_end_both(t);
		bench_ends(t, 64);
	}
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	return err;
}

const struct flags memory_flags[] = {
	{"reg_mr", reg_mr, MEMORY_FLAGS, 0},
	{"reg_mr_iova", reg_mr_iova, MEMORY_FLAGS, 0},
	{"reg_dm_mr", reg_dm_mr, MEMORY_FLAGS, 0},
	{"rereg_mr", rereg_mr,
	 IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
		 IBV_REREG_MR_CHANGE_ACCESS,
	 0},
	{"rereg_access", rereg_access,
	 MEMORY_FLAGS & ~(uint32_t)IBV_ACCESS_ZERO_BASED, 0},
	{"advise_flags", advise_flags, IBV_ADVISE_MR_FLAG_FLUSH, 0},
	{"advise", advise,
	 IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE |
		 IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
	 0},
	{"alloc_mw", alloc_mw, IBV_MW_TYPE_1 | IBV_MW_TYPE_2, 0},
	{"alloc_dm", alloc_dm, 0, 0},
	{"dm_alignment", dm_alignment, 1 | 2 | 4 | 8, 0},
	/* A window has no local access: nothing is ignored. */
	{"bind_access", bind_access,
	 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
		 FLUSH_GLOBAL | FLUSH_PERSISTENT,
	 0},
	{0},
};
