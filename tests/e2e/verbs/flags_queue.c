// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flags of queues of all kinds, see flags.h. */
#include <fcntl.h>

#include "flags.h"

static int cq_ex(struct bench *t, struct ibv_cq_init_attr_ex attr)
{
	struct ibv_cq_ex *cq;

	attr.cqe = 8;
	cq = ibv_create_cq_ex(t->ctx, &attr);
	return MADE(cq ? ibv_cq_ex_to_cq(cq) : NULL, ibv_destroy_cq);
}

static int cq_mask(struct bench *t, uint32_t bit)
{
	return cq_ex(t, (struct ibv_cq_init_attr_ex){.comp_mask = bit});
}

static int cq_flags(struct bench *t, uint32_t bit)
{
	return cq_ex(t, (struct ibv_cq_init_attr_ex){
				.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
				.flags = bit});
}

static int cq_wc_flags(struct bench *t, uint32_t bit)
{
	return cq_ex(t, (struct ibv_cq_init_attr_ex){.wc_flags = bit});
}

static int cq_wc_flags_high(struct bench *t, uint32_t bit)
{
	return cq_ex(t, (struct ibv_cq_init_attr_ex){.wc_flags = (uint64_t)bit
								 << 32});
}

static int modify_cq(struct bench *t, uint32_t bit)
{
	struct ibv_modify_cq_attr attr = {.attr_mask = bit};

	return ibv_modify_cq(t->a.cq, &attr);
}

static int srq_mask(struct bench *t, uint32_t bit)
{
	struct ibv_srq_init_attr_ex attr = {.attr = {.max_wr = 4, .max_sge = 1},
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_PD | bit,
					    .pd = t->pd,
					    .cq = t->a.cq};

	return MADE(ibv_create_srq_ex(t->ctx, &attr), ibv_destroy_srq);
}

static int srq_type(struct bench *t, uint32_t bit)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = (enum ibv_srq_type)(bit << 1),
		.pd = t->pd};

	if (!attr.srq_type)
		return EINVAL; /* bit 31 does not fit */
	return MADE(ibv_create_srq_ex(t->ctx, &attr), ibv_destroy_srq);
}

static int modify_srq(struct bench *t, uint32_t bit)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(t->pd, &init);
	struct ibv_srq_attr attr = {.max_wr = 6, .srq_limit = 2};
	int err;

	CHECK(srq);
	err = ibv_modify_srq(srq, &attr, (int)bit);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	return err;
}

static int xrcd_mask(struct bench *t, uint32_t bit)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask =
			IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS | bit,
		.fd = -1,
		.oflags = O_CREAT};

	return MADE(ibv_open_xrcd(t->ctx, &attr), ibv_close_xrcd);
}

static int xrcd_oflags(struct bench *t, uint32_t bit)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT | (int)bit};

	return MADE(ibv_open_xrcd(t->ctx, &attr), ibv_close_xrcd);
}

static struct ibv_qp_init_attr_ex init_of(struct bench *t,
					  enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){.send_cq = t->a.cq,
					    .recv_cq = t->a.cq,
					    .cap = {4, 4, 1, 1, 0},
					    .qp_type = type,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = t->pd};
}

static int qp_type(struct bench *t, uint32_t bit)
{
	struct ibv_qp_init_attr_ex attr = init_of(t, (enum ibv_qp_type)bit);

	return MADE(ibv_create_qp_ex(t->ctx, &attr), ibv_destroy_qp);
}

static int qp_mask(struct bench *t, uint32_t bit)
{
	struct ibv_qp_init_attr_ex attr = init_of(t, IBV_QPT_UD);

	attr.comp_mask |= bit;
	return MADE(ibv_create_qp_ex(t->ctx, &attr), ibv_destroy_qp);
}

static int qp_create_flags(struct bench *t, uint32_t bit)
{
	struct ibv_qp_init_attr_ex attr = init_of(t, IBV_QPT_UD);

	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = bit;
	return MADE(ibv_create_qp_ex(t->ctx, &attr), ibv_destroy_qp);
}

static int send_ops(struct bench *t, enum ibv_qp_type type, uint32_t bit)
{
	struct ibv_qp_init_attr_ex attr = init_of(t, type);

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = bit;
	return MADE(ibv_create_qp_ex(t->ctx, &attr), ibv_destroy_qp);
}

static int send_ops_rc(struct bench *t, uint32_t bit)
{
	return send_ops(t, IBV_QPT_RC, bit);
}

static int send_ops_uc(struct bench *t, uint32_t bit)
{
	return send_ops(t, IBV_QPT_UC, bit);
}

static int send_ops_ud(struct bench *t, uint32_t bit)
{
	return send_ops(t, IBV_QPT_UD, bit);
}

/* With all that RTS takes, for a bit that it knows not. */
static int modify_mask(struct bench *t, uint32_t bit)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .cur_qp_state = IBV_QPS_RTS,
				   .path_mig_state = IBV_MIG_MIGRATED,
				   .min_rnr_timer = 1,
				   .qp_access_flags = ALL_ACCESS};

	return ibv_modify_qp(t->a.qp, &attr, (int)(bit | IBV_QP_STATE));
}

static int qp_access(struct bench *t, uint32_t bit)
{
	struct ibv_qp_attr attr = {.qp_access_flags = bit};
	int err = ibv_modify_qp(t->a.qp, &attr, IBV_QP_ACCESS_FLAGS);

	if (!err) {
		attr.qp_access_flags = ALL_ACCESS;
		CHECK_EQ(ibv_modify_qp(t->a.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	}
	return err;
}

static int rate_limit_mask(struct bench *t, uint32_t bit)
{
	struct ibv_qp_rate_limit_attr attr = {.comp_mask = bit};

	return ibv_modify_qp_rate_limit(t->a.qp, &attr);
}

static int ece_mask(struct bench *t, uint32_t bit)
{
	struct ibv_ece ece = {.comp_mask = bit};
	struct ibv_qp_init_attr_ex attr = init_of(t, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp_ex(t->ctx, &attr);
	int err;

	CHECK(qp);
	CHECK_EQ(ibv_query_ece(qp, &ece), 0);
	ece.comp_mask = bit;
	err = ibv_set_ece(qp, &ece);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	return err;
}

#define OPS_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_UC                                                         \
	(OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE |                          \
	 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_BIND_MW | \
	 IBV_QP_EX_WITH_LOCAL_INV)
#define OPS_RC                                                                \
	(OPS_UC | IBV_QP_EX_WITH_RDMA_READ |                                  \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                                  \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV | \
	 IBV_QP_EX_WITH_ATOMIC_WRITE)
#define OPS_FLUSH (1u << 11) /* of rdma-core 46 */
#define WCS                                                                    \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |                        \
	 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | \
	 IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |                   \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                                 \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

const struct flags queue_flags[] = {
	{"cq_mask", cq_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS, 0},
	{"cq_flags", cq_flags,
	 IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	 0},
	{"cq_wc_flags", cq_wc_flags, WCS, 0},
	{"cq_wc_flags_high", cq_wc_flags_high, 0, 0},
	{"modify_cq", modify_cq, IBV_CQ_ATTR_MODERATE, 0},
	{"srq_mask", srq_mask, IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
	 0},
	{"srq_type", srq_type, 0, 0},
	{"modify_srq", modify_srq, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 0},
	{"xrcd_mask", xrcd_mask,
	 IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, 0},
	{"xrcd_oflags", xrcd_oflags, O_CREAT | O_EXCL, 0},
	{"qp_type", qp_type, IBV_QPT_RC | IBV_QPT_UD, 0},
	{"qp_mask", qp_mask,
	 IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
		 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	 0},
	{"qp_create_flags", qp_create_flags, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	 0},
	{"send_ops_rc", send_ops_rc, OPS_RC, OPS_FLUSH},
	{"send_ops_uc", send_ops_uc, OPS_UC, 0},
	{"send_ops_ud", send_ops_ud, OPS_UD, 0},
	/* In RTS, and with a path that does not migrate. */
	{"modify_mask", modify_mask,
	 IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS |
		 IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE |
		 IBV_QP_RATE_LIMIT,
	 0},
	{"qp_access", qp_access, MEMORY_FLAGS, 0},
	{"rate_limit_mask", rate_limit_mask, 0, 0},
	{"ece_mask", ece_mask, 0, 0},
	{0},
};
