// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients that mean harm: broken messages, every command with short, long and
 * garbage input, lies about descriptors, a client that never answers. Each of
 * them may lose its own connection; the device goes on serving the others.
 *
 * usage: test_hostile UROCED [SEED [ROUNDS]]
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <signal.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"
#include "transport/attr.h"
#include "util/rng.h"

static struct ur_rng rng;
static struct daemon_proc dev;
static uint8_t scratch[16384];

/* ---- messages ---- */

static void test_messages(void)
{
	struct uroce_tun_msg msg = {0};
	char small[3] = "abc", big[sizeof(msg) + UROCE_TUN_WINDOW + 1] = "";
	int sock, fd;

	sock = client_connect(&dev);
	CHECK_EQ(send(sock, small, sizeof(small), 0), sizeof(small));
	CHECK(client_recv(sock, &msg, &fd));
	close(sock);

	sock = client_connect(&dev);
	CHECK_EQ(send(sock, big, sizeof(big), 0), sizeof(big));
	CHECK(client_recv(sock, &msg, &fd));
	close(sock);

	for (uint32_t op = 0; op < 64; op++) {
		int many[8];

		if (op == UROCE_TUN_CLOSE_FD)
			continue;
		for (int i = 0; i < 8; i++)
			many[i] = 0;
		memset(&msg, 0xff, sizeof(msg));
		msg.op = op;
		sock = client_connect(&dev);
		client_send(sock, &msg, many, 8);
		if (!client_recv(sock, &msg, &fd)) {
			CHECK_EQ(msg.op, UROCE_TUN_DONE);
			CHECK(msg.ret <= 0);
			if (fd >= 0)
				close(fd);
		}
		close(sock);
	}
}

/* Only a procfs mem file opened for reading and writing is believed. */
static void test_open(void)
{
	static const struct {
		const char *path;
		int flags;
	} bad[] = {
		{"/dev/null", O_RDWR},
		{"/proc/self/mem", O_RDONLY},
		{"/proc/self/maps", O_RDONLY},
		{"/proc/self/comm", O_RDWR},
		{"/", O_RDONLY},
	};
	struct uroce_tun_msg msg;
	int sock = client_connect(&dev), fd, mem;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&msg, 0, sizeof(msg));
		msg.op = UROCE_TUN_OPEN;
		msg.kind = UROCE_TUN_UVERBS;
		msg.open.version = UROCE_TUN_VERSION;
		strcpy(msg.name, "uverbs0");
		mem = open(bad[i].path, bad[i].flags | O_CLOEXEC);
		CHECK(mem >= 0);
		client_send(sock, &msg, &mem, 1);
		close(mem);
		CHECK(!client_recv(sock, &msg, &fd));
		CHECK_EQ(msg.ret, (int64_t)-EINVAL);
	}
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_OPEN;
	msg.kind = UROCE_TUN_UVERBS;
	msg.open.version = UROCE_TUN_VERSION;
	memset(msg.name, 'x', sizeof(msg.name));
	mem = client_mem();
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, (int64_t)-ENOENT);
	/* A guess at somebody's cookie. */
	msg.op = UROCE_TUN_OPEN;
	msg.kind = UROCE_TUN_UVERBS;
	msg.open.version = UROCE_TUN_VERSION;
	msg.open.cookie = 1;
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, (int64_t)-ENOENT);
	close(sock);
}

/* Sends OPEN with that descriptor; 'at' is where the message claims to be. */
static int64_t open_with(int mem, struct uroce_tun_msg *msg, const void *at)
{
	int sock = client_connect(&dev), fd;
	struct uroce_tun_msg answer;

	*msg = (struct uroce_tun_msg){.op = UROCE_TUN_OPEN,
				      .kind = UROCE_TUN_UVERBS,
				      .open.version = UROCE_TUN_VERSION,
				      .open.self = (uintptr_t)at,
				      .nfds = 1,
				      .name = "uverbs0"};
	client_send(sock, msg, &mem, 1);
	CHECK(!client_recv(sock, &answer, &fd));
	if (fd >= 0)
		close(fd);
	close(sock);
	CHECK_EQ(answer.op, UROCE_TUN_DONE);
	return answer.ret;
}

/* A descriptor is this process's memory, or nothing. */
static void test_memory_proved(void)
{
	static struct uroce_tun_msg msg;
	int mem = client_mem(), other, st;
	char path[40];
	pid_t pid;

	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	other = open(path, O_RDWR | O_CLOEXEC);
	CHECK(other >= 0);
	CHECK_EQ(open_with(mem, &msg, NULL), 0);
	CHECK_EQ(open_with(mem, &msg, &msg), 0);
	CHECK_EQ(open_with(mem, &msg, (char *)&msg + 8), (int64_t)-EINVAL);
	CHECK_EQ(open_with(mem, &msg, (void *)8), (int64_t)-EINVAL);
	CHECK_EQ(open_with(mem, &msg, (void *)~0xfffull), (int64_t)-EINVAL);
	CHECK_EQ(open_with(other, &msg, NULL), (int64_t)-EINVAL);
	CHECK_EQ(open_with(other, &msg, &msg), (int64_t)-EINVAL);
	close(other);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	/* Nothing can be read back from a process that is gone. */
	close(mem);
}

/* A file of procfs under the name of another one, which every user can make:
 * the device would write to it with its own rights. */
static int named_mem(const char *file, const char *as)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -1;
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount(file, as, NULL, MS_BIND, NULL));
	return open(as, O_RDWR | O_CLOEXEC);
}

static void test_names(void)
{
	static struct uroce_tun_msg msg;
	char as[256];
	int st, fd;
	pid_t pid;

	/* Long enough to be cut where a name is compared. */
	snprintf(as, sizeof(as), "%s/%0*d", dev.dir, 100, 1);
	CHECK(!mkdir(as, 0700));
	strcat(as, "/mem");
	fd = open(as, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		fd = named_mem("/proc/self/oom_score_adj", as);
		if (fd < 0)
			_exit(77);
		CHECK_EQ(open_with(fd, &msg, NULL), (int64_t)-EINVAL);
		CHECK_EQ(open_with(fd, &msg, &msg), (int64_t)-EINVAL);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(WIFEXITED(st));
	CHECK(!WEXITSTATUS(st) || WEXITSTATUS(st) == 77);
	unlink(as);
	*strrchr(as, '/') = 0;
	rmdir(as);
}

/* Close what the device installed: the numbers go round. */
static void close_extra(void)
{
	for (int fd = 64; fd < 256; fd++)
		close(fd);
}

static void fill(uint8_t *p, size_t len)
{
	switch (ur_rng_below(&rng, 4)) {
	case 0:
		memset(p, 0, len);
		break;
	case 1:
		memset(p, 0xff, len);
		break;
	default:
		/* Small numbers name handles. */
		for (size_t i = 0; i < len; i++)
			p[i] = ur_rng_below(&rng, 3) ? 0
			       : ur_rng_below(&rng, 4)
				       ? (uint8_t)ur_rng_below(&rng, 16)
				       : (uint8_t)ur_rng_u64(&rng);
	}
}

/* ---- changes of a queue pair whose engine is in the program ---- */

/* ENGINE_QP with so many bytes of changes, at that address. */
static int64_t engine_qp(int sock, uint32_t qp, const void *changes,
			 uint16_t bytes, struct uroce_engine_qp *resp)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[3];
	} cmd = {
		.hdr = {.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_QP,
			.method_id = UROCE_METHOD_ENGINE_QP,
			.num_attrs = 3},
		.attr = {{.attr_id = UROCE_ATTR_ENGINE_QP_HANDLE,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = qp},
			 {.attr_id = UROCE_ATTR_ENGINE_QP_RESP,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .len = sizeof(*resp),
			  .data = (uintptr_t)resp},
			 {.attr_id = UROCE_ATTR_ENGINE_QP_MODIFY,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .len = bytes,
			  .data = (uintptr_t)changes}},
	};

	return client_ioctl(sock, &cmd);
}

static uint32_t rc_pair(int sock)
{
	struct user u = {.sock = sock};
	struct ib_uverbs_create_qp req = {.max_send_wr = 1,
					  .max_recv_wr = 1,
					  .max_send_sge = 1,
					  .max_recv_sge = 1,
					  .qp_type = IB_UVERBS_QPT_RC};
	struct ib_uverbs_create_qp_resp resp = {0};

	CHECK_EQ(make_pd(&u), 0);
	CHECK_EQ(make_cq(&u), 0);
	req.pd_handle = u.pd;
	req.send_cq_handle = req.recv_cq_handle = u.cq;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.qp_handle;
}

#define TO_INIT                                                       \
	(UR_QP_ATTR_STATE | UR_QP_ATTR_PKEY_INDEX | UR_QP_ATTR_PORT | \
	 UR_QP_ATTR_ACCESS_FLAGS)

/* A program's changes are judged as those of MODIFY_QP: no Q_Key by this way, none after one that
 * is refused, and none that is not whole. */
static void test_engine_qp(void)
{
	int sock = client_session(&dev);
	struct uroce_engine_qp now = {0};
	struct ib_uverbs_modify_qp m[3];
	uint32_t qp;

	memset(m, 0, sizeof(m));
	CHECK_EQ(client_open_engine(sock), 0);
	qp = rc_pair(sock);
	m[0] = (struct ib_uverbs_modify_qp){
		.attr_mask = TO_INIT, .qp_state = UR_QP_INIT, .port_num = 1};
	m[1] = m[0];
	m[1].attr_mask |= UR_QP_ATTR_QKEY;
	m[1].qkey = 0x80000000;
	CHECK_EQ(engine_qp(sock, qp, m + 1, sizeof(m[0]), &now), -EOPNOTSUPP);
	m[1].attr_mask = UR_QP_ATTR_RATE_LIMIT;
	CHECK_EQ(engine_qp(sock, qp, m + 1, sizeof(m[0]), &now), -EOPNOTSUPP);
	for (uint32_t bytes = 1; bytes < sizeof(m); bytes++)
		if (bytes % sizeof(m[0]))
			CHECK(engine_qp(sock, qp, m, (uint16_t)bytes, &now) <
			      0);
	CHECK(engine_qp(sock, qp, m, sizeof(m), &now) < 0);
	CHECK_EQ(engine_qp(sock, qp, (void *)8, sizeof(m[0]), &now), -EFAULT);
	CHECK_EQ(engine_qp(sock, 1000, m, sizeof(m[0]), &now), -ENOENT);
	/* Nothing has changed: the first step is still the first. */
	m[1] = m[0];
	m[1].attr_mask = UINT32_MAX;
	CHECK(engine_qp(sock, qp, m, 2 * sizeof(m[0]), &now) < 0);
	/* The first of the two was right. */
	m[1].attr_mask = UR_QP_ATTR_STATE;
	m[1].qp_state = UR_QP_INIT;
	CHECK_EQ(engine_qp(sock, qp, m + 1, sizeof(m[0]), &now), 0);
	CHECK_EQ(now.state, UR_QP_INIT);
	for (int i = 0; i < 2000; i++) {
		int64_t ret;

		fill(scratch, 2 * sizeof(m[0]));
		ret = engine_qp(sock, qp, scratch,
				(uint16_t)((1 + i % 2) * sizeof(m[0])), &now);
		CHECK(ret <= 0 && ret > -4096);
		CHECK(now.state <= UR_QP_ERR);
	}
	close(sock);
	close_extra();
}

/* ---- commands ---- */

static int reopen(int sock, int context)
{
	struct uroce_alloc_ucontext_resp ctx;

	if (sock >= 0)
		close(sock);
	sock = client_open(&dev, "uverbs0", NULL);
	if (context)
		CHECK_EQ(client_get_context(sock, &ctx), 0);
	return sock;
}

static void test_writes(void)
{
	static const uint16_t sizes[] = {
		0,  1,	4,  7,	8,  9,	12, 16,	 20,  24,  28,	32,  40,
		48, 56, 64, 72, 80, 88, 96, 112, 128, 144, 200, 512, 4096};
	struct ib_uverbs_cmd_hdr *hdr = (void *)scratch;
	int sock = -1;

	for (int context = 0; context < 2; context++) {
		sock = reopen(sock, context);
		for (uint32_t i = 0; i < 128 * 26; i++) {
			size_t len = sizes[i / 128];
			uint64_t out = (uintptr_t)scratch + 8192;
			int64_t ret;

			fill(scratch, 8192);
			hdr->command = (i & 63) | (i & 64 ? 1u << 31 : 0);
			if (ur_rng_below(&rng, 8))
				hdr->in_words = (uint16_t)(len / 4);
			hdr->out_words = (uint16_t)ur_rng_below(&rng, 256);
			if (i & 64 && ur_rng_below(&rng, 8)) {
				hdr->in_words =
					len > 24 ? (uint16_t)((len - 24) / 8)
						 : 0;
				memset(hdr + 1, 0, 16);
			}
			if (ur_rng_below(&rng, 8))
				memcpy(hdr + 1, &out, sizeof(out));
			ret = client_write(sock, scratch, len);
			CHECK(ret == INT64_MIN || ret == (int64_t)len ||
			      (ret < 0 && ret > -4096));
			if (ret == INT64_MIN)
				sock = reopen(-1, context);
			if (i % 512 == 0)
				close_extra();
		}
	}
	close(sock);
	/* An address without memory. */
	sock = reopen(-1, 1);
	CHECK_EQ(client_write(sock, (void *)8, 64), (int64_t)-EFAULT);
	CHECK_EQ(client_write(sock, (void *)-64, 64), (int64_t)-EFAULT);
	CHECK_EQ(client_write(sock, scratch, (size_t)-1), (int64_t)-EINVAL);
	CHECK_EQ(client_ioctl(sock, (void *)8), (int64_t)-EFAULT);
	close(sock);
	close_extra();
}

static void random_attr(struct ib_uverbs_attr *a)
{
	a->attr_id = (uint16_t)ur_rng_below(&rng, 17);
	if (!ur_rng_below(&rng, 5))
		a->attr_id = (uint16_t)(0x1000 + ur_rng_below(&rng, 3));
	a->flags = (uint16_t)ur_rng_below(&rng, 2);
	a->attr_data.reserved = !ur_rng_below(&rng, 32);
	switch (ur_rng_below(&rng, 5)) {
	case 0:
		a->len = 0;
		a->data = ur_rng_below(&rng, 8);
		break;
	case 1:
		a->len = (uint16_t)(4 << ur_rng_below(&rng, 2));
		a->data = ur_rng_below(&rng, 64);
		break;
	case 2:
		a->len = (uint16_t)ur_rng_below(&rng, 256);
		a->data = (uintptr_t)scratch + 4096;
		break;
	case 3:
		a->len = (uint16_t)ur_rng_u64(&rng);
		a->data = (uintptr_t)scratch + 8192;
		break;
	default:
		a->len = (uint16_t)ur_rng_u64(&rng);
		a->data = ur_rng_u64(&rng);
	}
}

static void test_ioctls(uint32_t rounds)
{
	struct ib_uverbs_ioctl_hdr *hdr = (void *)scratch;
	int sock = reopen(-1, 1);

	for (uint32_t i = 0; i < rounds; i++) {
		int64_t ret;

		fill(scratch + 4096, 4096);
		memset(hdr, 0, sizeof(*hdr));
		hdr->object_id = (uint16_t)ur_rng_below(&rng, 20);
		hdr->method_id = (uint16_t)ur_rng_below(&rng, 8);
		if (!ur_rng_below(&rng, 20))
			hdr->method_id = 0x1000;
		hdr->num_attrs = (uint16_t)ur_rng_below(&rng, 20);
		hdr->length = (uint16_t)(24 + 16 * hdr->num_attrs);
		for (uint32_t a = 0; a < hdr->num_attrs; a++) {
			random_attr(&hdr->attrs[a]);
			if (ur_rng_below(&rng, 4))
				hdr->attrs[a].attr_id = (uint16_t)a;
		}
		if (!ur_rng_below(&rng, 50))
			hdr->length = (uint16_t)ur_rng_u64(&rng);
		ret = client_ioctl(sock, scratch);
		CHECK(ret == INT64_MIN || (ret <= 0 && ret > -4096));
		if (ret == INT64_MIN)
			sock = reopen(-1, 1);
		if (i % 512 == 0) {
			close_extra();
			sock = reopen(sock, 1);
		}
	}
	close(sock);
	close_extra();
}

/* ---- clients that stall or lie ---- */

static void send_create_cq(int sock, int channel)
{
	static struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
	} cmd;
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)&cmd,
				    .call.len = sizeof(cmd)};

	memset(&cmd, 0, sizeof(cmd));
	cmd.hdr.command = IB_USER_VERBS_CMD_CREATE_CQ;
	cmd.hdr.in_words = sizeof(cmd) / 4;
	cmd.hdr.out_words = 16;
	cmd.core.response = (uintptr_t)scratch;
	cmd.core.cqe = 16;
	cmd.core.comp_channel = channel;
	client_send(sock, &msg, NULL, 0);
}

/* A command with its memory behind the message: len bytes of what the client
 * says is at addr. */
static int64_t write_window(int sock, uint64_t addr, const void *bytes,
			    size_t len, size_t window)
{
	struct {
		struct uroce_tun_msg msg;
		char window[UROCE_TUN_WINDOW];
	} m = {.msg = {.op = UROCE_TUN_WRITE,
		       .call.arg = addr,
		       .call.len = len}};
	struct uroce_tun_msg msg;

	memcpy(m.window, bytes, window);
	CHECK_EQ(send(sock, &m, sizeof(msg) + window, MSG_NOSIGNAL),
		 sizeof(msg) + window);
	return client_hear(sock, &msg);
}

/* Bytes for the place that the client will store itself come with the answer,
 * whole and not written; all others are written. */
static void test_outs(int sock, const void *alloc, size_t len, void *resp)
{
	const uint64_t at = (uintptr_t)resp, end = at + 4;
	const struct {
		uint64_t from, to;
		size_t outs;
	} cases[] = {
		{at, end, 24},	       {0, UINT64_MAX, 24},
		{at - 8, end + 1, 24}, {at, end - 1, 0},
		{at + 1, end, 0},      {end, at, 0},
		{UINT64_MAX, 0, 0},    {UINT64_MAX, UINT64_MAX, 0},
	};
	struct {
		struct uroce_tun_msg msg;
		struct uroce_tun_out out;
		uint32_t handle, zero;
		char rest[UROCE_TUN_WINDOW];
	} reply;
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)alloc,
				    .call.len = len};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t handle = UINT32_MAX;

		memcpy(resp, &handle, 4);
		msg.call.out_from = cases[i].from;
		msg.call.out_to = cases[i].to;
		client_send(sock, &msg, NULL, 0);
		CHECK_EQ(recv(sock, &reply, sizeof(reply), 0),
			 sizeof(msg) + cases[i].outs);
		CHECK_EQ(reply.msg.ret, (int64_t)len);
		memcpy(&handle, resp, 4);
		CHECK_EQ(handle == UINT32_MAX, cases[i].outs != 0);
		if (!cases[i].outs)
			continue;
		CHECK_EQ(reply.out.addr, at);
		CHECK_EQ(reply.out.len, 4);
		CHECK(reply.handle != UINT32_MAX && !reply.zero);
	}
}

/* The device works on the bytes behind the message; where they end, it asks the
 * client's memory. */
static void test_windows(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_alloc_pd core;
	} alloc = {.hdr = {.command = IB_USER_VERBS_CMD_ALLOC_PD}};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_dealloc_pd core;
	} dealloc = {.hdr = {IB_USER_VERBS_CMD_DEALLOC_PD, 3, 0}};
	struct ib_uverbs_alloc_pd_resp resp[8];
	int sock = reopen(-1, 1);
	size_t len = sizeof(alloc.hdr) + sizeof(alloc.core);

	alloc.hdr.in_words = (uint16_t)(len / 4);
	alloc.hdr.out_words = sizeof(resp) / 4;
	alloc.core.response = (uintptr_t)resp;
	for (uint64_t addr = 0; addr < 2; addr++) {
		CHECK_EQ(write_window(sock, addr - 1, &alloc, len, len), len);
		dealloc.core.pd_handle = resp[0].pd_handle;
		CHECK_EQ(write_window(sock, 8, &dealloc, 12, 8),
			 (int64_t)-EFAULT);
		CHECK_EQ(write_window(sock, 8, &dealloc, 12, 0),
			 (int64_t)-EFAULT);
		CHECK_EQ(write_window(sock, 8, &dealloc, 12, 12), 12);
		CHECK_EQ(write_window(sock, 8, &dealloc, 12, 12),
			 (int64_t)-EINVAL);
	}
	alloc.hdr.out_words = 1;
	test_outs(sock, &alloc, len, resp);
	/* A window is its command's alone. */
	CHECK_EQ(client_write(sock, (void *)8, 12), (int64_t)-EFAULT);
	close(sock);
}

static void test_stall(void)
{
	struct uroce_tun_msg msg;
	int stuck[8], fd;

	/* They are asked for a descriptor and say nothing. */
	for (int i = 0; i < 8; i++) {
		stuck[i] = reopen(-1, 1);
		send_create_cq(stuck[i], 5);
		CHECK(!client_recv(stuck[i], &msg, &fd));
		CHECK_EQ(msg.op, UROCE_TUN_FGET);
		client_check(&dev);
	}
	/* A command in the middle of an upcall ends the conversation. */
	send_create_cq(stuck[0], 5);
	CHECK(client_recv(stuck[0], &msg, &fd));
	/* A stranger's socket is no completion channel. */
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_FD;
	fd = client_connect(&dev);
	client_send(stuck[1], &msg, &fd, 1);
	close(fd);
	CHECK(!client_recv(stuck[1], &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, (int64_t)-EBADF);
	/* Success without a descriptor is a lie. */
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_FD;
	client_send(stuck[2], &msg, NULL, 0);
	CHECK(!client_recv(stuck[2], &msg, &fd));
	CHECK_EQ(msg.ret, (int64_t)-EBADF);
	client_check(&dev);
	for (int i = 0; i < 8; i++)
		close(stuck[i]);
	client_check(&dev);
}

/* More connections than the device has descriptors for. */
static void test_flood(const char *uroced)
{
	int socks[512];

	dev = (struct daemon_proc){.max_files = 256};
	daemon_start(&dev, uroced, 0);
	client_check(&dev);
	for (int i = 0; i < 512; i++)
		socks[i] = client_connect(&dev);
	for (int i = 0; i < 512; i++)
		close(socks[i]);
	client_settle(&dev);
	client_check(&dev);
	daemon_stop(&dev);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 3 ? (uint32_t)atoi(argv[3]) : 20000;

	cases(&argc, argv);
	CHECK(argc > 1);
	rng.state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	printf("seed %llu\n", (unsigned long long)rng.state);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	client_check(&dev);
	STEP(test_messages());
	client_check(&dev);
	STEP(test_open());
	STEP(test_memory_proved());
	STEP(test_names());
	client_check(&dev);
	STEP(test_engine_qp());
	STEP(test_writes());
	client_check(&dev);
	STEP(test_windows());
	client_check(&dev);
	STEP(test_ioctls(rounds));
	client_check(&dev);
	STEP(test_stall());
	daemon_stop(&dev);
	STEP(test_flood(argv[1]));
	return cases_status();
}
