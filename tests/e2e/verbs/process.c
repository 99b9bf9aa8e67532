// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One device file in two processes: after fork, over a socket, over exec. */
#include "bench.h"

#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kernel-abi/uroce-abi.h"

/* The message of a process to another beside the descriptor. */
struct shared {
	uint32_t pd, mr, rkey;
	uint64_t addr;
};

static void reap(pid_t pid)
{
	int st;

	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(WIFEXITED(st));
	CHECK_EQ(WEXITSTATUS(st), 0);
}

static void send_fd(int sock, int fd, const struct shared *s)
{
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = {0};
	struct iovec iov = {(void *)s, sizeof(*s)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = ctl.buf,
			    .msg_controllen = sizeof(ctl.buf)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&mh);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(sock, &mh, 0), sizeof(*s));
}

static int recv_fd(int sock, struct shared *s)
{
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov = {s, sizeof(*s)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = ctl.buf,
			    .msg_controllen = sizeof(ctl.buf)};
	int fd;

	CHECK_EQ(recvmsg(sock, &mh, 0), sizeof(*s));
	CHECK(CMSG_FIRSTHDR(&mh));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(fd));
	return fd;
}

/* In a process that is not the opener: work of its own, with memory of its
 * own, on the file and the domain of the other. */
static void work_beside(struct ibv_context *ctx, struct ibv_pd *pd,
			const struct shared *s, uint8_t value)
{
	struct bench t = {.ctx = ctx, .pd = pd};

	CHECK(!ibv_query_gid(ctx, 1, 0, &t.gid));
	bench_ends(&t, 16);
	memset(t.a.buf, value, 64);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, s->addr, s->rkey, 64), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(post_recv(&t.b, 1, 0, 64), 0);
	CHECK_EQ(post_send(&t.a, 2, 0, 64, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t.b.buf[63], value);
	bench_end_both(&t);
}

static void fill(struct shared *s, const struct bench *t)
{
	s->pd = t->pd->handle;
	s->mr = t->b.mr->handle;
	s->rkey = t->b.mr->rkey;
	s->addr = (uintptr_t)t->b.buf;
}

static void works_still(struct bench *t)
{
	memset(t->a.buf, 9, 64);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)t->b.buf,
			   t->b.mr->rkey, 64),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t->b.buf[63], 9);
}

/* A child that goes on with what it inherited: commands work, and what it
 * registers is its memory. */
static void fork_works(void)
{
	struct shared s;
	struct bench t;
	pid_t pid;

	bench_open(&t, 64);
	fill(&s, &t);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		work_beside(t.ctx, t.pd, &s, 5);
		_exit(0);
	}
	reap(pid);
	CHECK_EQ(t.b.buf[63], 5);
	works_still(&t);
	bench_close(&t);
}

/* The child has nothing of its parent's, if the engine is in that. */
static void fork_apart(void)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {4, 4, 1, 1, 0}};
	struct shared s;
	struct ibv_wc wc;
	struct bench t;
	pid_t pid;

	bench_open(&t, 64);
	fill(&s, &t);
	init.send_cq = init.recv_cq = t.b.cq;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		work_beside(t.ctx, t.pd, &s, 5);
		CHECK_EQ(ibv_poll_cq(t.a.cq, 1, &wc), -EIO);
		CHECK_EQ(ibv_req_notify_cq(t.a.cq, 0), EIO);
		CHECK_EQ(post_recv(&t.a, 1, 0, 64), EIO);
		CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, s.addr, s.rkey, 64),
			 EIO);
		CHECK(!ibv_create_qp(t.pd, &init));
		CHECK_EQ(errno, EIO);
		work_beside(t.ctx, t.pd, &s, 6);
		_exit(0);
	}
	reap(pid);
	CHECK_EQ(t.b.buf[63], 6);
	works_still(&t);
	bench_close(&t);
}

/* The parent's child in which work_beside() is done with what it has of its parent. */
static void child_works(struct bench *t, const struct shared *s, uint8_t value)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		work_beside(t->ctx, t->pd, s, value);
		_exit(0);
	}
	reap(pid);
}

/* The child's child has what it makes, too, and reaches what the last one with an engine registered. */
static void fork_twice(void)
{
	struct shared s, own;
	struct bench t, mine;
	pid_t pid;

	bench_open(&t, 64);
	fill(&s, &t);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		child_works(&t, &s, 5);
		mine = (struct bench){.ctx = t.ctx, .pd = t.pd, .gid = t.gid};
		bench_ends(&mine, 16);
		fill(&own, &mine);
		child_works(&mine, &own, 7);
		CHECK_EQ(mine.b.buf[63], 7);
		bench_end_both(&mine);
		work_beside(t.ctx, t.pd, &s, 8);
		_exit(0);
	}
	reap(pid);
	CHECK_EQ(t.b.buf[63], 8);
	works_still(&t);
	bench_close(&t);
}

/* The child reaches nothing of what its parent has deregistered since. */
static void fork_deregistered(void)
{
	struct bench t, mine;
	struct shared s;
	int pipefd[2];
	pid_t pid;
	char c;

	bench_open(&t, 64);
	fill(&s, &t);
	CHECK(!pipe(pipefd));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(pipefd[1]);
		mine = (struct bench){.ctx = t.ctx, .pd = t.pd, .gid = t.gid};
		bench_ends(&mine, 16);
		CHECK_EQ(read(pipefd[0], &c, 1), 0);
		memset(mine.a.buf, 5, 64);
		CHECK_EQ(post_rdma(&mine.a, IBV_WR_RDMA_WRITE, s.addr, s.rkey,
				   64),
			 0);
		expect_wc(mine.a.cq, IBV_WC_REM_ACCESS_ERR);
		_exit(0);
	}
	close(pipefd[0]);
	memset(t.b.buf, 9, 64);
	CHECK_EQ(ibv_dereg_mr(t.b.mr), 0);
	close(pipefd[1]);
	reap(pid);
	CHECK_EQ(t.b.buf[63], 9);
	t.b.mr = ibv_reg_mr(t.pd, t.b.buf, BUF_BYTES, ALL_ACCESS);
	CHECK(t.b.mr);
	works_still(&t);
	bench_close(&t);
}

/* What the child ends of its parent's is there for the parent. */
static void fork_ends(void)
{
	struct shared s;
	struct bench t;
	pid_t pid;

	bench_open(&t, 64);
	fill(&s, &t);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		work_beside(t.ctx, t.pd, &s, 5);
		bench_close(&t);
		_exit(0);
	}
	reap(pid);
	works_still(&t);
	bench_close(&t);
}

/* An event file is open as long as anybody has it: the child has it when the
 * opener has closed it. */
static void fork_channel(void)
{
	struct ibv_comp_channel *ch;
	struct bench t;
	int pipefd[2];
	pid_t pid;
	char c;

	bench_bare(&t);
	ch = ibv_create_comp_channel(t.ctx);
	CHECK(ch && !pipe(pipefd));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		struct ibv_cq *cq, *got;
		void *arg;

		close(pipefd[1]);
		CHECK_EQ(read(pipefd[0], &c, 1), 0);
		bench_ends(&t, 16);
		cq = ibv_create_cq(t.ctx, 16, &t, ch, 0);
		CHECK(cq);
		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		t.a.qp = make_qp(&t, cq, NULL, IBV_QPT_RC, 16, NULL);
		connect_qp(&t, t.a.qp, t.b.qp->qp_num);
		to_state(t.a.qp, IBV_QPS_ERR);
		CHECK_EQ(post_recv(&t.a, 1, 0, 64), 0);
		CHECK_EQ(ibv_get_cq_event(ch, &got, &arg), 0);
		CHECK(got == cq && arg == &t);
		_exit(0);
	}
	close(pipefd[0]);
	CHECK_EQ(ibv_destroy_comp_channel(ch), 0);
	/* Commands go on, and with them the notices about the channel. */
	CHECK_EQ(ibv_dealloc_pd(ibv_alloc_pd(t.ctx)), 0);
	close(pipefd[1]);
	reap(pid);
	/* Objects that the child made in the domain go with the file. */
	ibv_close_device(t.ctx);
}

/* The kernel takes write() from nobody but the one who opened the file: a
 * child of fork has credentials of its own. */
static void fork_write(void)
{
	struct ib_uverbs_cmd_hdr old = {
		.command = IB_USER_VERBS_CMD_QUERY_DEVICE, .in_words = 1};
	struct rdma_ucm_cmd_hdr cm = {.cmd = 99}; /* no command */
	struct rdma_ucm_cmd_hdr wait = {.cmd = RDMA_USER_CM_CMD_GET_EVENT};
	struct bench t;
	pid_t pid;
	int fd;

	bench_bare(&t);
	fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(write(fd, &cm, sizeof(cm)) < 0 && errno == EINVAL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		struct pollfd p = {fd, POLLIN, 0};
		int mine;

		CHECK(write(fd, &cm, sizeof(cm)) < 0 && errno == EACCES);
		CHECK(write(fd, &wait, sizeof(wait)) < 0 && errno == EACCES);
		CHECK(write(t.ctx->cmd_fd, &old, sizeof(old)) < 0 &&
		      errno == EACCES);
		CHECK_EQ(poll(&p, 1, 0), 0);
		mine = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
		CHECK(mine >= 0);
		CHECK(write(mine, &cm, sizeof(cm)) < 0 && errno == EINVAL);
		/* Joined by a command, the file is still the parent's. */
		CHECK(ibv_alloc_pd(t.ctx));
		CHECK(write(t.ctx->cmd_fd, &old, sizeof(old)) < 0 &&
		      errno == EACCES);
		_exit(0);
	}
	reap(pid);
	CHECK(write(fd, &cm, sizeof(cm)) < 0 && errno == EINVAL);
	close(fd);
	CHECK(!ibv_dealloc_pd(t.pd));
	ibv_close_device(t.ctx);
}

static void importer(int sock)
{
	struct ibv_context *ctx;
	struct shared s;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	int fd = recv_fd(sock, &s);

	ctx = ibv_import_device(fd);
	CHECK(ctx);
	pd = ibv_import_pd(ctx, s.pd);
	CHECK(pd);
	mr = ibv_import_mr(pd, s.mr);
	CHECK(mr);
	CHECK_EQ(mr->rkey, s.rkey);
	CHECK_EQ(mr->length, BUF_BYTES);
	work_beside(ctx, pd, &s, 6);
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The way of ibv_import_device(3): a stranger gets the command descriptor
 * over a UNIX socket. */
static void import_by_socket(void)
{
	struct shared s;
	struct bench t;
	int sock[2];
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(sock[0]);
		importer(sock[1]);
		_exit(0);
	}
	close(sock[1]);
	bench_open(&t, 64);
	fill(&s, &t);
	send_fd(sock[0], t.ctx->cmd_fd, &s);
	reap(pid);
	CHECK_EQ(t.b.buf[63], 6);
	works_still(&t);
	bench_close(&t);
	close(sock[0]);
}

/* Opens the device, shows it, and ends when it is asked to. */
static void opener(int sock)
{
	struct ibv_context *ctx = open_device();
	struct shared s = {0};
	char c;

	send_fd(sock, ctx->cmd_fd, &s);
	CHECK_EQ(read(sock, &c, 1), 0);
	_exit(0);
}

/* A process that has imported has it still when the opener is gone. One that
 * only holds the descriptor does not: that is noticed, not a crash. */
static void import_outlives(void)
{
	struct ibv_context *ctx = NULL;
	struct shared s;
	struct ibv_pd *pd;
	int sock[2], fd;
	pid_t pid;

	for (int late = 0; late < 2; late++) {
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			close(sock[1]);
			opener(sock[0]);
		}
		close(sock[0]);
		fd = recv_fd(sock[1], &s);
		if (!late)
			CHECK((ctx = ibv_import_device(fd)));
		close(sock[1]);
		reap(pid);
		if (late) {
			/* The device notices the end by a hang-up, and a
			 * process that asks before that is still let in. */
			for (int i = 0; i < 2000; i++) {
				ctx = ibv_import_device(fd);
				if (!ctx)
					break;
				CHECK_EQ(ibv_close_device(ctx), 0);
				usleep(10000);
			}
			CHECK(!ctx);
			CHECK_EQ(errno, EINVAL);
			close(fd);
			return;
		}
		pd = ibv_alloc_pd(ctx);
		CHECK(pd);
		CHECK_EQ(ibv_dealloc_pd(pd), 0);
		CHECK_EQ(ibv_close_device(ctx), 0);
	}
}

/* Asks for a part in the shared engine. Returns 0 or an errno. */
static int ask_share(int fd)
{
	struct uroce_engine_apart resp;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = UROCE_METHOD_ENGINE_SHARE,
			 .num_attrs = 2},
		 .attr = {{.attr_id = UROCE_ATTR_ENGINE_SHARE_SLOT,
			   .len = sizeof(__u32),
			   .flags = UVERBS_ATTR_F_MANDATORY},
			  {.attr_id = UROCE_ATTR_ENGINE_SHARE_RESP,
			   .len = sizeof(resp),
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = (uintptr_t)&resp}}};

	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
}

static void become_nobody(void)
{
	CHECK(!setresgid(65534, 65534, 65534));
	CHECK(!setresuid(65534, 65534, 65534));
}

/* A process of another user that has the file imports nothing, and gets no part in the shared engine. Else
 * the file's user would have that engine, and with it the memory of all his programs, in a process of the
 * other one. */
static void import_user(void)
{
	struct shared s = {0};
	struct bench t;
	int sock[2], fd;
	pid_t pid;

	if (geteuid())
		exit(77);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		become_nobody();
		fd = recv_fd(sock[1], &s);
		CHECK_EQ(ask_share(fd), EPERM);
		CHECK(!ibv_import_device(fd));
		CHECK_EQ(errno, EPERM);
		_exit(0);
	}
	bench_open(&t, 64);
	send_fd(sock[0], t.ctx->cmd_fd, &s);
	reap(pid);
	CHECK_EQ(ask_share(t.ctx->cmd_fd), 0);
	CHECK_EQ(ask_share(t.ctx->cmd_fd), EINVAL);
	bench_close(&t);
	close(sock[0]);
	close(sock[1]);
}

/* A child of fork that has parted from its parent has another file, whose regions uroced does not know all:
 * nobody imports it. His own import is as anybody's. */
static void import_childs(void)
{
	struct shared s = {0};
	struct bench t;
	int sock[2];
	pid_t pid;
	char c;

	bench_open(&t, 64);
	fill(&s, &t);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		struct ibv_context *ctx = ibv_import_device(dup(t.ctx->cmd_fd));

		CHECK(ctx);
		CHECK_EQ(ibv_close_device(ctx), 0);
		work_beside(t.ctx, t.pd, &s, 5);
		close(sock[0]);
		send_fd(sock[1], t.ctx->cmd_fd, &s);
		CHECK_EQ(read(sock[1], &c, 1), 0);
		_exit(0);
	}
	close(sock[1]);
	CHECK(!ibv_import_device(recv_fd(sock[0], &s)));
	CHECK_EQ(errno, EOPNOTSUPP);
	close(sock[0]);
	reap(pid);
	works_still(&t);
	bench_close(&t);
}

/* Asks for an engine of that file. Returns 0, or an errno. */
static int ask_engine(int fd, uint16_t method)
{
	static struct uroce_engine_open open;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = method,
			 .num_attrs = 1},
		 .attr = {.attr_id = UROCE_ATTR_ENGINE_OPEN_RESP,
			  .len = method == UROCE_METHOD_ENGINE_APART
					 ? sizeof(struct uroce_engine_apart)
					 : sizeof(open),
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)&open}};

	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
}

static void get_context(int fd)
{
	struct {
		struct ib_uverbs_get_context_resp core;
		struct uroce_alloc_ucontext_resp drv;
	} resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context core;
		struct uroce_alloc_ucontext_req drv;
	} cmd = {.hdr = {.command = IB_USER_VERBS_CMD_GET_CONTEXT,
			 .in_words = sizeof(cmd) / 4,
			 .out_words = sizeof(resp) / 4},
		 .core.response = (uintptr_t)&resp};

	CHECK_EQ(write(fd, &cmd, sizeof(cmd)), sizeof(cmd));
}

/* A process of another user gets no engine in a file of this one, in its name. */
static void import_engine(void)
{
	struct shared s = {0};
	int sock[2], fd;
	pid_t pid;

	if (geteuid())
		exit(77);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		become_nobody();
		fd = recv_fd(sock[1], &s);
		CHECK_EQ(ask_engine(fd, UROCE_METHOD_ENGINE_OPEN), EPERM);
		CHECK_EQ(ask_engine(fd, UROCE_METHOD_ENGINE_APART), EPERM);
		_exit(0);
	}
	fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	get_context(fd);
	send_fd(sock[0], fd, &s);
	reap(pid);
	CHECK_EQ(ask_engine(fd, UROCE_METHOD_ENGINE_APART), 0);
	close(fd);
	close(sock[0]);
	close(sock[1]);
}

/* A descriptor of no device file is refused. */
static void import_wrong(void)
{
	int fd = open("/dev/null", O_RDWR);

	CHECK(!ibv_import_device(fd));
	CHECK_EQ(errno, ENODEV);
	close(fd);
}

const struct verbs_test process_tests[] = {
	{"fork_works", fork_works},
	{"fork_apart", fork_apart},
	{"fork_twice", fork_twice},
	{"fork_deregistered", fork_deregistered},
	{"fork_ends", fork_ends},
	{"fork_write", fork_write},
	{"fork_channel", fork_channel},
	{"import_by_socket", import_by_socket},
	{"import_outlives", import_outlives},
	{"import_user", import_user},
	{"import_childs", import_childs},
	{"import_engine", import_engine},
	{"import_wrong", import_wrong},
	{0},
};
