// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A plugin with a libibverbs of a given layout: SIM PLUGIN. The library is
 * the made-up one of providers/uroce/link, whose offsets are its own; what is
 * looked for here comes from the releases' headers, not from the plugin's.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/uroce/link/ibverbs.h"
#include "providers/uroce/pabi.h"
#include "tests/check.h"

struct offsets {
	size_t ops_bytes;
	int query_rt_values, create_qp_ex, destroy_qp, unimport_pd;
	int free_context;
	int query_port_speed, reg_mr_ex, dereg_mr; /* 0: none there */
	int absent[4]; /* operations that we do not have: must stay NULL */
};

static const struct offsets layouts[] = {
	{608, 504, 160, 272, 600, 312, 0, 0, 0, {144, 264, 368, 448}},
	{632, 520, 168, 288, 624, 328, 0, 568, 240, {16, 152, 208, 384}},
	{648, 536, 168, 288, 640, 336, 512, 584, 240, {16, 328, 392, 472}},
	{664, 552, 176, 296, 656, 352, 528, 600, 248, {8, 24, 336, 488}},
	{744, 600, 184, 312, 736, 368, 576, 664, 256, {8, 128, 416, 696}},
};

static const struct offsets *find_layout(size_t ops_bytes)
{
	for (unsigned int i = 0; i < UR_ARRAY_SIZE(layouts); i++)
		if (layouts[i].ops_bytes == ops_bytes)
			return &layouts[i];
	CHECK(!"a known layout");
	return NULL;
}

static void check_qp(struct sim_state *sim, const struct offsets *o,
		     struct ibv_context *ctx, void *(*to_ex)(void *))
{
	struct ibv_qp *(*create)(struct ibv_context *,
				 struct ibv_qp_init_attr_ex *) =
		sim->ops[o->create_qp_ex / 8];
	int (*destroy)(struct ibv_qp *) = sim->ops[o->destroy_qp / 8];
	union {
		struct ibv_pd ibv;
		u8 whole[256];
	} domain = {.whole = {0}};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.pd = &domain.ibv,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp *qp;

	domain.ibv.context = ctx;
	qp = create(ctx, &attr);
	CHECK(qp);
	CHECK(to_ex(qp) == (void *)qp);
	CHECK(((struct ibv_qp_ex *)(void *)qp)->wr_send);
	CHECK_EQ(destroy(qp), 0);
	/* Methods that would lie in the library's own fields are refused. */
	attr.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_WRITE;
	qp = create(ctx, &attr);
	CHECK_EQ(!!qp, sim->qp_tail >= 352 + UR_MUTEX_MORE);
	if (qp)
		CHECK_EQ(destroy(qp), 0);
	attr.send_ops_flags |= 1 << 11; /* flush */
	qp = create(ctx, &attr);
	CHECK_EQ(!!qp, sim->qp_tail >= 360 + UR_MUTEX_MORE);
	if (qp) {
		CHECK(to_ex(qp));
		CHECK_EQ(destroy(qp), 0);
	}
	attr.comp_mask = 0;
	qp = create(ctx, &attr);
	CHECK(qp && !to_ex(qp));
	CHECK_EQ(destroy(qp), 0);
}

static void check_speed(struct sim_state *sim, const struct offsets *o,
			struct ibv_context *ctx)
{
	int (*speed)(struct ibv_context *, uint32_t, uint64_t *) =
		sim->ops[o->query_port_speed / 8];
	uint64_t got = 0;

	if (!o->query_port_speed)
		return;
	CHECK_EQ(speed(ctx, 1, &got), 0);
	CHECK_EQ(got, SIM_SPEED);
	CHECK_EQ(speed(ctx, 2, &got), EINVAL);
}

/* struct ibv_mr_init_attr of those releases. */
struct init_attr {
	size_t length;
	int access;
	uint64_t mask, iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
};

static void check_reg_mr_ex(struct sim_state *sim, const struct offsets *o,
			    struct ibv_context *ctx)
{
	struct ibv_mr *(*reg)(struct ibv_pd *, struct init_attr *) =
		sim->ops[o->reg_mr_ex / 8];
	int (*dereg)(struct ibv_mr *) = sim->ops[o->dereg_mr / 8];
	static char memory[64];
	/* The provider's own structure, of which the first member is known. */
	union {
		struct ibv_pd ibv;
		u8 whole[256];
	} domain = {.whole = {0}};
	struct init_attr attr = {.length = 64,
				 .access = 5,
				 .mask = 2,
				 .addr = memory,
				 .iova = 4096,
				 .fd = memfd_create("memory", MFD_CLOEXEC),
				 .fd_offset = 512};
	struct ibv_mr *mr;

	if (!o->reg_mr_ex)
		return;
	CHECK(!ftruncate(attr.fd, 4096));
	domain.ibv.context = ctx;
	mr = reg(&domain.ibv, &attr);
	CHECK(mr && sim->reg_fd == -1 && sim->reg_access == 5);
	CHECK_EQ(sim->reg_addr, (uintptr_t)memory);
	CHECK_EQ(sim->reg_iova, (uintptr_t)memory);
	CHECK_EQ(dereg(mr), 0);
	attr.mask = 2 | 1;
	mr = reg(&domain.ibv, &attr);
	CHECK(mr && sim->reg_length == 64);
	CHECK_EQ(sim->reg_iova, 4096);
	CHECK_EQ(dereg(mr), 0);
	attr.mask = 8 | 4 | 1;
	mr = reg(&domain.ibv, &attr);
	CHECK(mr && sim->reg_fd == attr.fd && sim->reg_access == 5);
	CHECK_EQ(sim->reg_addr, 512);
	CHECK_EQ(sim->reg_iova, 4096);
	CHECK_EQ(dereg(mr), 0);
	attr.mask = 4 | 1;
	CHECK(!reg(&domain.ibv, &attr) && errno == EINVAL);
	attr.mask = 8 | 2;
	CHECK(!reg(&domain.ibv, &attr) && errno == EINVAL);
	attr.mask = 16 | 2; /* a DMA handle */
	CHECK(!reg(&domain.ibv, &attr) && errno == EOPNOTSUPP);
}

int main(int argc, char **argv)
{
	const struct verbs_device_ops *driver;
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	int (*query_rt)(struct ibv_context *, struct ibv_values_ex *);
	void (*free_context)(struct ibv_context *);
	struct sim_state *(*get)(void);
	const struct offsets *o;
	struct sim_state *sim;
	struct ibv_context *ctx;
	void *lib, *vctx;
	int fd;

	CHECK_EQ(argc, 3);
	lib = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!lib)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(lib);
	if (!dlopen(argv[2], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	get = dlsym(lib, "sim_get");
	CHECK(get);
	sim = get();
	o = find_layout(sim->ops_bytes);
	driver = sim->driver;
	CHECK(driver && !strcmp(driver->name, "uroce"));

	fd = memfd_create("uverbs", MFD_CLOEXEC);
	CHECK(fd >= 0 && !ftruncate(fd, 65536));
	vctx = driver->alloc_context(NULL, fd, NULL);
	CHECK(vctx && vctx == sim->vctx);
	ctx = (void *)((char *)vctx + sim->context_off);
	CHECK_EQ(ctx->cmd_fd, fd);
	for (int i = 0; i < 4; i++)
		CHECK(!sim->ops[o->absent[i] / 8]);
	CHECK(sim->ops[o->unimport_pd / 8]);
	query_rt = sim->ops[o->query_rt_values / 8];
	CHECK_EQ(query_rt(ctx, &values), 0);
	CHECK(values.raw_clock.tv_sec || values.raw_clock.tv_nsec);
	check_speed(sim, o, ctx);
	check_reg_mr_ex(sim, o, ctx);
	check_qp(sim, o, ctx, dlsym(lib, "ibv_qp_to_qp_ex"));
	free_context = sim->ops[o->free_context / 8];
	free_context(ctx);
	return 0;
}
