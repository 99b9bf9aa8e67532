// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Registration as no library asks for it: places in a page that differ, ranges
 * that wrap, device memory by address. A refused call changes nothing. And keys
 * and queue pair numbers, none of which reveals another.
 *
 * usage: test_regions UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

#define TRANS  1u /* enum ibv_rereg_mr_flags */
#define PD     2u
#define ACCESS 4u
#define LOCAL  IB_UVERBS_ACCESS_LOCAL_WRITE
#define ZERO   IB_UVERBS_ACCESS_ZERO_BASED

static struct daemon_proc dev;
static char pages[4 * 4096] __attribute__((aligned(4096)));
static int sock;
static uint32_t pd;

static const uint64_t at = (uintptr_t)pages;

static int64_t by_handle(uint32_t command, uint32_t handle)
{
	return client_legacy(sock, command, &handle, sizeof(handle), NULL, 0);
}

static int64_t reg(uint64_t start, uint64_t length, uint64_t iova,
		   uint32_t access, uint32_t *mr)
{
	struct {
		struct ib_uverbs_reg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.start = start,
			  .length = length,
			  .hca_va = iova,
			  .pd_handle = pd,
			  .access_flags = access}};
	struct ib_uverbs_reg_mr_resp resp = {0};
	int64_t ret = client_legacy(sock, IB_USER_VERBS_CMD_REG_MR, &req,
				    sizeof(req), &resp, sizeof(resp));

	*mr = resp.mr_handle;
	return ret;
}

static int64_t rereg(uint32_t mr, uint32_t flags, uint64_t start,
		     uint64_t length, uint64_t iova, uint32_t domain,
		     uint32_t access)
{
	struct {
		struct ib_uverbs_rereg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.mr_handle = mr,
			  .flags = flags,
			  .start = start,
			  .length = length,
			  .hca_va = iova,
			  .pd_handle = domain,
			  .access_flags = access}};
	struct ib_uverbs_rereg_mr_resp resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_REREG_MR, &req,
			     sizeof(req), &resp, sizeof(resp));
}

/* A command of attributes 0, 1, 2 ... */
static int64_t by_attrs(uint16_t object, uint16_t method, uint16_t n,
			const uint16_t *lens, const uint64_t *values,
			uint32_t *handle)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[10];
	} cmd = {.hdr = {.length = (uint16_t)(sizeof(cmd.hdr) +
					      n * sizeof(cmd.attr[0])),
			 .object_id = object,
			 .method_id = method,
			 .num_attrs = n}};
	int64_t ret;

	for (uint16_t i = 0; i < n; i++)
		cmd.attr[i] = (struct ib_uverbs_attr){.attr_id = i,
						      .len = lens[i],
						      .flags = 1,
						      .data = values[i]};
	ret = client_ioctl(sock, &cmd);
	if (handle)
		*handle = (uint32_t)cmd.attr[0].data;
	return ret;
}

static void expect_range(uint32_t mr, uint64_t length, uint64_t iova)
{
	static const uint16_t lens[] = {0, 4, 4, 8, 8};
	uint32_t lkey, rkey;
	uint64_t has_length, has_iova;
	const uint64_t values[] = {mr, (uintptr_t)&lkey, (uintptr_t)&rkey,
				   (uintptr_t)&has_length,
				   (uintptr_t)&has_iova};

	CHECK_EQ(by_attrs(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, 5, lens,
			  values, NULL),
		 0);
	CHECK_EQ(has_length, length);
	CHECK_EQ(has_iova, iova);
}

static void test_reg(void)
{
	uint32_t mr;

	CHECK_EQ(reg(at, 4096, at + 8, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg(at + 8, 4096, 0, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg(at + 8, UINT64_MAX, 8, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg(at, 8192, (uint64_t)-4096, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg((uint64_t)-4096, 8192, 0, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg((uint64_t)-4096, 4096, 0, LOCAL, &mr), (int64_t)-EFAULT);
	/* The last address of all is one. */
	CHECK_EQ(reg(at, 4096, (uint64_t)-4096, LOCAL, &mr), 0);
	expect_range(mr, 4096, (uint64_t)-4096);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	CHECK_EQ(reg(at + 8, 4096, 0, LOCAL | ZERO, &mr), 0);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
}

static uint64_t map(int prot, int fd)
{
	void *p = mmap(NULL, 4 * 4096, prot,
		       MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	CHECK(p != MAP_FAILED);
	return (uintptr_t)p;
}

static void protect(uint64_t addr, uint64_t bytes, int prot)
{
	CHECK(!mprotect((void *)(uintptr_t)addr, bytes, prot));
}

/* Rights that the memory does not give are not to be had. */
static void test_rights(void)
{
	static const uint32_t stores[] = {
		LOCAL, LOCAL | IB_UVERBS_ACCESS_REMOTE_WRITE,
		LOCAL | IB_UVERBS_ACCESS_REMOTE_ATOMIC,
		IB_UVERBS_ACCESS_MW_BIND};
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t own = map(PROT_READ | PROT_WRITE, -1);
	uint64_t file = map(PROT_READ, self);
	uint32_t mr;

	for (unsigned int i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		CHECK_EQ(reg(file, 4096, file, stores[i], &mr),
			 (int64_t)-EFAULT);
		/* One page of four is enough. */
		protect(own + 3 * 4096, 4096, PROT_READ);
		CHECK_EQ(reg(own, 4 * 4096, own, stores[i], &mr),
			 (int64_t)-EFAULT);
		CHECK_EQ(reg(own, 3 * 4096, own, stores[i], &mr), 0);
		CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
		protect(own + 3 * 4096, 4096, PROT_READ | PROT_WRITE);
		CHECK_EQ(reg(own, 4 * 4096, own, stores[i], &mr), 0);
		CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	}
	/* Memory that can be read can be sent; more is not possible, not even
	 * later. */
	CHECK_EQ(reg(file, 4096, file, IB_UVERBS_ACCESS_REMOTE_READ, &mr), 0);
	CHECK_EQ(rereg(mr, ACCESS, 0, 0, 0, 0, LOCAL), (int64_t)-EFAULT);
	CHECK_EQ(rereg(mr, TRANS, own, 4096, own, 0, 0), 0);
	CHECK_EQ(rereg(mr, ACCESS, 0, 0, 0, 0, LOCAL), 0);
	CHECK_EQ(rereg(mr, TRANS, file, 4096, file, 0, 0), (int64_t)-EFAULT);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	protect(own, 4096, PROT_NONE);
	CHECK_EQ(reg(own, 4096, own, 0, &mr), (int64_t)-EFAULT);
	CHECK_EQ(reg(own, 4096, own, IB_UVERBS_ACCESS_REMOTE_READ, &mr),
		 (int64_t)-EFAULT);
	CHECK_EQ(reg(own, 4096, own, LOCAL, &mr), (int64_t)-EFAULT);
	CHECK(!munmap((void *)(uintptr_t)own, 4 * 4096));
	CHECK(!munmap((void *)(uintptr_t)file, 4 * 4096));
	close(self);
}

static void test_rereg(void)
{
	uint32_t mr, other = client_alloc_pd(sock);
	const struct {
		uint32_t flags;
		uint64_t start, length, iova;
		uint32_t domain, access;
		int ret;
	} bad[] = {
		{0, at, 4096, at, pd, LOCAL, -EINVAL},
		{8 | TRANS, at, 4096, at, pd, LOCAL, -EINVAL},
		{TRANS, at, 4096, at + 8, pd, LOCAL, -EINVAL},
		{TRANS, at + 8, 4096, at, pd, LOCAL, -EINVAL},
		{TRANS, at, UINT64_MAX, at, pd, LOCAL, -EINVAL},
		{TRANS, at, 8192, (uint64_t)-4096, pd, LOCAL, -EINVAL},
		{TRANS, (uint64_t)-4096, 8192, 0, pd, LOCAL, -EINVAL},
		{TRANS, 4096, 4096, 4096, pd, LOCAL, -EFAULT},
		{TRANS | PD, at, 4096, at, 999, LOCAL, -EINVAL},
		{TRANS | ACCESS, at, 4096, at, pd,
		 IB_UVERBS_ACCESS_REMOTE_WRITE, -EINVAL},
		{TRANS | ACCESS, at, 4096, at, pd, 1u << 19, -EINVAL},
		{TRANS | PD | ACCESS, 4096, 4096, 4096, other, LOCAL, -EFAULT},
	};

	CHECK_EQ(reg(at, 8192, at, LOCAL, &mr), 0);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(rereg(mr, bad[i].flags, bad[i].start, bad[i].length,
			       bad[i].iova, bad[i].domain, bad[i].access),
			 (int64_t)bad[i].ret);
		expect_range(mr, 8192, at);
	}
	CHECK_EQ(rereg(mr + 1000, TRANS, at, 4096, at, pd, LOCAL),
		 (int64_t)-EINVAL);
	/* The domain that was named by what was refused is not in use. */
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, other), 0);
	CHECK_EQ(rereg(mr, TRANS, at + 4096 + 8, 4096, 8, pd, LOCAL), 0);
	expect_range(mr, 4096, 8);
	other = client_alloc_pd(sock);
	CHECK_EQ(rereg(mr, PD, 1, 2, 3, other, LOCAL), 0);
	expect_range(mr, 4096, 8);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, other),
		 (int64_t)-EBUSY);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, other), 0);
}

static int64_t reg_dm(uint32_t dm, uint64_t off, uint64_t length,
		      uint32_t access, uint32_t *mr)
{
	static const uint16_t lens[] = {0, 8, 8, 0, 4, 0, 4, 4};
	uint32_t keys[2];
	const uint64_t values[] = {0,
				   off,
				   length,
				   pd,
				   access,
				   dm,
				   (uintptr_t)&keys[0],
				   (uintptr_t)&keys[1]};

	return by_attrs(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, 8, lens,
			values, mr);
}

static void test_device_memory(void)
{
	static const uint16_t lens[] = {0, 8, 4};
	const uint64_t values[] = {0, 5000, 0};
	uint32_t dm, mr;

	CHECK_EQ(by_attrs(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, 3, lens,
			  values, &dm),
		 0);
	CHECK_EQ(reg_dm(dm, 0, 4096, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg_dm(dm, 0, 5001, LOCAL | ZERO, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg_dm(dm, 4999, 2, LOCAL | ZERO, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg_dm(dm, 5001, 0, LOCAL | ZERO, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg_dm(dm, UINT64_MAX, 2, LOCAL | ZERO, &mr),
		 (int64_t)-EINVAL);
	CHECK_EQ(reg_dm(dm, 4096, UINT64_MAX - 4095, LOCAL | ZERO, &mr),
		 (int64_t)-EINVAL);
	CHECK_EQ(reg_dm(dm, 4096, 904, LOCAL | ZERO, &mr), 0);
	expect_range(mr, 904, 0);
	/* It stays where it is, and what it is of stays. */
	CHECK_EQ(rereg(mr, TRANS, at, 4096, at, pd, LOCAL), (int64_t)-EINVAL);
	CHECK_EQ(rereg(mr, ACCESS, 0, 0, 0, pd, 0), (int64_t)-EINVAL);
	CHECK_EQ(by_attrs(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, 1, lens,
			  (const uint64_t[]){dm}, NULL),
		 (int64_t)-EBUSY);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	CHECK_EQ(by_attrs(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, 1, lens,
			  (const uint64_t[]){dm}, NULL),
		 0);
}

static int64_t reg_dmabuf(int fd, uint64_t off, uint64_t length, uint64_t iova,
			  uint32_t access, uint32_t *mr)
{
	static const uint16_t lens[] = {0, 0, 8, 8, 8, 4, 4, 4, 4};
	uint32_t keys[2];
	const uint64_t values[] = {0,
				   pd,
				   off,
				   length,
				   iova,
				   (uint32_t)fd,
				   access,
				   (uintptr_t)&keys[0],
				   (uintptr_t)&keys[1]};

	return by_attrs(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, 9, lens,
			values, mr);
}

static void test_dmabuf(void)
{
	int fd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint32_t mr;

	CHECK(!ftruncate(fd, 3 * 4096));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	CHECK_EQ(reg_dmabuf(fd, 8, 64, 0, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg_dmabuf(fd, 0, 64, 8, LOCAL, &mr), (int64_t)-EINVAL);
	CHECK_EQ(reg_dmabuf(fd, (uint64_t)-64, 128, (uint64_t)-64 & 4095, LOCAL,
			    &mr),
		 (int64_t)-EINVAL);
	CHECK_EQ(reg_dmabuf(fd, 4096, (uint64_t)-4096, 4096, LOCAL, &mr),
		 (int64_t)-EINVAL);
	CHECK_EQ(reg_dmabuf(fd, 0, 8192, (uint64_t)-4096, LOCAL, &mr),
		 (int64_t)-EINVAL);
	CHECK_EQ(reg_dmabuf(fd, 0, 64, 0, IB_UVERBS_ACCESS_REMOTE_ATOMIC, &mr),
		 (int64_t)-EINVAL);
	CHECK_EQ(reg_dmabuf(fd, 0, 64, 0, IB_UVERBS_ACCESS_ON_DEMAND, &mr),
		 (int64_t)-EOPNOTSUPP);
	/* Beyond its end. */
	CHECK_EQ(reg_dmabuf(fd, 3 * 4096, 64, 0, LOCAL, &mr),
		 (int64_t)-EOPNOTSUPP);
	CHECK_EQ(reg_dmabuf(fd, 4096 + 8, 8192 - 7, 8, LOCAL, &mr),
		 (int64_t)-EOPNOTSUPP);
	CHECK_EQ(reg_dmabuf(fd, INT64_MAX & -4096, 64, 0, LOCAL, &mr),
		 (int64_t)-EOPNOTSUPP);
	CHECK_EQ(reg_dmabuf(fd, 4096 + 8, 8192 - 8, 0x10008, LOCAL, &mr), 0);
	expect_range(mr, 8192 - 8, 0x10008);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	close(fd);
}

static uint32_t reg_key(void)
{
	struct {
		struct ib_uverbs_reg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.start = at,
			  .length = 4096,
			  .hca_va = at,
			  .pd_handle = pd,
			  .access_flags = LOCAL}};
	struct ib_uverbs_reg_mr_resp resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_REG_MR, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	CHECK_EQ(resp.rkey, resp.lkey);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEREG_MR, resp.mr_handle), 0);
	return resp.rkey >> 8;
}

static uint32_t qp_number(void)
{
	static struct ib_uverbs_open_xrcd_resp xrcd;
	struct ib_uverbs_open_xrcd open = {.fd = UINT32_MAX, .oflags = O_CREAT};
	struct ib_uverbs_create_qp req = {.qp_type = IB_UVERBS_QPT_XRC_TGT};
	struct ib_uverbs_create_qp_resp resp = {0};
	struct ib_uverbs_destroy_qp destroy = {0};
	struct ib_uverbs_destroy_qp_resp gone;

	if (!xrcd.xrcd_handle)
		CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_OPEN_XRCD, &open,
				       sizeof(open), &xrcd, sizeof(xrcd)),
			 0);
	req.pd_handle = xrcd.xrcd_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	destroy.qp_handle = resp.qp_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_DESTROY_QP, &destroy,
			       sizeof(destroy), &gone, sizeof(gone)),
		 0);
	return resp.qpn;
}

/* Numbers that follow one another are all over the 24 bits, or the 19 of an engine: near
 * ones come by chance, once in 4000 times at most. */
static void test_numbers(uint32_t (*make)(void))
{
	uint32_t last = make(), any = 0, all = UINT32_MAX, near = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t n = make();

		CHECK(n < 1u << 24);
		near += n - last + 64 < 128;
		any |= n;
		all &= n;
		last = n;
	}
	CHECK(near <= 2);
	/* The first five bits say which engine it is. */
	if (make != reg_key) {
		CHECK_EQ(any & 0x7ffff, 0x7ffff);
		CHECK_EQ(all & 0x7ffff, 0);
		return;
	}
	CHECK_EQ(any, 0xffffff);
	CHECK_EQ(all, 0);
}

static int listed(void)
{
	return client_status_has(&dev, "mrs", "\"length\":4096");
}

static void give_up(int fd, uint64_t handle)
{
	CHECK_EQ(write(fd, &handle, sizeof(handle)), sizeof(handle));
}

static int open_destroy_hint(void)
{
	struct uroce_engine_async async = {.destroy_hint = -1};

	CHECK_EQ(client_open_engine(sock), 0);
	client_alloc_async(sock);
	CHECK_EQ(client_call_device(sock, UROCE_METHOD_ENGINE_ASYNC,
				    UROCE_ATTR_ENGINE_ASYNC_RESP, &async,
				    sizeof(async)),
		 0);
	CHECK(async.destroy_hint >= 0);
	CHECK_EQ(async.hints, UROCE_HINTS_QP);
	return async.destroy_hint;
}

/* A region whose handle is written there is gone for all who ask, and with the next command.
 * Other handles, and numbers that are none, harm nobody. */
static void test_destroy_hint_mr(void)
{
	static const uint64_t none[] = {UINT64_MAX - 1, UINT32_MAX, 1000};
	uint32_t domain = pd, mr, again;
	int session = sock, fd;

	sock = client_session(&dev);
	fd = open_destroy_hint();
	pd = client_alloc_pd(sock);
	CHECK_EQ(reg(at, 4096, at, LOCAL, &mr), 0);
	CHECK(listed());
	give_up(fd, mr);
	CHECK(!listed());
	CHECK_EQ(reg(at, 4096, at, LOCAL, &again), 0);
	CHECK(listed());
	CHECK_EQ(again, mr); /* the number is free again */
	give_up(fd, pd);
	for (unsigned int i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, pd),
			 (int64_t)-EBUSY);
		give_up(fd, none[i]);
		CHECK(listed());
	}
	/* Nobody waits for a client who has made reading wait. */
	CHECK_EQ(fcntl(fd, F_SETFL, 0), 0);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, pd), (int64_t)-EBUSY);
	CHECK(listed());
	give_up(fd, mr);
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	CHECK(!listed());
	/* A file ends with one. */
	pd = client_alloc_pd(sock);
	CHECK_EQ(reg(at, 4096, at, LOCAL, &mr), 0);
	give_up(fd, mr);
	close(fd);
	close(sock);
	sock = session;
	pd = domain;
	client_check(&dev);
}

static int queue_pairs(void)
{
	return client_status_has(&dev, "qps", "\"type\":");
}

/* The same for a queue pair, whose completion queue can be destroyed then. */
static void test_destroy_hint_qp(void)
{
	struct ib_uverbs_create_cq cq = {.cqe = 4, .comp_channel = -1};
	struct ib_uverbs_create_cq_resp made_cq = {0};
	struct ib_uverbs_create_qp qp = {.max_send_wr = 1,
					 .max_recv_wr = 1,
					 .max_send_sge = 1,
					 .max_recv_sge = 1,
					 .qp_type = IB_UVERBS_QPT_RC};
	struct ib_uverbs_create_qp_resp made = {0};
	struct ib_uverbs_attach_mcast mc = {
		.gid = {[10] = 0xff, 0xff, 239, 1, 2, 3}};
	uint32_t domain = pd, mr;
	int session = sock, fd;

	sock = client_session(&dev);
	fd = open_destroy_hint();
	pd = qp.pd_handle = client_alloc_pd(sock);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &cq,
			       sizeof(cq), &made_cq, sizeof(made_cq)),
		 0);
	qp.send_cq_handle = qp.recv_cq_handle = made_cq.cq_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &qp,
			       sizeof(qp), &made, sizeof(made)),
		 0);
	CHECK_EQ(reg(at, 4096, at, LOCAL, &mr), 0);
	/* Each is none of the other's kind. */
	give_up(fd, made.qp_handle);
	CHECK_EQ(client_destroy_cq(sock, made_cq.cq_handle), (int64_t)-EBUSY);
	give_up(fd, mr | UROCE_HINT_QP);
	CHECK_EQ(client_destroy_cq(sock, made_cq.cq_handle), (int64_t)-EBUSY);
	CHECK(listed());
	CHECK(queue_pairs());
	give_up(fd, made.qp_handle | UROCE_HINT_QP);
	CHECK(!queue_pairs());
	/* A member of a group stays one. */
	qp.qp_type = IB_UVERBS_QPT_UD;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &qp,
			       sizeof(qp), &made, sizeof(made)),
		 0);
	mc.qp_handle = made.qp_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ATTACH_MCAST, &mc,
			       sizeof(mc), NULL, 0),
		 0);
	give_up(fd, made.qp_handle | UROCE_HINT_QP);
	CHECK_EQ(client_destroy_cq(sock, made_cq.cq_handle), (int64_t)-EBUSY);
	CHECK(queue_pairs());
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_DETACH_MCAST, &mc,
			       sizeof(mc), NULL, 0),
		 0);
	give_up(fd, made.qp_handle | UROCE_HINT_QP);
	CHECK_EQ(client_destroy_cq(sock, made_cq.cq_handle), 0);
	CHECK(!queue_pairs());
	close(fd);
	close(sock);
	sock = session;
	pd = domain;
	client_check(&dev);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	sock = client_session_with_engine(&dev);
	pd = client_alloc_pd(sock);
	STEP(test_reg());
	STEP(test_rights());
	STEP(test_rereg());
	STEP(test_device_memory());
	STEP(test_dmabuf());
	STEP(test_destroy_hint_mr());
	STEP(test_destroy_hint_qp());
	STEP(test_numbers(reg_key));
	STEP(test_numbers(qp_number));
	CHECK_EQ(by_handle(IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	close(sock);
	daemon_stop(&dev);
	return cases_status();
}
