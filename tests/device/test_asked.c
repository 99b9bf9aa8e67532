// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client that shows no memory, since it may not open its own: what commands
 * read and write it is asked for, and its answers are its word and no more than
 * that. Memory that the device cannot reach is not registered, unless another
 * connection of the process has shown it.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/device/client.h"

#define LOCAL IB_UVERBS_ACCESS_LOCAL_WRITE
#define ODP   IB_UVERBS_ACCESS_ON_DEMAND
#define PAGE  4096u

static struct daemon_proc dev;
static uint8_t memory[2 * PAGE] __attribute__((aligned(PAGE)));

/* The answer to an OPEN without descriptors; self: whether the message says where
 * it lies, and there lie what bytes. */
static int64_t open_bare(int sock, uint64_t features, bool self, bool right)
{
	static struct uroce_tun_msg there;
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .ret = 0x1234567,
				    .open.version = UROCE_TUN_VERSION,
				    .open.features = features};
	int fd;

	msg.open.self = self ? (uintptr_t)&there : 0;
	strcpy(msg.name, "uverbs0");
	there = msg;
	if (!right)
		there.ret++;
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	if (!msg.ret)
		CHECK_EQ(msg.opened.features, features);
	close(fd);
	return msg.ret;
}

/* With a context. */
static int bare_session(bool self, bool right)
{
	struct uroce_alloc_ucontext_resp ctx = {0};
	int sock = client_connect(&dev);

	CHECK_EQ(open_bare(sock, UROCE_TUN_F_MEMORY, self, right), 0);
	CHECK_EQ(client_get_context(sock, &ctx), 0);
	CHECK(ctx.db_map_len); /* the answer came */
	return sock;
}

static int64_t reg_mr(int sock, uint32_t pd, uint64_t start, uint64_t length,
		      uint32_t access, uint32_t flags)
{
	struct {
		struct ib_uverbs_reg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.start = start,
			  .length = length,
			  .hca_va = start,
			  .pd_handle = pd,
			  .access_flags = access},
		 .udata = {.flags = flags}};
	struct ib_uverbs_reg_mr_resp resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req),
			     &resp, sizeof(resp));
}

/* A file needs nobody's memory. */
static int64_t reg_file(int sock, uint32_t pd)
{
	int fd = memfd_create("asked", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int64_t ret;

	CHECK(fd >= 0 && !ftruncate(fd, PAGE));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	ret = client_reg_dmabuf(sock, pd, fd, 0, PAGE, NULL);
	close(fd);
	return ret;
}

static void test_asked(void)
{
	int sock;
	uint32_t pd;

	client_asked = 0;
	sock = bare_session(false, false);
	pd = client_alloc_pd(sock);
	CHECK(client_asked >= 4); /* two commands, read and answered */
	CHECK_EQ(reg_mr(sock, pd, (uintptr_t)memory, PAGE, LOCAL, 0), -EACCES);
	CHECK_EQ(reg_mr(sock, pd, (uintptr_t)memory, PAGE, LOCAL | ODP, 0),
		 -EACCES);
	CHECK_EQ(reg_mr(sock, pd, 0, UINT64_MAX, LOCAL | ODP, 0), -EACCES);
	CHECK_EQ(reg_mr(sock, pd, 0, UINT64_MAX, LOCAL, UROCE_MR_F_NULL), 0);
	CHECK_EQ(reg_file(sock, pd), 0);
	CHECK(client_status_has(&dev, "sessions", "\"memory_reached\":false"));
	close(sock);
	client_settle(&dev);
}

/* A client that does not know the questions must show its memory, as before. */
static void test_unknown(void)
{
	int sock = client_connect(&dev);

	CHECK_EQ(open_bare(sock, 0, false, false), -EINVAL);
	close(sock);
	client_settle(&dev);
}

/* Memory that another connection of the process has shown is taken, if it holds
 * the message; the client is not asked then. */
static void test_shown_before(void)
{
	int first = client_session(&dev), sock;
	uint32_t pd;

	sock = bare_session(true, true);
	client_asked = 0;
	pd = client_alloc_pd(sock);
	CHECK_EQ(client_asked, 0);
	CHECK_EQ(reg_mr(sock, pd, (uintptr_t)memory, PAGE, LOCAL, 0), 0);
	close(first); /* its descriptors were copied */
	client_settle_to(&dev, 1);
	CHECK_EQ(reg_mr(sock, pd, (uintptr_t)memory, PAGE, LOCAL, 0), 0);
	close(sock);
	client_settle(&dev);

	first = client_session(&dev);
	for (int self = 0; self < 2; self++) {
		sock = bare_session(self, false);
		pd = client_alloc_pd(sock);
		CHECK_EQ(reg_mr(sock, pd, (uintptr_t)memory, PAGE, LOCAL, 0),
			 -EACCES);
		close(sock);
	}
	close(first);
	client_settle(&dev);
}

/* Another process's memory is none of ours, wherever it is and whatever it
 * holds: here it is that of our parent, with the same bytes. */
static void test_of_another(void)
{
	int first = client_session(&dev), status, sock;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		close(first);
		sock = bare_session(true, true);
		_exit(reg_mr(sock, client_alloc_pd(sock), (uintptr_t)memory,
			     PAGE, LOCAL, 0) != -EACCES);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	close(first);
	client_settle(&dev);
}

/* ---- answers that are none ---- */

struct lie {
	uint32_t op;
	int64_t ret;
	int bytes; /* more than asked for */
	bool fd;
};

/* A command whose first question is answered so: whether the connection lives. */
static bool lives(const struct lie *lie, int64_t want)
{
	uint8_t behind[2 * UROCE_TUN_WINDOW] = {0};
	struct uroce_tun_msg reply = {.op = lie->op, .ret = lie->ret};
	uint64_t nothing[2] = {0};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)nothing,
				    .call.len = sizeof(nothing)};
	struct iovec iov[2] = {{&reply, sizeof(reply)}, {behind, 0}};
	int sock = bare_session(false, false), fd;
	bool alive;

	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_GET_MEMORY);
	CHECK_EQ(msg.memory.addr, (uintptr_t)nothing);
	iov[1].iov_len = (size_t)((int)msg.memory.len + lie->bytes);
	if (lie->fd) {
		fd = open("/dev/null", O_RDONLY);
		client_send(sock, &reply, &fd, 1);
		close(fd);
	} else {
		CHECK(writev(sock, iov, 2) > 0);
	}
	alive = !client_recv(sock, &msg, &fd);
	if (alive) {
		CHECK_EQ(msg.op, UROCE_TUN_DONE);
		CHECK_EQ(msg.ret, want);
	}
	close(sock);
	client_check(&dev);
	return alive;
}

static void test_lies(void)
{
	static const int all = -(int)sizeof(struct ib_uverbs_cmd_hdr);
	const struct lie lies[] = {
		{UROCE_TUN_MEMORY, 0, -1, false},
		{UROCE_TUN_MEMORY, 0, 1, false},
		{UROCE_TUN_MEMORY, 0, UROCE_TUN_WINDOW, false},
		{UROCE_TUN_MEMORY, 0, all, false},
		{UROCE_TUN_MEMORY, 1, 0, false},
		{UROCE_TUN_MEMORY, -EFAULT, 0, false},
		{UROCE_TUN_MEMORY, -EIO, all, false},
		{UROCE_TUN_MEMORY, INT64_MIN, all, false},
		{UROCE_TUN_FD, 0, 0, false},
		{UROCE_TUN_OPEN, 0, 0, false},
		{UROCE_TUN_DONE, 0, 0, false},
		{UROCE_TUN_GET_MEMORY, 0, 0, false},
		{UROCE_TUN_MEMORY, 0, 0, true},
	};
	const struct lie fault = {UROCE_TUN_MEMORY, -EFAULT, all, false};
	const struct lie fine = {UROCE_TUN_MEMORY, 0, 0, false};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		CHECK(!lives(&lies[i], 0));
	CHECK(lives(&fault, -EFAULT));
	CHECK(lives(&fine, -EINVAL)); /* a command of zeros */
	client_settle(&dev);
}

/* Others do not wait for one that says nothing. */
static void test_silence(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)memory,
				    .call.len = 64};
	int sock = bare_session(false, false), fd;

	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_GET_MEMORY);
	client_check(&dev);
	close(sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK_EQ(argc, 2);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_asked());
	STEP(test_unknown());
	STEP(test_shown_before());
	STEP(test_of_another());
	STEP(test_lies());
	STEP(test_silence());
	daemon_stop(&dev);
	return cases_status();
}
