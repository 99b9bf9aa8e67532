// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flags of work requests and of what else there is, and the test of all, see
 * flags.h. */
#include "flags.h"

static int send_flags(struct bench *t, uint32_t bit)
{
	int err = post_send(&t->a, 1, 0, 8, IBV_SEND_SIGNALED | bit);

	if (!err) {
		CHECK_EQ(post_recv(&t->b, 1, 0, 8), 0);
		expect_wc(t->a.cq, IBV_WC_SUCCESS);
		expect_wc(t->b.cq, IBV_WC_SUCCESS);
	}
	return err;
}

static int wr_flags(struct bench *t, uint32_t bit)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(t->a.qp);
	int err;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED | bit;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, t->a.mr->lkey, (uintptr_t)t->a.buf, 8);
	err = ibv_wr_complete(qpx);
	if (!err) {
		CHECK_EQ(post_recv(&t->b, 1, 0, 8), 0);
		expect_wc(t->a.cq, IBV_WC_SUCCESS);
		expect_wc(t->b.cq, IBV_WC_SUCCESS);
	}
	return err;
}

static int bind_flags(struct bench *t, uint32_t bit)
{
	struct ibv_mw *mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED | bit,
				   .bind_info = {.mr = t->a.mr,
						 .addr = (uintptr_t)t->a.buf,
						 .length = 64}};
	int err;

	CHECK(mw);
	err = ibv_bind_mw(t->a.qp, mw, &bind);
	if (!err)
		expect_wc(t->a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	return err;
}

static int ah_port(struct bench *t, uint32_t bit)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = (uint8_t)bit,
				   .grh = {.dgid = t->gid, .hop_limit = 3}};

	if (bit > UINT8_MAX)
		return EINVAL; /* does not fit */
	return MADE(ibv_create_ah(t->pd, &attr), ibv_destroy_ah);
}

static int ah_rate(struct bench *t, uint32_t bit)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .static_rate = (uint8_t)bit,
				   .grh = {.dgid = t->gid, .hop_limit = 3}};

	if (bit > UINT8_MAX)
		return EINVAL;
	return MADE(ibv_create_ah(t->pd, &attr), ibv_destroy_ah);
}

static int td_mask(struct bench *t, uint32_t bit)
{
	struct ibv_td_init_attr attr = {.comp_mask = bit};

	return MADE(ibv_alloc_td(t->ctx, &attr), ibv_dealloc_td);
}

static int parent_mask(struct bench *t, uint32_t bit)
{
	struct ibv_parent_domain_init_attr attr = {.pd = t->pd,
						   .comp_mask = bit};

	return MADE(ibv_alloc_parent_domain(t->ctx, &attr), ibv_dealloc_pd);
}

static int counters_mask(struct bench *t, uint32_t bit)
{
	struct ibv_counters_init_attr attr = {.comp_mask = bit};

	return MADE(ibv_create_counters(t->ctx, &attr), ibv_destroy_counters);
}

static int counters_read(struct bench *t, uint32_t bit)
{
	struct ibv_counters_init_attr attr = {0};
	struct ibv_counters *c = ibv_create_counters(t->ctx, &attr);
	uint64_t values[4];
	int err;

	if (!c)
		return -1;
	err = ibv_read_counters(c, values, 4, bit);
	CHECK_EQ(ibv_destroy_counters(c), 0);
	return err;
}

static int wq_init(struct bench *t, uint32_t mask, uint32_t create_flags)
{
	struct ibv_wq_init_attr attr = {.wq_type = IBV_WQT_RQ,
					.max_wr = 4,
					.max_sge = 1,
					.pd = t->pd,
					.cq = t->a.cq,
					.comp_mask = mask,
					.create_flags = create_flags};

	struct ibv_wq_init_attr plain = attr;

	plain.comp_mask = 0;
	if (MADE(ibv_create_wq(t->ctx, &plain), ibv_destroy_wq))
		return -1;
	return MADE(ibv_create_wq(t->ctx, &attr), ibv_destroy_wq);
}

static int wq_mask(struct bench *t, uint32_t bit)
{
	return wq_init(t, bit, 0);
}

static int wq_create_flags(struct bench *t, uint32_t bit)
{
	return wq_init(t, IBV_WQ_INIT_ATTR_FLAGS, bit);
}

static int values_mask(struct bench *t, uint32_t bit)
{
	struct ibv_values_ex values = {.comp_mask = bit};

	return ibv_query_rt_values_ex(t->ctx, &values);
}

const struct flags request_flags[] = {
	{"send_flags", send_flags, POSTED_FLAGS, 0},
	{"wr_flags", wr_flags, POSTED_FLAGS, 0},
	{"bind_flags", bind_flags, POSTED_FLAGS, 0},
	{"ah_port", ah_port, 1, 0},
	{"ah_rate", ah_rate, 0, 0},
	{"td_mask", td_mask, 0, 0},
	/* No memory of the program's is needed for queues: the device makes
	 * them. */
	{"parent_mask", parent_mask,
	 IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
		 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
	 0},
	{"counters_mask", counters_mask, 0, 0},
	/* Without a flow there is nothing to read. */
	{"counters_read", counters_read, 0,
	 IBV_READ_COUNTERS_ATTR_PREFER_CACHED},
	{"wq_mask", wq_mask, IBV_WQ_INIT_ATTR_FLAGS, 0},
	{"wq_create_flags", wq_create_flags, 0, 0},
	{"values_mask", values_mask, IBV_VALUES_MASK_RAW_CLOCK, 0},
	{0},
};

static bool refused(int err)
{
	return err == EINVAL || err == EOPNOTSUPP;
}

static bool right(const struct flags *f, uint32_t bit, int err)
{
	if (err < 0)
		return true;
	if (f->later & bit)
		return !err || refused(err);
	return f->done & bit ? !err : refused(err);
}

static void each_bit(const struct flags *f)
{
	unsigned int wrong = 0;
	struct bench t;

	bench_open(&t, 64);
	for (; f->name; f++) {
		for (unsigned int k = 0; k < 32; k++) {
			int err = f->verb(&t, 1u << k);

			if (right(f, 1u << k, err))
				continue;
			fprintf(stderr, "%s, bit %u: %s\n", f->name, k,
				err ? strerror(err) : "accepted");
			wrong++;
		}
	}
	CHECK_EQ(wrong, 0);
	bench_close(&t);
}

static void flags_of_memory(void)
{
	each_bit(memory_flags);
}

static void flags_of_queues(void)
{
	each_bit(queue_flags);
}

static void flags_of_requests(void)
{
	each_bit(request_flags);
}

const struct verbs_test flag_tests[] = {
	{"flags_of_memory", flags_of_memory},
	{"flags_of_queues", flags_of_queues},
	{"flags_of_requests", flags_of_requests},
	{0},
};
