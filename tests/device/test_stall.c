// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients that stall in the middle of something, or fill the pause with what
 * nobody asked for. Nobody else waits for them.
 *
 * usage: test_stall UROCED
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/stuck.h"

/* An ordinary user, where we can be one. */
#define STRANGER 65534

static struct daemon_proc dev;

/* While the device waits for a descriptor, as many notices of closed event
 * files as it keeps, and then one more. */
static void test_closed_while_asked(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION};
	int visible, fd, mem = client_mem();
	int opener = client_open(&dev, "uverbs0", &visible);
	int sock = client_connect(&dev);

	msg.open.fd = (uint64_t)visible;
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_FGET);
	for (int i = 0; i < 32; i++) {
		memset(&msg, 0, sizeof(msg));
		msg.op = UROCE_TUN_CLOSE_FD;
		msg.closed.cookie = UINT64_MAX;
		client_send(sock, &msg, NULL, 0);
	}
	msg.op = UROCE_TUN_FD;
	client_send(sock, &msg, &visible, 1);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, 0);
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_CLOSE_FD;
	msg.closed.cookie = UINT64_MAX;
	client_send(sock, &msg, NULL, 0);
	/* An answer shows that the notice has arrived. */
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_SYNC;
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	close(sock);
	close(visible);
	close(opener);
	client_check(&dev);
}

static void say_closed(int sock, uint64_t cookie)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_CLOSE_FD,
				    .closed.cookie = cookie};

	client_send(sock, &msg, NULL, 0);
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_SYNC;
	client_send(sock, &msg, NULL, 0);
	CHECK_EQ(client_hear(sock, &msg), 0);
}

/* An event file that one process is about to get, and another says is closed;
 * then the first refuses it, or takes it. */
static void test_closed_while_made(int async, int64_t answer)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} alloc = {.hdr = {.length = sizeof(alloc),
			   .object_id = UVERBS_OBJECT_ASYNC_EVENT,
			   .method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			   .num_attrs = 1}};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_comp_channel core;
	} create = {.hdr = {.command = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			    .in_words = sizeof(create) / 4,
			    .out_words = 1}};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_IOCTL,
				    .call.request = RDMA_VERBS_IOCTL,
				    .call.arg = (uintptr_t)&alloc};
	struct uroce_alloc_ucontext_resp ctx;
	int visible, fd, sock = client_open(&dev, "uverbs0", &visible), other;
	uint32_t number = 0;

	CHECK_EQ(client_get_context(sock, &ctx), 0);
	other = client_join(&dev, visible);
	alloc.attr.attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE;
	alloc.attr.flags = UVERBS_ATTR_F_MANDATORY;
	create.core.response = (uintptr_t)&number;
	if (!async)
		msg = (struct uroce_tun_msg){.op = UROCE_TUN_WRITE,
					     .call.arg = (uintptr_t)&create,
					     .call.len = sizeof(create)};
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_INSTALL);
	say_closed(other, msg.install.cookie);
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_FD;
	msg.ret = answer < 0 ? answer : fd;
	client_send(sock, &msg, NULL, 0);
	CHECK(client_hear(sock, &msg) < 0);
	close(fd);
	/* A port event looks at all of them. */
	client_check(&dev);
	close(other);
	close(visible);
	close(sock);
	client_check(&dev);
}

/* Event files without end: the descriptors that they cost the device are not
 * those of its other clients. */
static void test_event_flood(const char *uroced)
{
	struct daemon_proc small = {.max_files = 112};
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;
	struct uroce_alloc_ucontext_resp ctx;
	int sock, n = 0;

	daemon_start(&small, uroced, 0);
	CHECK(!chmod(small.dir, 0755));
	for (int round = 0; round < 2; round++) {
		int64_t ret;

		small.as = geteuid() ? 0 : STRANGER;
		sock = client_open(&small, "uverbs0", NULL);
		CHECK_EQ(client_get_context(sock, &ctx), 0);
		for (n = 0; n < 200; n++) {
			ret = client_legacy(
				sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
				&req, sizeof(req), &resp, sizeof(resp));
			if (ret)
				break;
			close((int)resp.fd);
		}
		CHECK_EQ(ret, (int64_t)-EMFILE);
		CHECK(n >= 20);
		small.as = 0;
		if (!geteuid())
			client_check(&small);
		close(sock);
		client_settle(&small);
	}
	daemon_stop(&small);
}

/* The file of an XRC domain stays the file, though it has no name and nobody
 * has it open: another that gets its inode number is not the domain's. */
static void test_domain_file(void)
{
	struct ib_uverbs_open_xrcd req = {.oflags = O_CREAT};
	struct ib_uverbs_open_xrcd_resp resp;
	struct uroce_alloc_ucontext_resp ctx;
	int sock = client_open(&dev, "uverbs0", NULL);
	char name[] = "/tmp/uroce-xrcd.XXXXXX", path[64], to[64];
	int fd = mkstemp(name), pinned = 0;

	CHECK(fd >= 0);
	CHECK_EQ(client_get_context(sock, &ctx), 0);
	req.fd = (uint32_t)fd;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_OPEN_XRCD, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	unlink(name);
	close(fd);
	strcat(strcpy(to, name), " (deleted)");
	for (int i = 0; i < 256; i++) {
		char link[64] = "";

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)dev.pid, i);
		if (readlink(path, link, sizeof(link) - 1) > 0)
			pinned += !strcmp(link, to);
	}
	CHECK_EQ(pinned, 1);
	close(sock);
}

/* ---- memory that does not come ---- */

static int open_kind(uint32_t kind, const char *name, int *visible)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION};
	int sock = client_connect(&dev), mem = client_mem();

	strcpy(msg.name, name);
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, visible));
	CHECK_EQ(msg.ret, 0);
	return sock;
}

static void send_write(int sock, const void *buf, size_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)buf,
				    .call.len = len};

	client_send(sock, &msg, NULL, 0);
}

static struct reg_mr {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_reg_mr core;
} reg;
static struct ib_uverbs_reg_mr_resp reg_resp;

/* Ask for a registration of the memory; the answer is still to come. */
static int begin_reg(void *p)
{
	struct uroce_alloc_ucontext_resp ctx;
	struct ib_uverbs_alloc_pd pd_req = {0};
	struct ib_uverbs_alloc_pd_resp pd = {0};
	int sock = client_open(&dev, "uverbs0", NULL);

	CHECK_EQ(client_get_context(sock, &ctx), 0);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ALLOC_PD, &pd_req,
			       sizeof(pd_req), &pd, sizeof(pd)),
		 0);
	reg.hdr.command = IB_USER_VERBS_CMD_REG_MR;
	reg.hdr.in_words = sizeof(reg) / 4;
	reg.hdr.out_words = sizeof(reg_resp) / 4;
	reg.core.response = (uintptr_t)&reg_resp;
	reg.core.start = reg.core.hca_va = (uintptr_t)p;
	reg.core.length = STUCK_BYTES;
	reg.core.pd_handle = pd.pd_handle;
	send_write(sock, &reg, sizeof(reg));
	return sock;
}

static struct get_event {
	struct rdma_ucm_cmd_hdr hdr;
	struct rdma_ucm_get_event core;
} get = {{RDMA_USER_CM_CMD_GET_EVENT, sizeof(get.core),
	  sizeof(struct rdma_ucm_event_resp)},
	 {0}};

/* A session of the connection manager with an event to take. */
static int with_event(void)
{
	static struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id core;
	} create = {{RDMA_USER_CM_CMD_CREATE_ID, sizeof(create.core), 4},
		    {.uid = 1, .ps = RDMA_PS_TCP}};
	static struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_resolve_ip core;
	} resolve = {{RDMA_USER_CM_CMD_RESOLVE_IP, sizeof(resolve.core), 0},
		     {.timeout_ms = 20000}};
	struct sockaddr_in *dst = (void *)&resolve.core.dst_addr;
	struct pollfd p = {.events = POLLIN};
	int sock = open_kind(UROCE_TUN_RDMA_CM, "rdma_cm", &p.fd);
	uint32_t id;
	char token;

	create.core.response = (uintptr_t)&id;
	CHECK_EQ(client_write(sock, &create, sizeof(create)), sizeof(create));
	dst->sin_family = AF_INET;
	dst->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	resolve.core.id = id;
	CHECK_EQ(client_write(sock, &resolve, sizeof(resolve)),
		 sizeof(resolve));
	CHECK_EQ(poll(&p, 1, 30000), 1);
	CHECK_EQ(read(p.fd, &token, 1), 1);
	close(p.fd);
	return sock;
}

static int64_t answer_of(int sock)
{
	struct uroce_tun_msg msg;
	int64_t ret = client_hear(sock, &msg);

	return ret;
}

/* A page that a userfaultfd holds is not there, as for the kernel's own fault
 * handler where nobody may wait. */
static void test_fault(void)
{
	struct rdma_ucm_event_resp event = {0};
	void *p = stuck_fault();
	int sock;

	if (!p)
		return;
	sock = begin_reg(p);
	CHECK_EQ(answer_of(sock), (int64_t)-EFAULT);
	close(sock);
	sock = with_event();
	get.core.response = (uintptr_t)p;
	CHECK_EQ(client_write(sock, &get, sizeof(get)), (int64_t)-EFAULT);
	/* It is still to be had. */
	get.core.response = (uintptr_t)&event;
	CHECK_EQ(client_write(sock, &get, sizeof(get)), sizeof(get));
	CHECK_EQ(event.uid, 1);
	close(sock);
}

/* A client that waits for a file system waits alone. */
static void test_file(void)
{
	struct rdma_ucm_event_resp event = {0};
	char *p = stuck_map();
	int reg_sock, cm_sock;

	if (!p) {
		printf("no file system of our own is allowed\n");
		return;
	}
	reg_sock = begin_reg(p);
	stuck_wait();
	client_check(&dev);
	cm_sock = with_event();
	get.core.response = (uintptr_t)p + STUCK_BYTES / 2;
	send_write(cm_sock, &get, sizeof(get));
	stuck_wait();
	client_check(&dev);
	stuck_end();
	CHECK_EQ(answer_of(reg_sock), (int64_t)-EFAULT);
	CHECK_EQ(answer_of(cm_sock), (int64_t)-EFAULT);
	get.core.response = (uintptr_t)&event;
	CHECK_EQ(client_write(cm_sock, &get, sizeof(get)), sizeof(get));
	CHECK_EQ(event.uid, 1);
	close(reg_sock);
	close(cm_sock);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_closed_while_asked());
	for (int async = 0; async < 2; async++) {
		STEP(test_closed_while_made(async, -EMFILE));
		STEP(test_closed_while_made(async, 0));
	}
	STEP(test_domain_file());
	STEP(test_fault());
	STEP(test_file());
	client_settle(&dev);
	daemon_stop(&dev);
	STEP(test_event_flood(argv[1]));
	return cases_status();
}
