// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verbs that came to libibverbs after the oldest release that this builds with:
 * through the library where it has it, else only as the kernel's ABI.
 */
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "bench.h"
#include "kernel-abi/uroce-abi.h"

#define ON_DEMAND_FLUSH	       (1u << 6)
#define ON_DEMAND_ATOMIC_WRITE (1u << 7)

static int ask_speed(struct ibv_context *ctx, uint32_t port, uint64_t *speed)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = UROCE_METHOD_QUERY_PORT_SPEED,
			 .num_attrs = 2,
			 .driver_id = RDMA_DRIVER_UNKNOWN},
		 .attr = {{.attr_id = UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM,
			   .len = sizeof(port),
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = port},
			  {.attr_id = UROCE_ATTR_QUERY_PORT_SPEED_RESP,
			   .len = sizeof(*speed),
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = (uintptr_t)speed}}};

	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
}

/* As the file of the rate has it: that of the netdev, or of 1X SDR. */
static void port_speed(void)
{
	struct ibv_context *ctx = open_device();
	double gbps = 0;
	uint64_t speed = 0;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/rate",
		 ibv_get_device_name(ctx->device));
	f = fopen(path, "re");
	CHECK(f && fscanf(f, "%lf", &gbps) == 1);
	fclose(f);
	CHECK_EQ(ask_speed(ctx, 1, &speed), 0);
	CHECK_EQ(speed, (uint64_t)(gbps * 10));
	CHECK_EQ(ask_speed(ctx, 2, &speed), EINVAL);
	CHECK_EQ(ask_speed(ctx, 0, &speed), EINVAL);
#ifdef UR_HAVE_PORT_SPEED
	speed = 0;
	CHECK_EQ(ibv_query_port_speed(ctx, 1, &speed), 0);
	CHECK_EQ(speed, (uint64_t)(gbps * 10));
	CHECK_EQ(ibv_query_port_speed(ctx, 2, &speed), EINVAL);
#endif
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static uint32_t on_demand_caps(struct ibv_context *ctx)
{
	struct ibv_device_attr_ex dev;

	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &dev), 0);
	return dev.odp_caps.per_transport_caps.rc_odp_caps;
}

/* Memory that nobody has touched, on demand, in place of end b's. */
static uint8_t *on_demand(struct bench *t, unsigned int access)
{
	uint8_t *p = mmap(NULL, BUF_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_EQ(ibv_dereg_mr(t->b.mr), 0);
	t->b.mr =
		ibv_reg_mr(t->pd, p, BUF_BYTES, access | IBV_ACCESS_ON_DEMAND);
	CHECK(t->b.mr);
	return p;
}

static void on_demand_atomic_write(void)
{
	uint64_t v = 0x1122334455667788;
	struct ibv_qp_ex *a;
	struct bench t;
	uint8_t *p;

	bench_open(&t, 64);
	CHECK(on_demand_caps(t.ctx) & ON_DEMAND_ATOMIC_WRITE);
	p = on_demand(&t, ALL_ACCESS);
	a = ibv_qp_to_qp_ex(t.a.qp);
	a->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(a);
	ibv_wr_atomic_write(a, t.b.mr->rkey, (uintptr_t)p + 4096, &v);
	CHECK_EQ(ibv_wr_complete(a), 0);
	CHECK_EQ(expect_wc(t.a.cq, IBV_WC_SUCCESS).opcode, IBV_WC_ATOMIC_WRITE);
	CHECK(!memcmp(p + 4096, &v, sizeof(v)));
	/* Memory that went away is the peer's error. */
	CHECK(!munmap(p, BUF_BYTES));
	ibv_wr_start(a);
	ibv_wr_atomic_write(a, t.b.mr->rkey, (uintptr_t)p + 4096, &v);
	CHECK_EQ(ibv_wr_complete(a), 0);
	expect_wc(t.a.cq, IBV_WC_REM_ACCESS_ERR);
	bench_close(&t);
}

#ifdef UR_HAVE_FLUSH
static void on_demand_flush(void)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags =
			IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_FLUSH,
	};
	struct ibv_qp_attr attr = {.qp_access_flags =
					   (ALL_ACCESS & ~IBV_ACCESS_MW_BIND) |
					   IBV_ACCESS_FLUSH_GLOBAL};
	struct ibv_qp_ex *a;
	struct bench t;
	uint8_t *p;

	bench_open(&t, 64);
	CHECK(on_demand_caps(t.ctx) & ON_DEMAND_FLUSH);
	p = on_demand(&t, ALL_ACCESS | IBV_ACCESS_FLUSH_GLOBAL);
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	init.send_cq = init.recv_cq = t.a.cq;
	init.pd = t.pd;
	t.a.qp = ibv_create_qp_ex(t.ctx, &init);
	CHECK(t.a.qp);
	to_state(t.b.qp, IBV_QPS_RESET);
	connect_qp(&t, t.a.qp, t.b.qp->qp_num);
	connect_qp(&t, t.b.qp, t.a.qp->qp_num);
	CHECK_EQ(ibv_modify_qp(t.b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	memset(t.a.buf, 7, 4096);
	a = ibv_qp_to_qp_ex(t.a.qp);
	ibv_wr_start(a);
	a->wr_flags = 0;
	ibv_wr_rdma_write(a, t.b.mr->rkey, (uintptr_t)p + 4096);
	ibv_wr_set_sge(a, t.a.mr->lkey, (uintptr_t)t.a.buf, 4096);
	a->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(a, t.b.mr->rkey, (uintptr_t)p + 4096, 4096,
		     IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	CHECK_EQ(ibv_wr_complete(a), 0);
	CHECK_EQ(expect_wc(t.a.cq, IBV_WC_SUCCESS).opcode, IBV_WC_FLUSH);
	CHECK(!memcmp(p + 4096, t.a.buf, 4096));
	/* Flushes pages that nobody has touched, and the whole region. */
	ibv_wr_start(a);
	ibv_wr_flush(a, t.b.mr->rkey, (uintptr_t)p + 65536, 4096,
		     IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	ibv_wr_flush(a, t.b.mr->rkey, (uintptr_t)p, 0, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_MR);
	CHECK_EQ(ibv_wr_complete(a), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	bench_close(&t);
	CHECK(!munmap(p, BUF_BYTES));
}
#else
static void on_demand_flush(void)
{
	SKIP("this libibverbs has no FLUSH");
}
#endif

#ifdef UR_HAVE_REG_MR_EX
/* Writes into what end b has registered now, which is at that address. */
static void write_into(struct bench *t, uint64_t iova, const uint8_t *p,
		       uint8_t value)
{
	memset(t->a.buf, value, BUF_BYTES);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, iova, t->b.mr->rkey,
			   BUF_BYTES),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	CHECK(!memcmp(p, t->a.buf, BUF_BYTES));
	CHECK_EQ(ibv_dereg_mr(t->b.mr), 0);
	t->b.mr = NULL;
}

static void reg_mr_ex_refused(struct bench *t, struct ibv_mr_init_attr attr,
			      uint64_t mask, int err)
{
	attr.comp_mask = mask;
	errno = 0;
	CHECK(!ibv_reg_mr_ex(t->pd, &attr));
	CHECK_EQ(errno, err);
}

static void reg_mr_ex(void)
{
	const uint64_t of_file = IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_FD |
				 IBV_REG_MR_MASK_FD_OFFSET;
	struct ibv_mr_init_attr attr = {.length = BUF_BYTES,
					.access = ALL_ACCESS,
					.iova = 0x100000,
					.fd_offset = 4096};
	struct ibv_dmah_init_attr hints = {0};
	struct bench t;
	uint8_t *p;

	bench_open(&t, 64);
	CHECK_EQ(ibv_dereg_mr(t.b.mr), 0);
	attr.addr = t.b.buf;
	attr.comp_mask = IBV_REG_MR_MASK_ADDR;
	t.b.mr = ibv_reg_mr_ex(t.pd, &attr);
	CHECK(t.b.mr && t.b.mr->addr == t.b.buf);
	CHECK_EQ(t.b.mr->length, BUF_BYTES);
	write_into(&t, (uintptr_t)t.b.buf, t.b.buf, 1);
	attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	t.b.mr = ibv_reg_mr_ex(t.pd, &attr);
	CHECK(t.b.mr);
	write_into(&t, attr.iova, t.b.buf, 2);

	attr.fd = memfd_create("buffer", MFD_ALLOW_SEALING);
	CHECK(attr.fd >= 0 && !ftruncate(attr.fd, 4096 + BUF_BYTES));
	CHECK(!fcntl(attr.fd, F_ADD_SEALS, F_SEAL_SHRINK));
	p = mmap(NULL, BUF_BYTES, PROT_READ, MAP_SHARED, attr.fd, 4096);
	CHECK(p != MAP_FAILED);
	attr.comp_mask = of_file;
	t.b.mr = ibv_reg_mr_ex(t.pd, &attr);
	CHECK(t.b.mr);
	write_into(&t, attr.iova, p, 3);

	reg_mr_ex_refused(&t, attr, 0, EINVAL);
	reg_mr_ex_refused(&t, attr, IBV_REG_MR_MASK_IOVA, EINVAL);
	reg_mr_ex_refused(&t, attr, of_file | IBV_REG_MR_MASK_ADDR, EINVAL);
	reg_mr_ex_refused(&t, attr, of_file & ~IBV_REG_MR_MASK_IOVA, EINVAL);
	reg_mr_ex_refused(&t, attr, of_file & ~IBV_REG_MR_MASK_FD_OFFSET,
			  EINVAL);
	reg_mr_ex_refused(&t, attr, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
			  EOPNOTSUPP);
	reg_mr_ex_refused(&t, attr, IBV_REG_MR_MASK_ADDR | 1 << 20, EOPNOTSUPP);
	/* Hints for a bus that is not there. */
	CHECK(!ibv_alloc_dmah(t.ctx, &hints));
	CHECK_EQ(errno, EOPNOTSUPP);
	close(attr.fd);
	CHECK(!munmap(p, BUF_BYTES));
	bench_close(&t);
}
#else
static void reg_mr_ex(void)
{
	SKIP("this libibverbs has no ibv_reg_mr_ex()");
}
#endif

const struct verbs_test later_tests[] = {
	{"port_speed", port_speed},
	{"on_demand_atomic_write", on_demand_atomic_write},
	{"on_demand_flush", on_demand_flush},
	{"reg_mr_ex", reg_mr_ex},
	{0},
};
