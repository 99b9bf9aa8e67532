// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The kinds of files that verbs and rdma_cm do not open: umad with its agents,
 * RDMA netlink, settings, the recorder, faults on request.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/faults/faults.h"

/* ---- umad ---- */

static int umad = -1;
static uint32_t agent;

static int open_umad(void)
{
	umad = open("/dev/infiniband/umad0", O_RDWR | O_CLOEXEC);
	return umad < 0 ? errno : 0;
}

static void close_umad(void)
{
	close(umad);
}

static void must_open(void)
{
	CHECK_EQ(open_umad(), 0);
}

static int add_agent(void)
{
	/* Hears the class of vendors, so that it is found too. */
	struct ib_user_mad_reg_req req = {.qpn = 1,
					  .mgmt_class = 0x32,
					  .mgmt_class_version = 1,
					  .method_mask = {2},
					  .oui = {0, 0x14, 5}};

	if (ioctl(umad, IB_USER_MAD_REGISTER_AGENT, &req))
		return errno;
	agent = req.id;
	return 0;
}

static void must_add(void)
{
	must_open();
	CHECK_EQ(add_agent(), 0);
}

/* A request that waits for its answer. */
static int send_mad(void)
{
	struct {
		struct ib_user_mad_hdr_old hdr;
		uint8_t mad[256];
	} p = {.hdr = {.id = agent,
		       .timeout_ms = 60000,
		       .qpn = 1u << 24,
		       .grh_present = 1,
		       .gid = {[10] = 0xff, 0xff, 10, 79, 0, 2}},
	       .mad = {1, 0x32, 1, 1, [38] = 0x14, 5}};

	return write(umad, &p, sizeof(p)) == sizeof(p) ? 0 : errno;
}

/* ---- connections that are what they are of ---- */

/* The socket, or the errno of the answer as a negative one. */
static int open_bare(uint32_t kind, const char *path)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION};
	struct iovec iov[] = {{&msg, sizeof(msg)},
			      {(void *)(uintptr_t)path, strlen(path) + 1}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = *path ? 2 : 1};
	int sock = client_connect(&device), fd, err = faults_show_right(sock);

	if (!err && (sendmsg(sock, &mh, MSG_NOSIGNAL) < 0 ||
		     client_recv(sock, &msg, &fd)))
		err = EPIPE;
	else if (!err)
		err = (int)-msg.ret;
	if (!err)
		return sock;
	close(sock);
	return -err;
}

static int set(const char *path, const char *value)
{
	int sock = open_bare(UROCE_TUN_SETTING, path), err = EPIPE, fd;
	struct uroce_tun_msg msg;

	if (sock < 0)
		return -sock;
	if (send(sock, value, strlen(value), MSG_NOSIGNAL) > 0 &&
	    !client_recv(sock, &msg, &fd))
		err = msg.ret < 0 ? (int)-msg.ret : 0;
	close(sock);
	return err;
}

static int set_ttl(void)
{
	return set("set/uroce0/ttl", "9");
}

static int set_tclass(void)
{
	return set("set/uroce0/tclass", "tclass=16,dst_ip=10.79.0.2");
}

static void unset_tclass(void)
{
	CHECK_EQ(set("set/uroce0/tclass", "tclass=-1,dst_ip=10.79.0.2"), 0);
}

static int record_on(void)
{
	return set("set/uroce0/record", "256");
}

/* A new one takes the place of the one that is there. */
static int record_anew(void)
{
	return set("set/uroce0/record", "512");
}

static void record_off(void)
{
	CHECK_EQ(set("set/uroce0/record", "off"), 0);
}

static void must_record(void)
{
	CHECK_EQ(record_on(), 0);
}

static int tell_record(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS, .name = "record"};
	int sock = client_connect(&device), fd, err;

	client_send(sock, &msg, NULL, 0);
	err = client_recv(sock, &msg, &fd) ? EPIPE : (int)-msg.ret;
	if (fd >= 0)
		close(fd);
	close(sock);
	return err;
}

/* Everything that `rdma` lists of both devices, in one go. */
static int ask_netlink(void)
{
	static const uint8_t ops[] = {
		RDMA_NLDEV_CMD_GET,	   RDMA_NLDEV_CMD_PORT_GET,
		RDMA_NLDEV_CMD_RES_GET,	   RDMA_NLDEV_CMD_RES_QP_GET,
		RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_CMD_RES_SRQ_GET,
		RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_CMD_RES_CTX_GET,
		RDMA_NLDEV_CMD_STAT_GET};
	int sock = open_bare(UROCE_TUN_NETLINK, ""), err = 0;
	uint8_t buf[16384] __attribute__((aligned(8)));

	if (sock < 0)
		return -sock;
	for (size_t i = 0; i < sizeof(ops) && !err; i++) {
		struct {
			struct nlmsghdr nlh;
			struct nlattr attr;
			uint32_t index;
		} q = {.nlh = {.nlmsg_len = sizeof(q),
			       .nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(
				       RDMA_NL_NLDEV, ops[i]),
			       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		       .attr = {sizeof(q.attr) + 4, RDMA_NLDEV_ATTR_DEV_INDEX},
		       .index = 1};
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
		ssize_t n;

		if (send(sock, &q, sizeof(q), MSG_NOSIGNAL) < 0)
			err = EPIPE;
		do {
			n = err ? 0 : recv(sock, buf, sizeof(buf), 0);
			err = n <= 0 ? EPIPE : 0;
		} while (!err && nlh->nlmsg_type != NLMSG_DONE &&
			 nlh->nlmsg_type != NLMSG_ERROR);
		/* -EINVAL: no device of that index, which is as good. */
		if (!err && *(int *)(nlh + 1) != -EINVAL)
			err = -*(int *)(nlh + 1);
	}
	close(sock);
	return err;
}

static const struct step umad_steps[] = {
	{"open umad", NULL, open_umad, close_umad, 0},
	{"add agent", must_open, add_agent, close_umad, 0},
	{"send MAD", must_add, send_mad, close_umad, 0},
	{0},
};

static const struct step steps[] = {
	{"netlink", NULL, ask_netlink, NULL, EPIPE},
	{"ttl", NULL, set_ttl, NULL, EPIPE},
	{"tclass", NULL, set_tclass, unset_tclass, EPIPE},
	{"record", NULL, record_on, record_off, EPIPE},
	{"record anew", must_record, record_anew, record_off, EPIPE},
	{"tell record", must_record, tell_record, record_off, EPIPE},
	{0},
};

void test_kinds(void)
{
	faults_baseline(0);
	if (UROCE_WITH_UMAD)
		faults_each(umad_steps);
	faults_each(steps);
	faults_settle();
}
