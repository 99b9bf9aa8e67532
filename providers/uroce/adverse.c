// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Operations of a context with a hostile card: each calls the ordinary one and
 * spoils its result within the rules.
 *
 * The content of an undefined field depends on the seed and on the defined
 * fields, so the same program sees the same with the same seed.
 */
#include "adverse.h"
#include "ectx.h"
#include "util/rng.h"

int ur_adverse_ask(struct uroce_alloc_ucontext_req *req)
{
	const char *text = secure_getenv("UROCE_ADVERSE");
	unsigned long seed, what;
	char *end;

	if (!text || !*text)
		return 0;
	seed = strtoul(text, &end, 10);
	if (*end != ':' || end == text || seed > UINT32_MAX)
		return EINVAL;
	text = end + 1;
	what = strtoul(text, &end, 16);
	if (*end || end == text || (what & ~(unsigned long)UROCE_ADVERSE_ALL))
		return EINVAL;
	req->features |= UROCE_CTX_F_ADVERSE;
	req->adverse_seed = (u32)seed;
	req->adverse = (u32)what;
	return 0;
}

int ur_adverse_take(struct uroce_context *ctx,
		    const struct uroce_alloc_ucontext_req *req,
		    const struct uroce_alloc_ucontext_resp *resp)
{
	if (resp->features & UROCE_CTX_F_ADVERSE) {
		ctx->adverse = resp->adverse;
		ctx->adverse_seed = resp->adverse_seed;
	}
	return req && (req->adverse & ~ctx->adverse) ? EOPNOTSUPP : 0;
}

/* ---- undefined fields of completions ---- */

/* ibv_poll_cq(3), "Not all wc attributes are always valid". */
enum wc_field {
	OPCODE = 1u << 0,
	BYTE_LEN = 1u << 1,
	IMM_INV = 1u << 2,
	SENDER = 1u << 3, /* src_qp, slid, sl, dlid_path_bits, the GRH flag */
	FLAGS = 1u << 4,
};

static u32 defined(u32 status, u32 opcode, u32 flags, bool datagram)
{
	u32 d = OPCODE | FLAGS;

	if (status != IBV_WC_SUCCESS)
		return 0;
	/* For other sends the providers of real cards leave the field alone. */
	if ((opcode & IBV_WC_RECV) || opcode == IBV_WC_RDMA_READ ||
	    opcode == IBV_WC_COMP_SWAP || opcode == IBV_WC_FETCH_ADD)
		d |= BYTE_LEN;
	if (flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
		d |= IMM_INV;
	if (datagram && (opcode & IBV_WC_RECV))
		d |= SENDER;
	return d;
}

/* Returns whether the sender's fields mean something: for queue pairs that
 * receive datagrams or frames. */
static bool is_datagram(const struct uroce_context *ctx, u32 qpn)
{
	const struct uroce_qp *qp =
		ur_qp_table_get((struct uroce_context *)(uintptr_t)ctx, qpn);

	return qp && (qp->qpt_bit & (UR_SENDS_UD | UR_SENDS_RAW));
}

/* A value for one field of a completion that has this wr_id. */
static u64 poison(const struct uroce_context *ctx, u64 wr_id, u32 field)
{
	struct ur_rng r = {ctx->adverse_seed ^ wr_id << 8 ^ field};

	return ur_rng_u64(&r);
}

static enum ibv_wc_opcode wrong_opcode(u64 value)
{
	static const enum ibv_wc_opcode some[] = {
		IBV_WC_SEND,	  IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ,
		IBV_WC_COMP_SWAP, IBV_WC_RECV,	     IBV_WC_RECV_RDMA_WITH_IMM,
	};

	return some[value % UR_ARRAY_SIZE(some)];
}

static void poison_wc(const struct uroce_context *ctx, struct ibv_wc *wc)
{
	u32 d = defined(wc->status, wc->opcode, wc->wc_flags,
			is_datagram(ctx, wc->qp_num));
	u64 who = poison(ctx, wc->wr_id, SENDER);

	if (!(d & OPCODE))
		wc->opcode = wrong_opcode(poison(ctx, wc->wr_id, OPCODE));
	if (!(d & BYTE_LEN))
		wc->byte_len = (u32)poison(ctx, wc->wr_id, BYTE_LEN);
	if (!(d & IMM_INV))
		wc->imm_data = (u32)poison(ctx, wc->wr_id, IMM_INV);
	if (!(d & FLAGS))
		wc->wc_flags = poison(ctx, wc->wr_id, FLAGS) & 0xf;
	/* Only completions of QP1 have one, and programs do not use QP1. */
	wc->pkey_index = (u16)(who >> 48);
	if (d & SENDER)
		return;
	wc->src_qp = who & 0xffffff;
	wc->slid = (u16)(who >> 24);
	wc->sl = who >> 40 & 0xf;
	wc->dlid_path_bits = who >> 44 & 0x7f;
	if (d & FLAGS)
		wc->wc_flags ^= who >> 63 & IBV_WC_GRH;
}

static int adverse_poll_cq(struct ibv_cq *cq, int num_entries,
			   struct ibv_wc *wc)
{
	const struct uroce_context *ctx = ur_to_ctx(cq->context);
	int n = uroce_poll_cq(cq, num_entries, wc);

	for (int i = 0; i < n; i++)
		poison_wc(ctx, &wc[i]);
	return n;
}

/* ---- the readers of extended queues ---- */

static bool has(const struct ibv_cq_ex *ibcq, enum wc_field f)
{
	const struct uroce_cq *cq =
		ur_to_cq_ex((struct ibv_cq_ex *)(uintptr_t)ibcq);
	const struct uroce_cqe *cqe = cq->cur;

	return defined(cqe->status, cqe->opcode, cqe->wc_flags,
		       is_datagram(ur_to_ctx(ibcq->context), cqe->qpn)) &
	       f;
}

static u64 poison_ex(const struct ibv_cq_ex *cq, enum wc_field f)
{
	return poison(ur_to_ctx(cq->context), cq->wr_id, f);
}

static enum ibv_wc_opcode adverse_read_opcode(struct ibv_cq_ex *cq)
{
	return has(cq, OPCODE)
		       ? (enum ibv_wc_opcode)ur_to_cq_ex(cq)->cur->opcode
		       : wrong_opcode(poison_ex(cq, OPCODE));
}

static uint32_t adverse_read_byte_len(struct ibv_cq_ex *cq)
{
	return has(cq, BYTE_LEN) ? ur_to_cq_ex(cq)->cur->byte_len
				 : (u32)poison_ex(cq, BYTE_LEN);
}

static __be32 adverse_read_imm_data(struct ibv_cq_ex *cq)
{
	return has(cq, IMM_INV) ? ur_to_cq_ex(cq)->cur->imm_inv
				: (u32)poison_ex(cq, IMM_INV);
}

static unsigned int adverse_read_wc_flags(struct ibv_cq_ex *cq)
{
	u32 flags = ur_to_cq_ex(cq)->cur->wc_flags;

	if (!has(cq, FLAGS))
		return poison_ex(cq, FLAGS) & 0xf;
	if (!has(cq, SENDER))
		flags ^= poison_ex(cq, SENDER) >> 63 & IBV_WC_GRH;
	return flags;
}

static uint32_t adverse_read_src_qp(struct ibv_cq_ex *cq)
{
	return has(cq, SENDER) ? ur_to_cq_ex(cq)->cur->src_qp
			       : poison_ex(cq, SENDER) & 0xffffff;
}

static uint32_t adverse_read_slid(struct ibv_cq_ex *cq)
{
	return has(cq, SENDER) ? 0 : poison_ex(cq, SENDER) >> 24 & 0xffff;
}

static uint8_t adverse_read_sl(struct ibv_cq_ex *cq)
{
	return has(cq, SENDER) ? ur_to_cq_ex(cq)->cur->sl
			       : poison_ex(cq, SENDER) >> 40 & 0xf;
}

static uint8_t adverse_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return has(cq, SENDER) ? 0 : poison_ex(cq, SENDER) >> 44 & 0x7f;
}

static struct ibv_cq_ex *adverse_create_cq_ex(struct ibv_context *context,
					      struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq = uroce_create_cq_ex(context, attr);

	if (!cq)
		return NULL;
	cq->read_opcode = adverse_read_opcode;
	cq->read_wc_flags = adverse_read_wc_flags;
	if (cq->read_byte_len)
		cq->read_byte_len = adverse_read_byte_len;
	if (cq->read_imm_data)
		cq->read_imm_data = adverse_read_imm_data;
	if (cq->read_src_qp)
		cq->read_src_qp = adverse_read_src_qp;
	if (cq->read_slid)
		cq->read_slid = adverse_read_slid;
	if (cq->read_sl)
		cq->read_sl = adverse_read_sl;
	if (cq->read_dlid_path_bits)
		cq->read_dlid_path_bits = adverse_read_dlid_path_bits;
	return cq;
}

/* ---- limits: IBTA 11.2.1.2, each device has its own ---- */

static int
adverse_query_device_ex(struct ibv_context *context,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	int err = uroce_query_device_ex(context, input, attr, attr_size);

	if (err)
		return err;
	attr->orig_attr.max_sge = UR_ADVERSE_SGE;
	attr->orig_attr.max_sge_rd = UR_ADVERSE_SGE;
	attr->orig_attr.max_srq_sge = UR_ADVERSE_SGE;
	attr->orig_attr.max_qp_wr = UR_ADVERSE_WR;
	attr->orig_attr.max_srq_wr = UR_ADVERSE_WR;
	attr->orig_attr.max_qp_rd_atom = UR_ADVERSE_RD_ATOMIC;
	attr->orig_attr.max_qp_init_rd_atom = UR_ADVERSE_RD_ATOMIC;
	return 0;
}

static bool beyond(const struct ibv_qp_cap *cap)
{
	return cap->max_send_wr > UR_ADVERSE_WR ||
	       cap->max_recv_wr > UR_ADVERSE_WR ||
	       cap->max_send_sge > UR_ADVERSE_SGE ||
	       cap->max_recv_sge > UR_ADVERSE_SGE || cap->max_inline_data;
}

/* The device may grant more than was asked for; this card grants no more than
 * its limits. */
static void clip(struct uroce_qp *qp, struct ibv_qp_cap *cap)
{
	qp->max_send_sge = ur_min_u32(qp->max_send_sge, UR_ADVERSE_SGE);
	qp->rq.max_sge = ur_min_u32(qp->rq.max_sge, UR_ADVERSE_SGE);
	qp->max_inline = 0;
	cap->max_send_sge = ur_min_u32(cap->max_send_sge, UR_ADVERSE_SGE);
	cap->max_recv_sge = ur_min_u32(cap->max_recv_sge, UR_ADVERSE_SGE);
	cap->max_inline_data = 0;
}

static struct ibv_qp *adverse_create_qp_ex(struct ibv_context *context,
					   struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp;

	if (beyond(&attr->cap))
		return ur_fail(NULL, EINVAL);
	qp = uroce_create_qp_ex(context, attr);
	if (qp)
		clip(ur_to_qp(qp), &attr->cap);
	return qp;
}

static struct ibv_qp *adverse_create_qp(struct ibv_pd *pd,
					struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp;

	if (beyond(&attr->cap))
		return ur_fail(NULL, EINVAL);
	qp = uroce_create_qp(pd, attr);
	if (qp)
		clip(ur_to_qp(qp), &attr->cap);
	return qp;
}

static int adverse_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask)
{
	if (((mask & IBV_QP_MAX_QP_RD_ATOMIC) &&
	     attr->max_rd_atomic > UR_ADVERSE_RD_ATOMIC) ||
	    ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) &&
	     attr->max_dest_rd_atomic > UR_ADVERSE_RD_ATOMIC))
		return EINVAL;
	return uroce_modify_qp(qp, attr, mask);
}

static bool srq_beyond(const struct ibv_srq_attr *attr)
{
	return attr->max_wr > UR_ADVERSE_WR || attr->max_sge > UR_ADVERSE_SGE;
}

static struct ibv_srq *adverse_create_srq(struct ibv_pd *pd,
					  struct ibv_srq_init_attr *attr)
{
	if (!srq_beyond(&attr->attr))
		return uroce_create_srq(pd, attr);
	return ur_fail(NULL, EINVAL);
}

static struct ibv_srq *adverse_create_srq_ex(struct ibv_context *context,
					     struct ibv_srq_init_attr_ex *attr)
{
	if (!srq_beyond(&attr->attr))
		return uroce_create_srq_ex(context, attr);
	return ur_fail(NULL, EINVAL);
}

static int adverse_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			      int mask)
{
	if ((mask & IBV_SRQ_MAX_WR) && attr->max_wr > UR_ADVERSE_WR)
		return EINVAL;
	return uroce_modify_srq(srq, attr, mask);
}

/* ---- which operations ---- */

static const struct {
	u32 what; /* UROCE_ADVERSE_* */
	enum ur_op op;
	void *fn;
} replaced[] = {
	{UROCE_ADVERSE_POISON, UR_OP_poll_cq, (void *)adverse_poll_cq},
	{UROCE_ADVERSE_POISON, UR_OP_create_cq_ex,
	 (void *)adverse_create_cq_ex},
	{UROCE_ADVERSE_LIMITS, UR_OP_query_device_ex,
	 (void *)adverse_query_device_ex},
	{UROCE_ADVERSE_LIMITS, UR_OP_create_qp, (void *)adverse_create_qp},
	{UROCE_ADVERSE_LIMITS, UR_OP_create_qp_ex,
	 (void *)adverse_create_qp_ex},
	{UROCE_ADVERSE_LIMITS, UR_OP_modify_qp, (void *)adverse_modify_qp},
	{UROCE_ADVERSE_LIMITS, UR_OP_create_srq, (void *)adverse_create_srq},
	{UROCE_ADVERSE_LIMITS, UR_OP_create_srq_ex,
	 (void *)adverse_create_srq_ex},
	{UROCE_ADVERSE_LIMITS, UR_OP_modify_srq, (void *)adverse_modify_srq},
};

void *ur_adverse_op(const struct uroce_context *ctx, enum ur_op op)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(replaced); i++)
		if (replaced[i].op == op && (ctx->adverse & replaced[i].what))
			return replaced[i].fn;
	return ur_ops[op];
}
