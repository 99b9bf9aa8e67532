// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every command on contexts, domains and memory, as programs give them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/faults/verbs.h"

/* The objects that steps make, one of each kind. */
static struct ibv_context *ctx;
static struct ibv_pd *a_pd;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_dm *dm;
static int node;

static int make_ctx(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int err = 0;

	CHECK(list && list[0]);
	ctx = ibv_open_device(list[0]);
	if (!ctx)
		err = errno;
	ibv_free_device_list(list);
	return err;
}

static void del_ctx(void)
{
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* libibverbs has an errno of its own for a device that does not open. */
static int open_node(void)
{
	return (node = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC)) < 0
		       ? errno
		       : 0;
}

static void close_node(void)
{
	close(node);
}

static int query(void)
{
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry entries[32];
	int err = ibv_query_device_ex(eth1, NULL, &attr);

	if (!err)
		err = ibv_query_port(eth1, 1, &port);
	if (!err && ibv_query_gid_table(eth1, entries, 32, 0) < 0)
		err = errno;
	return err;
}

static int make_pd(void)
{
	return MADE(a_pd, ibv_alloc_pd(eth1));
}

static void must_pd(void)
{
	CHECK_EQ(make_pd(), 0);
}

static int del_pd(void)
{
	return ibv_dealloc_pd(a_pd);
}

static void undo_pd(void)
{
	CHECK_EQ(del_pd(), 0);
}

static int make_mr(void)
{
	return MADE(mr, ibv_reg_mr(pd, buf, BYTES, ALL));
}

static void must_mr(void)
{
	CHECK_EQ(make_mr(), 0);
}

static int del_mr(void)
{
	return ibv_dereg_mr(mr);
}

static void undo_mr(void)
{
	CHECK_EQ(del_mr(), 0);
}

/* Memory that the device maps. */
static int make_shm_mr(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shm, 0);
	int err;

	CHECK(p != MAP_FAILED);
	err = MADE(mr, ibv_reg_mr(pd, p, BYTES, ALL));
	if (err)
		munmap(p, BYTES);
	return err;
}

static void undo_shm_mr(void)
{
	void *p = mr->addr;

	undo_mr();
	munmap(p, BYTES);
}

static int make_odp_mr(void)
{
	return MADE(mr,
		    ibv_reg_mr(pd, NULL, SIZE_MAX, ALL | IBV_ACCESS_ON_DEMAND));
}

static int make_fd_mr(void)
{
	return MADE(mr, ibv_reg_dmabuf_mr(pd, 0, BYTES, 0, shm,
					  IBV_ACCESS_LOCAL_WRITE));
}

static int make_null_mr(void)
{
	return MADE(mr, ibv_alloc_null_mr(pd));
}

static int rereg(void)
{
	return ibv_rereg_mr(mr,
			    IBV_REREG_MR_CHANGE_TRANSLATION |
				    IBV_REREG_MR_CHANGE_PD |
				    IBV_REREG_MR_CHANGE_ACCESS,
			    a_pd, buf + 4096, 8192, ALL)
		       ? errno
		       : 0;
}

static void before_rereg(void)
{
	must_pd();
	must_mr();
}

static void after_rereg(void)
{
	undo_mr();
	undo_pd();
}

static int make_dm(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};

	return MADE(dm, ibv_alloc_dm(eth1, &attr));
}

static void must_dm(void)
{
	CHECK_EQ(make_dm(), 0);
}

static int del_dm(void)
{
	return ibv_free_dm(dm);
}

static void undo_dm(void)
{
	CHECK_EQ(del_dm(), 0);
}

static int make_dm_mr(void)
{
	return MADE(mr, ibv_reg_dm_mr(pd, dm, 0, 4096,
				      IBV_ACCESS_ZERO_BASED |
					      IBV_ACCESS_LOCAL_WRITE));
}

static void undo_dm_mr(void)
{
	undo_mr();
	undo_dm();
}

static int make_mw(void)
{
	return MADE(mw, ibv_alloc_mw(pd, IBV_MW_TYPE_2));
}

static void must_mw(void)
{
	CHECK_EQ(make_mw(), 0);
}

static int del_mw(void)
{
	return ibv_dealloc_mw(mw);
}

static void undo_mw(void)
{
	CHECK_EQ(del_mw(), 0);
}

const struct step memory_steps[] = {
	{"open device", NULL, make_ctx, del_ctx, ANY_ERRNO},
	{"open node", NULL, open_node, close_node, 0},
	{"query", NULL, query, NULL, 0},
	{"alloc pd", NULL, make_pd, undo_pd, 0},
	{"dealloc pd", must_pd, del_pd, NULL, 0},
	{"reg mr", NULL, make_mr, undo_mr, 0},
	{"reg shared mr", NULL, make_shm_mr, undo_shm_mr, 0},
	{"reg all of memory", NULL, make_odp_mr, undo_mr, 0},
	{"reg descriptor mr", NULL, make_fd_mr, undo_mr, 0},
	{"null mr", NULL, make_null_mr, undo_mr, 0},
	{"rereg mr", before_rereg, rereg, after_rereg, 0},
	{"dereg mr", must_mr, del_mr, NULL, 0},
	{"alloc dm", NULL, make_dm, undo_dm, 0},
	{"reg dm mr", must_dm, make_dm_mr, undo_dm_mr, 0},
	{"free dm", must_dm, del_dm, NULL, 0},
	{"alloc mw", NULL, make_mw, undo_mw, 0},
	{"dealloc mw", must_mw, del_mw, NULL, 0},
	{0},
};
