// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients of other releases than the device's. Their view of the tunnel and of
 * the driver data is written down here as it was in the first release and in the
 * versions before it, not included, so that a change in kernel-abi/ shows.
 * These copies are never edited; what a release adds is added below them.
 *
 * usage: test_release UROCED
 */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "util/os/scm.h"

/* ---- frozen ---- */

struct old_msg {
	uint32_t op, kind;
	int64_t ret;
	uint64_t cmd, arg, len, cookie, rdev;
	uint32_t nfds, rsv;
	char name[64];
};

enum {
	OLD_OPEN = 1,
	OLD_WRITE = 3,
	OLD_SYNC = 5,
	OLD_FD = 6,
	OLD_STATUS = 7,
	OLD_DONE = 32,
	OLD_INSTALL = 34,
	OLD_UVERBS = 1,
	OLD_RDMA_CM = 2,
};

/* Since version 4 OPEN has these in len, and DONE in cmd. */
#define OLD_F_FORETOLD 1ull

struct old_out {
	uint64_t addr, len;
};

struct old_alloc_ucontext_resp {
	uint64_t features, db_map_off;
	uint32_t db_map_len;
	int32_t wake_fd;
	uint32_t sq_bb, cqe_size, max_inline, max_sge;
	uint64_t rsv[2];
};

struct old_create_cq_resp {
	uint64_t map_off, map_len;
	uint32_t hdr_off, cqe_off, entries, rsv;
};

struct old_cq_hdr {
	uint32_t cons, arm, rsv0[14], prod, overrun, rsv1[14];
};

#define OLD_CQE_SIZE  64
#define OLD_CQE_OWNER 63
#define OLD_SQ_BB     64

/* ---- the client ---- */

static struct daemon_proc dev;

struct reply {
	struct old_msg msg;
	uint8_t more[2048];
	size_t len; /* of more */
	int fds[2];
};

static void say(int sock, const struct old_msg *msg, const void *window,
		size_t len, int fd)
{
	struct iovec iov[] = {{(void *)(uintptr_t)msg, sizeof(*msg)},
			      {(void *)(uintptr_t)window, len}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = 2};
	union ur_scm scm;

	ur_scm_put(&mh, &scm, &fd, fd >= 0);
	CHECK_EQ(sendmsg(sock, &mh, MSG_NOSIGNAL), sizeof(*msg) + len);
}

static void hear(int sock, struct reply *r)
{
	struct iovec iov[] = {{&r->msg, sizeof(r->msg)},
			      {r->more, sizeof(r->more)}};
	union ur_scm scm;
	struct msghdr mh = {.msg_iov = iov,
			    .msg_iovlen = 2,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	ssize_t n;

	r->fds[0] = r->fds[1] = -1;
	n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	CHECK(n >= (ssize_t)sizeof(r->msg));
	CHECK(!(mh.msg_flags & MSG_TRUNC));
	r->len = (size_t)n - sizeof(r->msg);
	ur_scm_take(&mh, r->fds, 2, close);
}

/* Makes a connection that has sent OPEN; *r gets the device's answer. */
static int open_as(uint32_t kind, uint64_t version, uint64_t features,
		   struct reply *r)
{
	struct old_msg msg = {
		.op = OLD_OPEN, .kind = kind, .cmd = version, .len = features};
	int sock = client_connect(&dev), mem = client_mem();

	strcpy(msg.name, kind == OLD_UVERBS ? "uverbs0" : "rdma_cm");
	say(sock, &msg, NULL, 0, mem);
	close(mem);
	hear(sock, r);
	CHECK_EQ(r->msg.op, OLD_DONE);
	return sock;
}

static void close_all(int sock, struct reply *r)
{
	for (int i = 0; i < 2; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	close(sock);
}

/* Each version is served, with what it knows and nothing else. */
static void test_versions(void)
{
	static const struct {
		uint64_t version, features, has;
		bool page;
	} cases[] = {
		{1, 0, 0, false},
		{2, 0, 0, false},
		{3, 0, OLD_F_FORETOLD, true},
		{4, 0, 0, false},
		{4, OLD_F_FORETOLD, OLD_F_FORETOLD, true},
		/* A front-end of the next release. */
		{4, ~0ull, OLD_F_FORETOLD, true},
		{4, ~OLD_F_FORETOLD, 0, false},
	};
	struct reply r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int sock = open_as(OLD_RDMA_CM, cases[i].version,
				   cases[i].features, &r);

		CHECK_EQ(r.msg.ret, 0);
		CHECK_EQ(r.msg.cmd & OLD_F_FORETOLD, cases[i].has);
		CHECK(r.msg.cookie && r.msg.rdev);
		CHECK(r.fds[0] >= 0);
		CHECK_EQ(r.fds[1] >= 0, cases[i].page);
		close_all(sock, &r);
	}
	close_all(open_as(OLD_RDMA_CM, 0, 0, &r), &r);
	CHECK_EQ(r.msg.ret, (int64_t)-EPROTO);
}

/* write(2) of a uverbs command; what it answers is in *resp, either stored by
 * the device or behind DONE for the addresses of *resp. */
static int64_t command(int sock, uint32_t number, void *cmd, size_t len,
		       void *resp, size_t out, bool window)
{
	struct ib_uverbs_cmd_hdr *hdr = cmd;
	struct old_msg msg = {
		.op = OLD_WRITE, .arg = (uintptr_t)cmd, .len = len};
	struct old_out told;
	struct reply r;

	*hdr = (struct ib_uverbs_cmd_hdr){number, (uint16_t)(len / 4),
					  (uint16_t)(out / 4)};
	if (window) {
		msg.cookie = (uintptr_t)resp;
		msg.rdev = (uintptr_t)resp + out;
	}
	say(sock, &msg, cmd, window ? len : 0, -1);
	for (;;) {
		hear(sock, &r);
		if (r.msg.op == OLD_DONE)
			break;
		CHECK_EQ(r.msg.op, OLD_INSTALL);
		CHECK(r.fds[0] >= 0);
		say(sock, &(struct old_msg){.op = OLD_FD, .ret = r.fds[0]},
		    NULL, 0, -1);
	}
	CHECK_EQ(r.len > 0, window);
	for (size_t at = 0; at < r.len; at += (told.len + 7) & ~7ull) {
		memcpy(&told, r.more + at, sizeof(told));
		at += sizeof(told);
		CHECK(told.addr >= msg.cookie && told.len <= r.len - at);
		memcpy((void *)(uintptr_t)told.addr, r.more + at, told.len);
	}
	return r.msg.ret;
}

/* A context, then a completion queue in memory of the device: the rings are
 * where and what that release's provider takes them for. */
static void test_verbs(uint64_t version, bool window)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context core;
		uint64_t features, rsv;
	} get = {0};
	struct {
		struct ib_uverbs_get_context_resp core;
		struct old_alloc_ucontext_resp driver;
	} ctx = {0};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
		uint64_t rsv;
	} create = {.core = {.cqe = 100, .comp_channel = -1}};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct old_create_cq_resp driver;
	} cq = {0};
	struct reply r;
	int sock = open_as(OLD_UVERBS, version, 0, &r), file = r.fds[0];

	CHECK_EQ(r.msg.ret, 0);
	CHECK(file >= 0);
	get.core.response = (uintptr_t)&ctx;
	CHECK_EQ(command(sock, IB_USER_VERBS_CMD_GET_CONTEXT, &get, sizeof(get),
			 &ctx, sizeof(ctx), window),
		 sizeof(get));
	CHECK_EQ(ctx.driver.wake_fd, -1);
	CHECK_EQ(ctx.driver.sq_bb, OLD_SQ_BB);
	CHECK_EQ(ctx.driver.cqe_size, OLD_CQE_SIZE);
	CHECK(ctx.driver.db_map_len >= 128 + 512);
	create.core.response = (uintptr_t)&cq;
	CHECK_EQ(command(sock, IB_USER_VERBS_CMD_CREATE_CQ, &create,
			 sizeof(create), &cq, sizeof(cq), window),
		 sizeof(create));
	CHECK(cq.driver.entries >= 100);
	/* The ring is in the engine of the context. */
	CHECK_EQ(cq.driver.map_len, 0);
	close_all(sock, &r);
}

/* The questions of the command line, with no file open. */
static void test_command_line(void)
{
	struct old_msg sync = {.op = OLD_SYNC},
		       status = {.op = OLD_STATUS, .name = "devices"};
	int sock = client_connect(&dev);
	struct reply r;
	char text[16];

	say(sock, &sync, NULL, 0, -1);
	hear(sock, &r);
	CHECK_EQ(r.msg.op, OLD_DONE);
	CHECK_EQ(r.msg.ret, 0);
	say(sock, &status, NULL, 0, -1);
	hear(sock, &r);
	CHECK_EQ(r.msg.op, OLD_DONE);
	CHECK_EQ(r.msg.ret, 0);
	CHECK(r.fds[0] >= 0 && r.msg.len > 2);
	CHECK_EQ(pread(r.fds[0], text, 1, 0), 1);
	CHECK_EQ(text[0], '[');
	close_all(sock, &r);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK_EQ(argc, 2);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_versions());
	STEP(test_command_line());
	for (uint64_t version = 1; version <= 4; version++) {
		STEP(test_verbs(version, false));
		if (version > 1)
			STEP(test_verbs(version, true));
	}
	client_check(&dev);
	daemon_stop(&dev);
	return cases_status();
}
