// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Objects and what holds them: who is busy when, XRC domains and target QPs
 * shared by sessions, event files, dma-buf regions, a child that joins its
 * parent's file.
 *
 * usage: test_objects UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

static struct daemon_proc dev;

/* The commands that have nothing but a handle. */
static int64_t by_handle(int sock, uint32_t command, uint32_t handle)
{
	return client_legacy(sock, command, &handle, sizeof(handle), NULL, 0);
}

/* Those that answer with counts of events. */
static int64_t destroy(int sock, uint32_t command, uint32_t handle)
{
	struct {
		uint64_t response;
		uint32_t handle, reserved;
	} req = {.handle = handle};
	uint32_t resp[2] = {77, 77};
	uint32_t len = command == IB_USER_VERBS_CMD_DESTROY_CQ ? 8 : 4;
	int64_t ret =
		client_legacy(sock, command, &req, sizeof(req), resp, len);

	if (!ret)
		CHECK_EQ(resp[0], 0);
	return ret;
}

static int64_t create_cq(int sock, uint32_t cqe, int channel, uint32_t *handle)
{
	struct ib_uverbs_create_cq req = {.cqe = cqe, .comp_channel = channel};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct uroce_create_cq_resp udata;
	} resp = {0};
	int64_t ret = client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
				    sizeof(req), &resp, sizeof(resp));

	if (!ret) {
		CHECK(resp.core.cqe >= cqe);
		CHECK_EQ(resp.core.cqe, resp.udata.entries);
		*handle = resp.core.cq_handle;
	}
	return ret;
}

static struct ib_uverbs_create_qp qp_request(uint8_t type, uint32_t pd,
					     uint32_t cq)
{
	return (struct ib_uverbs_create_qp){
		.pd_handle = pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 2,
		.max_recv_sge = 2,
		.qp_type = type,
	};
}

static int64_t create_qp(int sock, const struct ib_uverbs_create_qp *req,
			 struct ib_uverbs_create_qp_resp *resp)
{
	return client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, req,
			     sizeof(*req), resp, sizeof(*resp));
}

static void test_busy(void)
{
	int sock = client_session_with_engine(&dev);
	uint32_t pd = client_alloc_pd(sock), cq;
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp qp;
	struct ib_uverbs_create_srq srq_req = {
		.pd_handle = pd, .max_wr = 16, .max_sge = 1};
	struct ib_uverbs_create_srq_resp srq = {0};

	CHECK_EQ(create_cq(sock, 0, -1, &cq), (int64_t)-EINVAL);
	CHECK_EQ(create_cq(sock, 1u << 30, -1, &cq), (int64_t)-EINVAL);
	CHECK_EQ(create_cq(sock, 10, 999, &cq), (int64_t)-EBADF);
	CHECK_EQ(create_cq(sock, 10, -1, &cq), 0);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_SRQ, &srq_req,
			       sizeof(srq_req), &srq, sizeof(srq)),
		 0);

	req = qp_request(IB_UVERBS_QPT_RAW_PACKET, pd, cq);
	CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EOPNOTSUPP);
	req = qp_request(77, pd, cq);
	CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EINVAL);
	req = qp_request(IB_UVERBS_QPT_RC, pd, cq);
	req.max_send_wr = UINT32_MAX;
	CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EINVAL);
	req = qp_request(IB_UVERBS_QPT_RC, pd, cq);
	req.max_recv_sge = 0xffff;
	CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EINVAL);
	req = qp_request(IB_UVERBS_QPT_RC, pd, 99);
	CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EINVAL);
	req = qp_request(IB_UVERBS_QPT_RC, pd, cq);
	req.is_srq = 1;
	req.srq_handle = srq.srq_handle;
	CHECK_EQ(create_qp(sock, &req, &qp), 0);
	CHECK(qp.qpn > 1);

	CHECK_EQ(by_handle(sock, IB_USER_VERBS_CMD_DEALLOC_PD, pd),
		 (int64_t)-EBUSY);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_CQ, cq),
		 (int64_t)-EBUSY);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_SRQ, srq.srq_handle),
		 (int64_t)-EBUSY);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_QP, qp.qp_handle), 0);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_QP, qp.qp_handle),
		 (int64_t)-EINVAL);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_SRQ, srq.srq_handle),
		 0);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_CQ, cq), 0);
	CHECK_EQ(by_handle(sock, IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	close(sock);
}

static int64_t open_xrcd(int sock, int fd, uint32_t oflags, uint32_t *handle)
{
	struct ib_uverbs_open_xrcd req = {.fd = (uint32_t)fd, .oflags = oflags};
	struct ib_uverbs_open_xrcd_resp resp = {0};
	int64_t ret = client_legacy(sock, IB_USER_VERBS_CMD_OPEN_XRCD, &req,
				    sizeof(req), &resp, sizeof(resp));

	*handle = resp.xrcd_handle;
	return ret;
}

static int64_t query_qp(int sock, uint32_t handle)
{
	struct ib_uverbs_query_qp req = {.qp_handle = handle};
	struct ib_uverbs_query_qp_resp resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_QUERY_QP, &req,
			     sizeof(req), &resp, sizeof(resp));
}

static void test_xrc(void)
{
	int a = client_session_with_shared(&dev);
	int b = client_session_with_shared(&dev), c;
	int inode = memfd_create("domain", MFD_CLOEXEC);
	struct ib_uverbs_open_qp open_req = {.qp_type = IB_UVERBS_QPT_XRC_TGT};
	struct ib_uverbs_create_qp_resp qp, other;
	struct ib_uverbs_create_qp req;
	uint32_t xa, xb, own;
	int64_t ret;

	CHECK_EQ(open_xrcd(a, -1, O_CREAT, &own), 0);
	CHECK_EQ(by_handle(a, IB_USER_VERBS_CMD_CLOSE_XRCD, own), 0);
	CHECK_EQ(open_xrcd(a, inode, 0, &xa), (int64_t)-EAGAIN);
	CHECK_EQ(open_xrcd(a, inode, O_CREAT, &xa), 0);
	CHECK_EQ(open_xrcd(b, inode, O_CREAT | O_EXCL, &xb), (int64_t)-EINVAL);
	CHECK_EQ(open_xrcd(b, inode, 0, &xb), 0);

	req = qp_request(IB_UVERBS_QPT_XRC_TGT, xa, 0);
	CHECK_EQ(create_qp(a, &req, &qp), 0);
	open_req.pd_handle = xb;
	open_req.qpn = qp.qpn + 1;
	CHECK_EQ(client_legacy(b, IB_USER_VERBS_CMD_OPEN_QP, &open_req,
			       sizeof(open_req), &other, sizeof(other)),
		 (int64_t)-EINVAL);
	open_req.qpn = qp.qpn;
	CHECK_EQ(client_legacy(b, IB_USER_VERBS_CMD_OPEN_QP, &open_req,
			       sizeof(open_req), &other, sizeof(other)),
		 0);
	CHECK_EQ(other.qpn, qp.qpn);
	CHECK_EQ(by_handle(a, IB_USER_VERBS_CMD_CLOSE_XRCD, xa),
		 (int64_t)-EBUSY);
	/* The creator goes; the opener still has it. */
	CHECK_EQ(destroy(a, IB_USER_VERBS_CMD_DESTROY_QP, qp.qp_handle), 0);
	close(a);
	CHECK_EQ(query_qp(b, other.qp_handle), 0);
	CHECK_EQ(destroy(b, IB_USER_VERBS_CMD_DESTROY_QP, other.qp_handle), 0);
	CHECK_EQ(client_legacy(b, IB_USER_VERBS_CMD_OPEN_QP, &open_req,
			       sizeof(open_req), &other, sizeof(other)),
		 (int64_t)-EINVAL);
	/* It ends with a's connection, which its thread has yet to notice. */
	do
		CHECK_EQ(by_handle(b, IB_USER_VERBS_CMD_CLOSE_XRCD, xb), 0);
	while (!(ret = open_xrcd(b, inode, 0, &xb)));
	CHECK_EQ(ret, (int64_t)-EAGAIN);
	close(b);
	/* Without a shared engine a target has none. */
	c = client_session_with_engine(&dev);
	CHECK_EQ(open_xrcd(c, inode, O_CREAT, &xb), 0);
	req = qp_request(IB_UVERBS_QPT_XRC_TGT, xb, 0);
	CHECK_EQ(create_qp(c, &req, &qp), (int64_t)-EINVAL);
	close(c);
	close(inode);
}

/* A program that has asked for no engine makes nothing that needs one. */
static void test_without_engine(void)
{
	int sock = client_session(&dev);
	uint32_t pd = client_alloc_pd(sock), cq, domain;
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp qp;
	struct ib_uverbs_create_srq srq = {
		.pd_handle = pd, .max_wr = 16, .max_sge = 1};
	struct ib_uverbs_create_srq_resp made;

	CHECK_EQ(create_cq(sock, 10, -1, &cq), 0);
	for (uint8_t type = IB_UVERBS_QPT_RC; type <= IB_UVERBS_QPT_UD;
	     type++) {
		req = qp_request(type, pd, cq);
		CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EOPNOTSUPP);
	}
	CHECK_EQ(open_xrcd(sock, -1, O_CREAT, &domain), 0);
	req = qp_request(IB_UVERBS_QPT_XRC_TGT, domain, 0);
	CHECK_EQ(create_qp(sock, &req, &qp), (int64_t)-EOPNOTSUPP);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_SRQ, &srq,
			       sizeof(srq), &made, sizeof(made)),
		 (int64_t)-EOPNOTSUPP);
	CHECK_EQ(client_open_engine(sock), (int64_t)-EINVAL);
	close(sock);
}

static void close_fd(int sock, uint64_t cookie)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_CLOSE_FD,
				    .closed.cookie = cookie};

	client_send(sock, &msg, NULL, 0);
}

/* A channel that the client closed serves its queues on, then goes. */
static void test_channel(void)
{
	int sock = client_session(&dev);
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;
	int stranger = eventfd(0, EFD_CLOEXEC);
	uint32_t cq, second;

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &resp, sizeof(resp)),
		 0);
	CHECK_EQ(create_cq(sock, 8, stranger, &cq), (int64_t)-EBADF);
	CHECK_EQ(create_cq(sock, 8, (int)resp.fd, &cq), 0);
	/* Handle 1: the file has no other object yet that was made before. */
	close_fd(sock, 1);
	CHECK_EQ(create_cq(sock, 8, (int)resp.fd, &second), 0);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_CQ, second), 0);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_CQ, cq), 0);
	CHECK_EQ(create_cq(sock, 8, (int)resp.fd, &cq), (int64_t)-EBADF);
	close((int)resp.fd);
	close(stranger);
	close(sock);
}

static int64_t reg_dmabuf(int sock, uint32_t pd, int fd, uint64_t off,
			  uint64_t len, uint32_t *handle)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[9];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_MR,
			 .method_id = UVERBS_METHOD_REG_DMABUF_MR,
			 .num_attrs = 9}};
	static const uint16_t lens[9] = {0, 0, 8, 8, 8, 4, 4, 4, 4};
	uint32_t keys[2] = {0};
	uint64_t values[9] = {0,
			      pd,
			      off,
			      len,
			      off,
			      (uint32_t)fd,
			      1,
			      (uintptr_t)&keys[0],
			      (uintptr_t)&keys[1]};
	int64_t ret;

	for (uint16_t i = 0; i < 9; i++)
		cmd.attr[i] = (struct ib_uverbs_attr){.attr_id = i,
						      .len = lens[i],
						      .flags = 1,
						      .data = values[i]};
	ret = client_ioctl(sock, &cmd);
	if (!ret) {
		CHECK(keys[0] && keys[0] == keys[1]);
		CHECK(cmd.attr[0].flags & UVERBS_ATTR_F_VALID_OUTPUT);
		*handle = (uint32_t)cmd.attr[0].data;
	}
	return ret;
}

static void test_dmabuf(void)
{
	int sock = client_session(&dev), fd;
	uint32_t pd = client_alloc_pd(sock), mr;

	/* Only what cannot shrink under the device is mapped by it. */
	fd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(!ftruncate(fd, 8192));
	CHECK_EQ(reg_dmabuf(sock, pd, fd, 0, 4096, &mr), (int64_t)-EOPNOTSUPP);
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	CHECK_EQ(reg_dmabuf(sock, pd, -1, 0, 4096, &mr), (int64_t)-EOPNOTSUPP);
	CHECK_EQ(reg_dmabuf(sock, pd, 999, 0, 4096, &mr), (int64_t)-EOPNOTSUPP);
	CHECK_EQ(reg_dmabuf(sock, pd, fd, UINT64_MAX - 8, 64, &mr),
		 (int64_t)-EINVAL);
	CHECK(reg_dmabuf(sock, pd, fd, 4096, 8192, &mr) < 0);
	CHECK_EQ(reg_dmabuf(sock, pd, fd, 4096, 4096, &mr), 0);
	close(fd);
	CHECK_EQ(by_handle(sock, IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	close(sock);
}

/* A child's connection uses what its parent's made, with its own memory. */
static void test_join(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION};
	struct uroce_alloc_ucontext_resp ctx;
	int parent = client_connect(&dev), child = client_connect(&dev);
	int mem = client_mem(), fd;
	uint64_t cookie;
	uint32_t pd;

	strcpy(msg.name, "uverbs0");
	client_send(parent, &msg, &mem, 1);
	CHECK(!client_recv(parent, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	close(fd);
	cookie = msg.opened.cookie;
	CHECK(cookie);
	CHECK_EQ(client_get_context(parent, &ctx), 0);
	pd = client_alloc_pd(parent);

	msg = (struct uroce_tun_msg){.op = UROCE_TUN_OPEN,
				     .kind = UROCE_TUN_UVERBS,
				     .open.version = UROCE_TUN_VERSION,
				     .open.cookie = cookie};
	client_send(child, &msg, &mem, 1);
	CHECK(!client_recv(child, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	CHECK_EQ(fd, (uint64_t)-1);
	client_alloc_pd(child);
	/* The file outlives whichever of them goes first. */
	close(parent);
	CHECK_EQ(by_handle(child, IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	close(child);
	close(mem);
}

/* A queue pair that is attached when its file ends does not hold the rest. */
static void test_end(void)
{
	int sock = client_session_with_engine(&dev);
	uint32_t pd = client_alloc_pd(sock), cq;
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp qp;
	struct ib_uverbs_attach_mcast mc = {
		.gid = {[10] = 0xff, 0xff, 239, 1, 2, 3}};
	struct uroce_tun_msg msg;
	char text[4096];
	int fd;

	CHECK_EQ(create_cq(sock, 8, -1, &cq), 0);
	req = qp_request(IB_UVERBS_QPT_UD, pd, cq);
	CHECK_EQ(create_qp(sock, &req, &qp), 0);
	mc.qp_handle = qp.qp_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ATTACH_MCAST, &mc,
			       sizeof(mc), NULL, 0),
		 0);
	CHECK_EQ(destroy(sock, IB_USER_VERBS_CMD_DESTROY_QP, qp.qp_handle),
		 (int64_t)-EBUSY);
	close(sock);
	do {
		sock = client_connect(&dev);
		memset(&msg, 0, sizeof(msg));
		msg.op = UROCE_TUN_STATUS;
		strcpy(msg.name, "qps");
		client_send(sock, &msg, NULL, 0);
		CHECK(!client_recv(sock, &msg, &fd));
		memset(text, 0, sizeof(text));
		CHECK(pread(fd, text, sizeof(text) - 1, 0) > 0);
		close(fd);
		close(sock);
	} while (strcmp(text, "[]"));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_busy());
	STEP(test_without_engine());
	STEP(test_xrc());
	STEP(test_channel());
	STEP(test_dmabuf());
	STEP(test_join());
	STEP(test_end());
	daemon_stop(&dev);
	return cases_status();
}
